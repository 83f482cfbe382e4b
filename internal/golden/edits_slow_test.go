//go:build slow && !measure

package golden

const (
	editsTried  = 30
	editsOfSlow = 4
)
