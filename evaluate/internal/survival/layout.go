package survival

// Layout is the public form of the cells: those of each arm in turn, and the last cell, if
// Missing, for persons of whom not even the arm is known.
type Layout struct {
	Arms   int
	Bins   int
	Causes int
	// Missing has a cell more in each arm, for persons whose outcome cannot be used, and one
	// after all arms for persons of whom not even the arm is known.
	Missing bool
}

// PerArm is the number of cells of one arm.
func (l Layout) PerArm() int {
	n := l.Bins*(l.Causes+1) + 1
	if l.Missing {
		n++
	}
	return n
}

// Cells is the number of all cells.
func (l Layout) Cells() int {
	n := l.Arms * l.PerArm()
	if l.Missing {
		n++
	}
	return n
}

// Exit is the cell of a person who left arm in bin for cause, 0 for censoring.
func (l Layout) Exit(arm, bin, cause int) int { return arm*l.PerArm() + bin*(l.Causes+1) + cause }

// End is the cell of a person of arm who was followed beyond the last bin without an event.
func (l Layout) End(arm int) int { return arm*l.PerArm() + l.Bins*(l.Causes+1) }

// Unusable is the cell of a person of arm whose outcome cannot be used, -1 where there is none.
func (l Layout) Unusable(arm int) int {
	if !l.Missing {
		return -1
	}
	return l.End(arm) + 1
}

// Unknown is the cell of a person of whom not even the arm is known, -1 where there is none.
func (l Layout) Unknown() int {
	if !l.Missing {
		return -1
	}
	return l.Cells() - 1
}
