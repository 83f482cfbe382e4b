package evaluate_test

import (
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
)

// TestMoreIsNotExpectedToWiden any interval: neither a larger budget nor more persons, of arms that a design draws. A guard that
// stays by another forecast than the one that the plan tells would.
func TestMoreIsNotExpectedToWiden(t *testing.T) {
	first, second := must(policy.NewConstant(0)), must(policy.NewConstant(1))
	both := []evaluate.NamedPolicy{{Name: "a", Policy: first}, {Name: "b", Policy: second}}
	logged := []evaluate.NamedPolicy{both[0], {Name: "b", Policy: policy.Logged{}}}
	pair := [][2]string{{"a", "b"}}
	epsilons, persons := []float64{3, 10, 30}, []int64{200, 400}
	for _, share := range []float64{0.1, 0.5} {
		drawn := must(policy.NewByStep([][]float64{{share, 1 - share}}))
		for name, targets := range map[string]*evaluate.Targets{
			"value": nil, "values": {Policies: both, Levels: []string{"a", "b"}, Contrasts: pair}, "contrast": {Policies: both, Contrasts: pair}, "logged": {Policies: logged, Contrasts: pair},
		} {
			for _, family := range []evaluate.NoiseFamily{"", evaluate.GaussianNoise} {
				half := make([][]float64, len(epsilons))
				for i, epsilon := range epsilons {
					for j, n := range persons {
						p := banditPublic(t, n, dp.ReplaceOne, first)
						p.Privacy.Budget.Epsilon, p.Privacy.NoiseFamily, p.Complete = epsilon, family, true
						p.Design = evaluate.NewDesign(drawn, true, first)
						if targets != nil {
							asked := *targets
							asked.Drawn, p.Target, p.Targets = drawn, nil, &asked
							if name != "logged" {
								p.Design = evaluate.NewDesign(drawn, true, first, second)
							}
						}
						half[i] = append(half[i], halfOf(must(evaluate.DPWIS{}.Plan(p))))
						if less := half[max(i-1, 0)][j]; half[i][j] > 1.05*less {
							t.Errorf("%s, share %v, noise %q, %d persons: %.4g at epsilon %v, %.4g before", name, share, family, n, half[i][j], epsilon, less)
						}
						if fewer := half[i][max(j-1, 0)]; half[i][j] > 1.05*fewer {
							t.Errorf("%s, share %v, noise %q, epsilon %v: %.4g of %d persons, %.4g of fewer", name, share, family, epsilon, half[i][j], n, fewer)
						}
					}
				}
			}
		}
	}
}
