package ledger

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
)

// What a message says would fit must not be more than what does.
func TestFlooredIsBelowAndNear(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(1e-12, 1e6).Draw(t, "x")
		if y := floored(x); y > x || y < x*(1-1.1e-3) {
			t.Fatalf("floored(%v) = %v", x, y)
		}
	})
}

func TestARefusalSaysWhatToDo(t *testing.T) {
	for left, want := range map[float64]string{
		0.13699: "epsilon up to 0.1369 at delta 1e-05 would fit: lower privacy.epsilon, or ask the steward for more",
		0.0026:  "hardly anything like it would fit: ask the steward for more",
		0:       "hardly anything like it would fit",
	} {
		short := (&RefusedError{Dataset: "trial", Epsilon: 1, Delta: 1e-7, Method: "dp-wis", Budget: dp.Budget{Epsilon: 1, Delta: 1e-5}}).Error()
		if !strings.Contains(short, "epsilon up to 1 at delta 1e-07 would fit: lower privacy.delta, or") {
			t.Error(short)
		}
		err := error(&RefusedError{Dataset: "trial", Analyst: "bob", Event: dp.Composed{}, Epsilon: left, Delta: 1e-5,
			Method: "dp-wis", Budget: dp.Budget{Epsilon: 1, Delta: 1e-5}})
		if !errors.Is(err, ErrBudget) || !errors.Is(err, ErrShare) {
			t.Errorf("%v is not the ledger's error", err)
		}
		for _, want := range []string{want, `dataset "trial": dp-wis at epsilon 1, delta 1e-05 exceeds what is left of the share of analyst "bob"`, "discreet ledger show"} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%v; want %q", err, want)
			}
		}
	}
}
