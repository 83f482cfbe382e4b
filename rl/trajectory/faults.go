package trajectory

import (
	"fmt"
	"strings"
)

// FaultsError is what is wrong with several rows, or columns, of data: the first
// faults, and how many there are of each kind. Like [InputError] it holds no value.
type FaultsError struct {
	// First are the first faults, at least one, in the order of files and rows.
	First []*InputError
	// Kinds counts all faults, the most frequent kind first.
	Kinds []FaultKind
	// Total is the number of all faults.
	Total int
}

// FaultKind counts the faults of one kind in one column.
type FaultKind struct {
	// Column is the column's name in the file, "" when no column is to blame, and
	// What says what is wrong.
	Column, What string
	// Faults is how many there are.
	Faults int
}

// Error lists the first faults, one a line, and, where there are more, the number
// of each kind. The remedy stands with the first of those that share it.
func (e *FaultsError) Error() string {
	var b strings.Builder
	told := map[[3]string]bool{}
	for _, f := range e.First {
		line, kind := *f, [3]string{f.Column, f.What, f.Remedy}
		if told[kind] {
			line.Remedy = ""
		}
		told[kind] = true
		b.WriteString(line.Error())
		b.WriteByte('\n')
	}
	if e.Total == len(e.First) {
		fmt.Fprintf(&b, "%d faults in all", e.Total)
		return b.String()
	}
	fmt.Fprintf(&b, "%d faults in all, the first %d of them above:", e.Total, len(e.First))
	for _, k := range e.Kinds {
		fmt.Fprintf(&b, "\n%8d  %s", k.Faults, k)
	}
	return b.String()
}

// String has the form "column: what".
func (k FaultKind) String() string {
	if k.Column == "" {
		return k.What
	}
	return k.Column + ": " + k.What
}

// Unwrap gives the first faults.
func (e *FaultsError) Unwrap() []error {
	errs := make([]error, len(e.First))
	for i, f := range e.First {
		errs[i] = f
	}
	return errs
}
