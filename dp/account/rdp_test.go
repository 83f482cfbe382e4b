package account_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/internal/oracle"
)

// oracleCase is one row of testdata/accounting.json.
type oracleCase struct {
	ID        string          `json:"id"`
	Adjacency dp.Adjacency    `json:"adjacency"`
	Event     json.RawMessage `json:"event"`
	Query     string          `json:"query"`
	Epsilon   float64         `json:"epsilon"`
	Delta     float64         `json:"delta"`
	Value     float64         `json:"value"`
	Lower     float64         `json:"lower"`
	Upper     float64         `json:"upper"`
	Method    string          `json:"method"`
	RDP       float64         `json:"rdp"`
}

func oracles(t testing.TB) []oracleCase {
	t.Helper()
	return oracle.Load[[]oracleCase](t, "testdata/accounting.json")
}

func compose(t testing.TB, a account.Accountant, e dp.Event, count int64) {
	t.Helper()
	if err := a.Compose(t.Context(), e, count); err != nil {
		t.Fatal(err)
	}
}

func TestRDPLiesBetweenTruthAndReference(t *testing.T) {
	tried := 0
	for _, c := range oracles(t) {
		if c.RDP == 0 || c.Query != "epsilon" {
			continue
		}
		tried++
		e, err := dp.ParseEvent(c.Event)
		if err != nil {
			t.Fatal(err)
		}
		r := account.NewRDP(c.Adjacency)
		compose(t, r, e, 1)
		got, err := r.Epsilon(t.Context(), c.Delta)
		if err != nil {
			t.Errorf("%s: %v", c.ID, err)
			continue
		}
		if got.Lower != 0 || !(got.Upper >= c.Lower) || !(got.Upper <= c.RDP*(1+1e-6)) {
			t.Errorf("%s: epsilon %v, want an upper end in [%.9g, %.9g]", c.ID, got, c.Lower, c.RDP)
		}
		if strings.Contains(c.ID, "wor") {
			t.Logf("%s: epsilon %.4f; truth at most %.4f, reference %.4f", c.ID, got.Upper, c.Upper, c.RDP)
		}
	}
	if tried < 40 {
		t.Errorf("only %d cases", tried)
	}
}

func TestRDPAddsTheDeltasOfApproximateEvents(t *testing.T) {
	leaky := account.NewRDP(dp.AddRemoveOne)
	compose(t, leaky, dp.ApproximateDP{Epsilon: 0.1, Delta: 1e-7}, 5)
	pure := account.NewRDP(dp.AddRemoveOne)
	compose(t, pure, dp.ApproximateDP{Epsilon: 0.1}, 5)
	a, err1 := leaky.Epsilon(t.Context(), 1.5e-6)
	b, err2 := pure.Epsilon(t.Context(), 1e-6)
	if err1 != nil || err2 != nil || a.Upper < b.Upper*(1-1e-9) || a.Upper > b.Upper*(1+1e-6) {
		t.Errorf("with leaks %v (%v), without %v (%v); want the same", a, err1, b, err2)
	}
	if _, err := leaky.Epsilon(t.Context(), 4e-7); !errors.Is(err, dp.ErrBudget) {
		t.Errorf("delta below the leaks: %v; want ErrBudget", err)
	}
	if d, err := leaky.Delta(t.Context(), 0.6); err != nil || d.Upper < 5e-7 || d.Upper > 1e-2 {
		t.Errorf("delta at 0.6: %v, %v", d, err)
	}
}

func TestProgrammerErrorsPanic(t *testing.T) {
	for name, f := range map[string]func(){
		"GaussianDelta(-1, 1)":   func() { account.GaussianDelta(-1, 1) },
		"GaussianDelta(1, NaN)":  func() { account.GaussianDelta(1, math.NaN()) },
		"GaussianDelta(1, +Inf)": func() { account.GaussianDelta(1, math.Inf(1)) },
		"NewRDP(.., 1)":          func() { account.NewRDP(dp.ReplaceOne, 2, 1) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s did not panic", name)
				}
			}()
			f()
		}()
	}
}
