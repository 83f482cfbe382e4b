// Package hook has the two interfaces between a private sum and its noise: [Sums], if the persons
// are not all in this process, and [Tape], through which a replay observes sums. Both are set on a
// source of package dp/noise; no program outside this module needs to do that.
package hook
