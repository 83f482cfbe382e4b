// The layouts of raw databases from the answers that init asks for.

package discreet_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/draft"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// TestAnswersMakeTheLayouts: whoever answers what init asks about a layout gets a configuration
// that gives the answers of the committed one.
func TestAnswersMakeTheLayouts(t *testing.T) {
	for name, c := range map[string]struct{ data, answers string }{
		"mimic": {"decisions.csv", ",,,vasopressor,none,,,,,no,admissions.csv,episode_id,hospital_expire_flag,,-,none; norepinephrine,4,,500,1,0,1,1,2,terminated,1,,constant norepinephrine"},
		"omop":  {"decisions.csv", ",,,,none,,,2,,,no,death.csv,listed,0,1,none; metformin,4,,500,1,0,1,2,terminated,1,,constant metformin"},
		"app":   {"users.ndjson", ",,ts,offer.shown,,offer.p,,2,,iso_zone,,3,A; B,,500,1,0,1,3,terminated,1,,constant B"},
	} {
		dir := filepath.Join("examples", "layouts", name)
		of, err := file.Describe(t.Context(), []string{filepath.Join(dir, c.data)}, "")
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		said := strings.ReplaceAll(strings.ReplaceAll(c.answers, ",", "\n"), ";", ",") + "\n"
		text := draft.Configuration(c.data, "", of, draft.Ask(strings.NewReader(said), &out, of, nil))
		drafted, err := discreet.Parse("draft", text)
		if err != nil {
			t.Fatalf("%s: %v\n%s\n%s", name, err, out.String(), text)
		}
		drafted.Dir = dir
		committed, err := discreet.Load(filepath.Join(dir, "evaluate.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var answers [2][]evaluate.PolicyAnswer
		for i, c := range []config.Config{drafted, committed} {
			r, err := discreet.Evaluate(t.Context(), c, discreet.WithSource(noise.NewSeeded(8)))
			if err != nil {
				t.Fatalf("%s: %v\n%s", name, err, text)
			}
			answers[i] = r.Release.Answers
		}
		if diff := cmp.Diff(answers[1], answers[0], cmpopts.EquateApprox(1e-9, 0)); diff != "" {
			t.Errorf("%s: %s\n%s", name, diff, text)
		}
	}
}
