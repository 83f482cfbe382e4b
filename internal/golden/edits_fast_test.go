//go:build !slow && !measure

package golden

const (
	editsTried  = 3
	editsOfSlow = 0
)
