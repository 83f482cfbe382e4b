// Package hook is what may stand between a private sum and its noise: [Sums] where the persons are
// not all in this process, and a [Tape] where a replay looks on. Both are set on a source of package
// dp/noise, which no program outside this module has to do.
package hook
