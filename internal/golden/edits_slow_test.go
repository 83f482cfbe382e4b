//go:build slow && !measure

package golden

const (
	editsTried  = 15
	editsOfSlow = 2
)
