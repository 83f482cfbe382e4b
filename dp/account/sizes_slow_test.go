//go:build slow

package account_test

const (
	everyRow   = 1
	firstDraws = 25
)
