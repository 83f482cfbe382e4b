package evaluate

import (
	"context"
	"errors"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// GTD2 reaches the solution of LSTD on a small log to the noise of its steps, and
// WIS-LSTD(0) equals it, under both weightings.
func TestReferencesOfTheLSTDFamilyAgree(t *testing.T) {
	const persons = 40
	d := ring(persons)
	p := ringPublic(t, persons)
	p.Privacy = nil
	for _, weighting := range []string{"", "transition", "trajectory"} {
		var thetas [3][]float64
		for i, m := range []Estimator{LSTD{Weighting: weighting}, WISLSTD{Weighting: weighting}, GTD2{Weighting: weighting, Steps: 200_000, Length: 4}} {
			plan, err := m.Plan(p)
			if err != nil {
				t.Fatal(err)
			}
			thetas[i] = released(t, plan, d, 1)
		}
		if !close(thetas[1], thetas[0], 1e-9) {
			t.Errorf("weighting %q: wis-lstd %v; lstd %v", weighting, thetas[1], thetas[0])
		}
		if !close(thetas[2], thetas[0], 0.05) {
			t.Errorf("weighting %q: gtd2 %v; lstd %v", weighting, thetas[2], thetas[0])
		}
	}
}

func TestReferencesOfTheLSTDFamilyRefuse(t *testing.T) {
	p := ringPublic(t, 10)
	p.Privacy = nil
	for name, m := range map[string]Estimator{
		"gtd2 weighting":     GTD2{Weighting: "x"},
		"gtd2 steps":         GTD2{Steps: -1},
		"wis-lstd weighting": WISLSTD{Weighting: "x"},
	} {
		if _, err := m.Plan(p); !errors.Is(err, ErrMethod) {
			t.Errorf("%s: %v; want ErrMethod", name, err)
		}
	}
	plan, err := WISLSTD{Lambda: 2}.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	ready, err := plan.Check(context.Background(), ring(10))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ready.Run(context.Background(), receipt.None(), noise.NewSeeded(1)); !errors.Is(err, value.ErrOptions) {
		t.Errorf("lambda 2: %v; want ErrOptions", err)
	}
}
