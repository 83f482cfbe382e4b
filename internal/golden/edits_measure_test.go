//go:build measure

package golden

// All edits: some ten minutes.
const (
	editsTried  = every
	editsOfSlow = 8
)
