package scalar

import (
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/rl/policy"
)

// A baseline that is paid for lies in the range of returns, from which rounding of its middle and width leads by 2^-53 of them.
func TestABaselineStaysInItsRange(t *testing.T) {
	r := facts.Range{Min: -1e9, Max: 1e-3}
	if r.Mid()+r.Width()/2 <= r.Max {
		t.Fatal("rounding leads nowhere here")
	}
	one, err := policy.NewUniform(1)
	if err != nil {
		t.Fatal(err)
	}
	p := facts.Public{Persons: bystanders + 1, Gamma: 1, Horizon: 1, Reward: r, Returns: r, Target: one, Adjacency: dp.ReplaceOne}
	for _, kind := range []string{BaselineValue, BaselineAction} {
		d := Baseline{Public: p, Noise: 1e-3, Kind: kind}
		if _, err := d.run(auditSample(t, 1e-3), noise.NewSeeded(1), func(g *Guess) (*Estimate, error) {
			if err := d.fits(g); err != nil {
				t.Errorf("%s: %v", kind, err)
			}
			return &Estimate{}, nil
		}); err != nil {
			t.Error(err)
		}
	}
}
