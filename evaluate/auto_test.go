package evaluate_test

import (
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
)

// TestAutoChoosesFromPublicFacts holds the choice against the shape of the
// problem, and wants the plan to say why.
func TestAutoChoosesFromPublicFacts(t *testing.T) {
	one, err := policy.NewConstant(1)
	if err != nil {
		t.Fatal(err)
	}
	long := banditPublic(t, 5000, dp.ReplaceOne, one)
	long.Horizon = 20
	bandit := long
	bandit.OneDecision = true
	ranged := long
	ranged.Return = &evaluate.Range{Min: 0, Max: 2}
	tiny := chainPublic(t, 20, dp.ReplaceOne)
	tiny.Privacy.Budget.Epsilon = 0.01
	for name, c := range map[string]struct {
		public evaluate.Public
		want   string
	}{
		"on-policy value":         {banditPublic(t, 5000, dp.ReplaceOne, policy.Logged{}), "dp-is"},
		"off-policy, one step":    {banditPublic(t, 5000, dp.ReplaceOne, one), "dp-wis"},
		"off-policy, many steps":  {long, "dp-pdis"},
		"off-policy, 20 one-step": {bandit, "dp-wis"},
		"off-policy, with return": {ranged, "dp-wis"},
		"value function":          {chainPublic(t, 5000, dp.ReplaceOne), "dp-refine"},
		"value function, add one": {chainPublic(t, 5000, dp.AddRemoveOne), "dp-refine"},
	} {
		plan, err := evaluate.Auto{MaxWeight: 4}.Plan(c.public)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if plan.Method != c.want || plan.Facts["chosen_by"] != "auto" || !strings.Contains(plan.Notes[0], "Method auto chose "+c.want) {
			t.Errorf("%s: chose %s (%q); want %s", name, plan.Method, plan.Notes[0], c.want)
		}
	}
	if got := bandit.Returns(); got != bandit.Reward {
		t.Errorf("returns of one decision lie in %v; want the range of a reward, %v", got, bandit.Reward)
	}
	// What is expected of one decision a trajectory does not rest on how many
	// trajectories a person has.
	once := banditPublic(t, 5000, dp.ReplaceOne, one)
	for _, m := range []evaluate.Estimator{evaluate.DPIS{}, evaluate.DPPDIS{}, evaluate.DPWIS{}, evaluate.DPDR{}} {
		a, err := m.Plan(bandit)
		if err != nil {
			t.Fatal(err)
		}
		b, err := m.Plan(once)
		if err != nil {
			t.Fatal(err)
		}
		if a.Expected != b.Expected || a.CheckEnds(false) != nil {
			t.Errorf("%s expects %+v of 20 trajectories of one decision and %+v of one (%v)", a.Method, a.Expected, b.Expected, a.CheckEnds(false))
		}
	}
	// Where even the best expected error is above the constant's, nothing is spent.
	plan, err := evaluate.Auto{}.Plan(tiny)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("20 persons at epsilon .01: %s, %s", plan.Method, plan.Notes[0])
	if plan.Method != "constant" && plan.Expected.RMSE > 1/3.46 {
		t.Errorf("chose %s with an expected error of %v; a constant is better", plan.Method, plan.Expected.RMSE)
	}
}
