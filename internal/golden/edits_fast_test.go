//go:build !slow && !measure

package golden

const (
	editsTried  = 1
	editsOfSlow = 0
)
