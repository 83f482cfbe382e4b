//go:build !slow

package account_test

// Of a table of reference values the fast tests take every fourth row, and of rapid's draws the first.
const (
	everyRow   = 4
	firstDraws = 5
)
