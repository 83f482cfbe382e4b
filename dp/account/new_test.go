package account_test

import (
	"errors"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

func TestNewIsExactWhereThatIsPossible(t *testing.T) {
	for _, c := range oracles(t) {
		if c.Query != "epsilon" {
			continue
		}
		e, err := dp.ParseEvent(c.Event)
		if err != nil {
			t.Fatal(err)
		}
		exact, best := account.NewClosedForm(c.Adjacency), account.New(c.Adjacency)
		if exact.Compose(t.Context(), e, 1) != nil {
			continue
		}
		compose(t, best, e, 1)
		want, err1 := exact.Epsilon(t.Context(), c.Delta)
		got, err2 := best.Epsilon(t.Context(), c.Delta)
		if err1 != nil || err2 != nil || got != want {
			t.Errorf("%s: %v (%v), closed form %v (%v)", c.ID, got, err2, want, err1)
		}
	}
}

func TestNewTakesEitherAccountantAndRefusesWhatNeitherTakes(t *testing.T) {
	smooth := dp.SmoothGaussian{Alpha: 9, Beta: 0.01, Dimension: 3}
	laplace := dp.Laplace{NoiseMultiplier: 9}
	a := account.New(dp.AddRemoveOne)
	compose(t, a, smooth, 1)
	before, err := a.Epsilon(t.Context(), 1e-6)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []dp.Event{smooth, laplace} {
		if err := a.Compose(t.Context(), e, 1); !errors.Is(err, account.ErrUnsupported) {
			t.Errorf("%s beside a smooth Gaussian: %v; want ErrUnsupported", e.Kind(), err)
		}
	}
	if after, err := a.Epsilon(t.Context(), 1e-6); err != nil || after != before {
		t.Errorf("a refusal changed %v to %v, %v", before, after, err)
	}
	b := account.New(dp.AddRemoveOne)
	compose(t, b, laplace, 2)
	if err := b.Compose(t.Context(), smooth, 1); !errors.Is(err, account.ErrUnsupported) {
		t.Errorf("a smooth Gaussian beside Laplace: %v; want ErrUnsupported", err)
	}
	got, err := b.Epsilon(t.Context(), 1e-6)
	if err != nil || !(got.Upper <= 2./9*(1+1e-6)) || !(got.Lower > 0.99*2./9) {
		t.Errorf("two Laplace of 1/9: %v, %v", got, err)
	}
}
