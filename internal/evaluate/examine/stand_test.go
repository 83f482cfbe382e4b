//go:build slow

package examine_test

import (
	"testing"

	"github.com/discreet-rl/discreet/dp"
)

// TestPlansStand: no claim of a plan that keeps it is refuted. With a defect of a mechanism built in
// (internal/mutants) it fails, and by nothing else than what the audit says.
func TestPlansStand(t *testing.T) {
	for _, c := range []struct {
		method    string
		adjacency dp.Adjacency
	}{
		{"dp-is", dp.AddRemoveOne}, {"dp-pdis", dp.ReplaceOne}, {"dp-wis", dp.ReplaceOne}, {"dp-wis", dp.AddRemoveOne}, {"dp-refine", dp.ReplaceOne}, {"dp-refine", dp.AddRemoveOne},
	} {
		t.Run(c.method+" "+c.adjacency.String(), func(t *testing.T) {
			for _, broken := range examined(t, job(t, c.method, nil, c.adjacency, 500)).Broken {
				t.Error(broken)
			}
		})
	}
}
