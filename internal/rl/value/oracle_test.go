package value_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/discreet-rl/discreet/internal/oracle"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

func pbcseq(t *testing.T) *trajectory.Dataset {
	var histories []history
	last := ""
	for _, r := range readCSV(t, "testdata/pbcseq.csv") {
		if r[0] != last {
			last = r[0]
			histories = append(histories, history{person: len(histories), final: -1})
		}
		h := &histories[len(histories)-1]
		h.steps = append(h.steps, step{action: int32(number(t, r[1])), prob: number(t, r[2]), reward: number(t, r[3])})
		h.terminated = r[4] == "1"
	}
	return build(histories)
}

// Two arms of a real trial, each evaluated as the policy that always assigns it.
// The reference was computed elsewhere, see testdata/README.md.
func TestImportanceSamplingMatchesTheReferenceOnPBC(t *testing.T) {
	truth := oracle.Load[map[string]map[string]float64](t, "testdata/pbcseq_truth.json")
	d := pbcseq(t)
	if d.Persons() != 312 || d.Rows() != 1945 {
		t.Fatalf("%d patients, %d visits; want 312, 1945", d.Persons(), d.Rows())
	}
	for action, name := range []string{"policy always 0", "policy always 1"} {
		pi := must(policy.NewConstant(action))
		plain := sample(t, d, value.Options{Gamma: 1, Policy: pi})
		discounted := sample(t, d, value.Options{Gamma: 0.95, Policy: pi})
		got := map[string]float64{
			"IS": must(value.IS(plain)), "SNIPS": must(value.WIS(plain)),
			"IS_discounted095": must(value.IS(discounted)), "SNIPS_discounted095": must(value.WIS(discounted)),
		}
		if d := cmp.Diff(truth[name], got, cmpopts.EquateApprox(0, 1e-12)); d != "" {
			t.Errorf("%s: (-want +got)\n%s", name, d)
		}
		// After the first visit every ratio is 1, so that deciding when to apply
		// it changes nothing.
		if pdis := must(value.PDIS(discounted)); !(math.Abs(pdis-got["IS_discounted095"]) <= 1e-12) {
			t.Errorf("%s: per-decision %v, trajectory-wise %v", name, pdis, got["IS_discounted095"])
		}
	}
}

func TestBanditEstimatesMatchRationalArithmetic(t *testing.T) {
	type reference struct {
		Actions     int
		Prior       float64
		Q           []float64
		IS, WIS, DR float64
	}
	truth := oracle.Load[reference](t, "testdata/bandit_truth.json")
	var histories []history
	for i, r := range readCSV(t, "testdata/bandit.csv") {
		histories = append(histories, history{person: i, terminated: true, steps: []step{
			{action: int32(number(t, r[0])), prob: number(t, r[1]), reward: number(t, r[2])},
		}})
	}
	s := sample(t, build(histories), value.Options{Gamma: 1, Policy: must(policy.NewUniform(truth.Actions))})
	q := must(value.ShrunkenActionMeans(s, truth.Actions, truth.Prior))
	got := append([]float64{must(value.IS(s)), must(value.WIS(s)), must(value.DR(s, q)), must(value.PDIS(s))}, q...)
	want := append([]float64{truth.IS, truth.WIS, truth.DR, truth.IS}, truth.Q...)
	if d := cmp.Diff(want, got, cmpopts.EquateApprox(0, 1e-13)); d != "" {
		t.Errorf("IS, WIS, DR, PDIS, Q: (-want +got)\n%s", d)
	}
}
