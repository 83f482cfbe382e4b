//go:build !slow && !measure

package golden

const (
	editsTried  = 8
	editsOfSlow = 0
)
