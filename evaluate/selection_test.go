package evaluate

import (
	"slices"
	"testing"
)

// TestAValueIsNoContrast, whatever its policy is called: of X and Y nothing is known but
// their values, which overlap, and that a third policy is worth between 5 and 6 says
// nothing of the two.
func TestAValueIsNoContrast(t *testing.T) {
	interval := func(low, high float64) *Estimate { return &Estimate{Interval: [2]float64{low, high}} }
	answers := []PolicyAnswer{
		{Name: "X", Kind: OfPolicy, Estimate: interval(0, 10)},
		{Name: "Y", Kind: OfPolicy, Estimate: interval(1, 9)},
		{Name: "X - Y", Kind: OfPolicy, Estimate: interval(5, 6)},
	}
	asked := &Targets{Levels: []string{"X", "Y", "X - Y"}}
	if s := selectBest(asked, answers); !slices.Equal(s.MayBeBest, asked.Levels) || s.Policy != "X - Y" || s.Regret != 5 {
		t.Errorf("%+v; want all of them, and a regret of 5", s)
	}
	answers[2].Kind = OfContrast
	asked.Levels = asked.Levels[:2]
	if s := selectBest(asked, answers); !slices.Equal(s.MayBeBest, []string{"X"}) || s.Policy != "Y" || s.Regret != 6 {
		t.Errorf("%+v; want X alone, and a regret of 6", s)
	}
}
