// Package agent is a device of a fleet as its configuration says: what `discreet fleet agent` and the small program
// discreet-agent have in common.
//
// Start with [Run], or with [Main] for a whole program.
package agent
