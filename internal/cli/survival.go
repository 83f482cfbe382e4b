package cli

import (
	"fmt"
	"io"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/report"
)

// printArms tells what a release of survival says of each arm.
func printArms(w io.Writer, r *evaluate.Release) {
	for _, a := range report.Arms(r) {
		fmt.Fprintf(w, "arm       %s\n", printable(a.String()))
	}
}

// printOpen tells by how much the only interval of a release of survival is longer than its
// errors make it.
func printOpen(w io.Writer, r *evaluate.Release, e *evaluate.Estimate) {
	if e.Clipping != [2]float64{} {
		fmt.Fprintf(w, "open      %s lengthens the interval by %.3g below and %.3g above\n", report.LeftOpen(r), e.Clipping[0], e.Clipping[1])
	}
}

// quantity is what the answers of a release of survival are, after a few words; empty for another
// release.
func quantity(r *evaluate.Release, after string) string {
	if q := report.Quantity(r); q != "" {
		return after + printable(q)
	}
	return ""
}

// lengthens names what makes intervals longer than their errors do.
func lengthens(r *evaluate.Release) string {
	if _, times := r.Public["outcome"]; times {
		return report.LeftOpen(r) + " lengthens"
	}
	return "clipping lengthens"
}
