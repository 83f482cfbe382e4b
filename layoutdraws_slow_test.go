//go:build slow

package discreet_test

// layoutDraws is how many tables are drawn of a layout.
const layoutDraws = 100
