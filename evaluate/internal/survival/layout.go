package survival

// Layout is the public form of the cells: those of each arm in turn, of each stratum in turn
// within an arm, and the last cell, if Missing, for persons of whom not even the arm is known.
type Layout struct {
	Arms int
	// Strata divide every arm; 0 means 1.
	Strata int
	Bins   int
	Causes int
	// Missing has a cell more in each arm, for persons whose outcome cannot be used, and one
	// after all arms for persons of whom not even the arm is known.
	Missing bool
}

// perStratum is the number of cells of one stratum of one arm.
func (l Layout) perStratum() int { return l.Bins*(l.Causes+1) + 1 }

// perArm is the number of cells of one arm.
func (l Layout) perArm() int {
	n := max(l.Strata, 1) * l.perStratum()
	if l.Missing {
		n++
	}
	return n
}

// Cells is the number of all cells.
func (l Layout) Cells() int {
	n := l.Arms * l.perArm()
	if l.Missing {
		n++
	}
	return n
}

// Exit is the cell of a person of an arm and a stratum who left in bin for cause, 0 for censoring.
func (l Layout) Exit(arm, stratum, bin, cause int) int {
	return arm*l.perArm() + stratum*l.perStratum() + bin*(l.Causes+1) + cause
}

// End is the cell of a person who was followed beyond the last bin without an event.
func (l Layout) End(arm, stratum int) int { return l.Exit(arm, stratum, l.Bins, 0) }

// Unusable is the cell of a person of arm whose outcome cannot be used, -1 where there is none.
func (l Layout) Unusable(arm int) int {
	if !l.Missing {
		return -1
	}
	return (arm+1)*l.perArm() - 1
}

// Unknown is the cell of a person of whom not even the arm is known, -1 where there is none.
func (l Layout) Unknown() int {
	if !l.Missing {
		return -1
	}
	return l.Cells() - 1
}
