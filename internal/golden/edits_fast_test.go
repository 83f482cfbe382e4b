//go:build !slow && !measure

package golden

const (
	editsTried  = 4
	editsOfSlow = 0
)
