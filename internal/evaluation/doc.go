// Package evaluation takes an evaluation from its configuration to its release: it plans,
// checks, charges, runs, records, and writes. Each step is a function of what the steps
// before it made.
package evaluation
