package yamlfile

import (
	"testing"

	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
)

// TestRecommendationsAreRunnable on either side of the rule's bounds: the mechanism is one that the method goes with.
func TestRecommendationsAreRunnable(t *testing.T) {
	for _, c := range []struct {
		epsilon   float64
		weights   int
		method    device.Method
		mechanism train.Mechanism
	}{
		{.5, 8, device.Antithetic, train.OneBit}, {2, 128, device.Antithetic, train.OneBit},
		{2, 129, device.PolicyGradient, train.SignPRS}, {2.01, 8, device.PolicyGradient, train.PrivUnit},
	} {
		method, mechanism := recommended(c.epsilon, c.weights)
		if method != c.method || mechanism != c.mechanism {
			t.Errorf("epsilon %v, %d weights: %s, %s; want %s, %s", c.epsilon, c.weights, method, mechanism, c.method, c.mechanism)
		}
		l := device.Local{Network: learn.Network{Inputs: 4, Actions: 2}, Steps: 1, Episodes: 1, PolicyGradient: learn.PolicyGradient{Gamma: .95}}
		r := train.Randomizer{Mechanism: mechanism, Epsilon: c.epsilon}
		if l.Method = method; method == device.Antithetic {
			r.Clip, l.Perturbation = 1, .5
		}
		if _, err := device.New(l, r); err != nil {
			t.Errorf("epsilon %v, %d weights: %v", c.epsilon, c.weights, err)
		}
	}
}
