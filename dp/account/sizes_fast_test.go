//go:build !slow

package account_test

// Of a table of reference values the fast tests take every third row, and of rapid's draws the first.
const (
	everyRow   = 3
	firstDraws = 10
)
