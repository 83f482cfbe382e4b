package account_test

import (
	"encoding/json"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/internal/oracle"
)

// pldCase is a reference answer of testdata/accounting.json.
type pldCase struct {
	ID        string          `json:"id"`
	Adjacency dp.Adjacency    `json:"adjacency"`
	Event     json.RawMessage `json:"event"`
	Query     string          `json:"query"`
	Epsilon   float64         `json:"epsilon"`
	Delta     float64         `json:"delta"`
	Lower     float64         `json:"lower"`
	Upper     float64         `json:"upper"`
}

func (c pldCase) answer(t testing.TB) account.Bracket {
	t.Helper()
	template, err := dp.ParseTemplate(c.Event)
	if err != nil {
		t.Fatal(err)
	}
	fresh := func() account.Accountant { return account.NewPLD(c.Adjacency) }
	if c.Query == "noise_multiplier" {
		b, err := account.Calibrate(t.Context(), template.With, dp.Budget{Epsilon: c.Epsilon, Delta: c.Delta}, fresh)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	e, err := template.With(1)
	if err != nil {
		t.Fatal(err)
	}
	return ask(t, c.Adjacency, e, 1, c.Query, c.Epsilon, c.Delta)
}

func ask(t testing.TB, adj dp.Adjacency, e dp.Event, count int64, query string, epsilon, delta float64) account.Bracket {
	t.Helper()
	p := account.NewPLD(adj)
	if err := p.Compose(t.Context(), e, count); err != nil {
		t.Fatal(err)
	}
	b, err := p.Epsilon(t.Context(), delta)
	if query == "delta" {
		b, err = p.Delta(t.Context(), epsilon)
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestPLDMeetsReferenceBrackets holds every answer against brackets and closed
// forms computed by independent code, to a relative 1e-9 for their own rounding.
// The upper end may not be more than one part in a thousand above theirs.
func TestPLDMeetsReferenceBrackets(t *testing.T) {
	cases := oracle.Load[[]pldCase](t, "testdata/accounting.json")
	if len(cases) < 60 {
		t.Fatalf("%d cases; want all of them", len(cases))
	}
	for i, c := range cases {
		if i%everyRow != 0 {
			continue
		}
		t.Run(c.ID, func(t *testing.T) {
			b := c.answer(t)
			if b.Lower > c.Upper*(1+1e-9) || b.Upper < c.Lower*(1-1e-9) {
				t.Errorf("%v does not meet the reference [%.9g, %.9g]", b, c.Lower, c.Upper)
			}
			if b.Upper > c.Upper*1.001 {
				t.Errorf("upper end %.9g is %.2g above the reference's %.9g", b.Upper, b.Upper/c.Upper-1, c.Upper)
			}
		})
	}
}

// TestPLDMeetsTrueEpsilonOfXie19 holds the epsilon of the noise that Xie et al.
// 2019 prescribe against reference values: Poisson sampling of one person in
// expectation under add_remove_one, and one person drawn uniformly under
// replace_one.
func TestPLDMeetsTrueEpsilonOfXie19(t *testing.T) {
	type row struct {
		M          int64   `json:"m"`
		Iterations int64   `json:"iterations"`
		Delta      float64 `json:"delta"`
		Sigma      float64 `json:"sigma_xie19"`
		AddRemove  float64 `json:"epsilon_true_poisson_add_remove"`
		Lower      float64 `json:"epsilon_true_replace_one_lower"`
		Upper      float64 `json:"epsilon_true_replace_one_upper"`
	}
	cases := oracle.Load[[]row](t, "testdata/xie19_accountant.json")
	for i, c := range cases {
		if i%everyRow != 0 {
			continue
		}
		noise := dp.Gaussian{NoiseMultiplier: c.Sigma}
		a := ask(t, dp.AddRemoveOne, dp.PoissonSampled{Rate: 1 / float64(c.M), Event: noise}, c.Iterations, "epsilon", 0, c.Delta)
		if a.Lower > c.AddRemove*(1+1e-5) || a.Upper < c.AddRemove*(1-1e-5) || a.Upper > c.AddRemove*1.001 {
			t.Errorf("m %d, N %d, sigma %v: Poisson, add_remove_one: %v; want %v", c.M, c.Iterations, c.Sigma, a, c.AddRemove)
		}
		one := dp.SampledWithoutReplacement{Population: c.M, Sample: 1, Event: noise}
		r := ask(t, dp.ReplaceOne, one, c.Iterations, "epsilon", 0, c.Delta)
		if r.Lower > c.Lower*(1+1e-4) || r.Upper < c.Lower*(1-1e-9) || r.Upper < c.Upper*(1-1e-4) || r.Upper > c.Upper*1.001 {
			t.Errorf("m %d, N %d, sigma %v: batch of one, replace_one: %v; want [%v, %v]", c.M, c.Iterations, c.Sigma, r, c.Lower, c.Upper)
		}
	}
}
