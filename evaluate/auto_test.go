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
	tiny := chainPublic(t, 20, dp.ReplaceOne)
	tiny.Privacy.Budget.Epsilon = 0.01
	for name, c := range map[string]struct {
		public evaluate.Public
		want   string
	}{
		"on-policy value":         {banditPublic(t, 5000, dp.ReplaceOne, policy.Logged{}), "dp-is"},
		"off-policy, one step":    {banditPublic(t, 5000, dp.ReplaceOne, one), "dp-dr"},
		"off-policy, many steps":  {long, "dp-wis"},
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
