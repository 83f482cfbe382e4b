package audit_test

import (
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/internal/audit"
)

// audited audits a configuration that ships, with few runs, and wants its claim to stand.
func audited(t *testing.T, path string) {
	t.Helper()
	c, err := discreet.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := audit.Plan(t.Context(), c, audit.Options{Runs: 400})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Broken) > 0 || r.Replayed == 0 || r.Worst < 0.85 || len(r.Missed) > 1 {
		t.Errorf("broken %q, missed %q, the worst of %d pairs needs %v of mu^2", r.Broken, r.Missed, r.Replayed, r.Worst)
	}
}

// A configuration whose records are complete is audited on complete records.
func TestAuditOfCompleteRecords(t *testing.T) { audited(t, "../../examples/pbc/penicillamine.yaml") }
