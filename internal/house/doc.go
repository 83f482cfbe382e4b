// Package house holds no code. Its tests walk the source tree and enforce the
// rules that keep privacy and reinforcement learning apart: which packages may
// import which (the table in table_test.go has a line for every package),
// where a seeded noise source may be made, and where ordinary random numbers
// may be used. Others add a toy of each kind of thing (testdata/toys) and count
// the files that it touches.
package house
