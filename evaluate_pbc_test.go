package discreet_test

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"testing"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
)

// pbc loads one of the trial's configurations with overrides and no output.
func pbc(t *testing.T, name string, overrides ...string) config.Config {
	t.Helper()
	c, err := discreet.Load("examples/pbc/"+name, overrides...)
	if err != nil {
		t.Fatal(err)
	}
	c.Output.Dir = ""
	return c
}

// truth holds the reference values of testdata/pbcseq_truth.json, which were
// computed by independent code.
type truth struct {
	IS map[string]struct {
		IS, SNIPS       float64
		ISDiscounted    float64 `json:"IS_discounted095"`
		SNIPSDiscounted float64 `json:"SNIPS_discounted095"`
	} `json:"trajectory_IS"`
}

func TestPBCReferencesEqualTheTruth(t *testing.T) {
	text, err := os.ReadFile("testdata/pbcseq_truth.json")
	if err != nil {
		t.Fatal(err)
	}
	var want truth
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	for file, arm := range map[string]string{"penicillamine.yaml": "policy always 1", "placebo.yaml": "policy always 0"} {
		w := want.IS[arm]
		for _, c := range []struct {
			method, gamma string
			value         float64
		}{
			{"is", "1", w.IS}, {"wis", "1", w.SNIPS}, {"pdis", "1", math.NaN()},
			{"is", "0.95", w.ISDiscounted}, {"wis", "0.95", w.SNIPSDiscounted},
		} {
			cfg := pbc(t, file, append(allVisits(), "privacy=none", "method={name: "+c.method+"}", "problem.gamma="+c.gamma)...)
			r, err := discreet.Evaluate(context.Background(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			got := r.Release.Answers[0].Estimate.Value
			if c.method == "pdis" {
				c.value = w.IS // the weight is drawn at the first visit, so both agree
			}
			if math.Abs(got-c.value) > 1e-9 {
				t.Errorf("%s, %s, gamma %s: %.12f; want %.12f", arm, c.method, c.gamma, got, c.value)
			}
		}
	}
}

// TestPBCPrivacyIntervalCoversTheReference draws the noise 200 times. With the
// clip inactive, value +- 1.96 std_privacy covers the non-private value in a
// share that is binomial around 95%: 90.4% and 99.6% are three standard errors
// away. dp-is weighs returns about the middle of their range, 8: with W the mean
// weight, that is IS + 8 (1 - W), and W = IS/WIS.
func TestPBCPrivacyIntervalCoversTheReference(t *testing.T) {
	const draws = 200
	values := map[string]float64{}
	for _, method := range []string{"wis", "is"} {
		params := ", max_weight: 2}"
		reference, err := discreet.Evaluate(context.Background(), pbc(t, "penicillamine.yaml", append(allVisits(), "privacy=none", "method={name: "+method+"}")...))
		if err != nil {
			t.Fatal(err)
		}
		want := reference.Release.Answers[0].Estimate.Value
		values[method] = want
		if method == "is" {
			want += 8 * (1 - want/values["wis"])
		}
		public := reference.Release.Answers[0].Estimate.Interval
		covered, width := 0, 0.0
		src := noise.NewSeeded(42)
		run := repeat(t, pbc(t, "penicillamine.yaml", append(allVisits(), "method={name: dp-"+method+params)...))
		for range draws {
			e := run(src).Answers[0].Estimate
			if math.Abs(e.Value-want) <= 1.959964*e.StdPrivacy {
				covered++
			}
			width += (e.Interval[1] - e.Interval[0]) / draws
		}
		share := float64(covered) / draws
		t.Logf("dp-%s: value +- 1.96 std_privacy covers the non-private %.6f in %.2f%% of %d draws; mean width of the whole interval %.3f, non-private %.3f",
			method, want, 100*share, draws, width, public[1]-public[0])
		if share < 0.904 || share > 0.996 {
			t.Errorf("dp-%s: value +- 1.96 std_privacy covers the non-private value in %.2f%% of %d draws; want 90.4%% to 99.6%%", method, 100*share, draws)
		}
	}
}

// allVisits asks about all visits, as the references do: what would have followed the last of a
// patient whose follow-up was cut off counts as nothing.
func allVisits() []string {
	return []string{"problem.horizon=16", "problem.return={min: 0, max: 16}", "problem.end=terminated"}
}

// repeat evaluates a configuration again and again.
func repeat(t *testing.T, c config.Config) func(*noise.Source) *evaluate.Release {
	return func(src *noise.Source) *evaluate.Release {
		r, err := discreet.Evaluate(context.Background(), c, discreet.WithSource(src))
		if err != nil {
			t.Fatal(err)
		}
		if !r.Release.Privacy.Seeded {
			t.Fatal("a release with seeded noise is not marked")
		}
		return r.Release
	}
}
