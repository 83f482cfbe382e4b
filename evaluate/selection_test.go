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
	if s := selectByLimits(asked, answers); !slices.Equal(s.MayBeBest, asked.Levels) || s.Policy != "X - Y" || *s.Regret != 5 {
		t.Errorf("%+v; want all of them, and a regret of 5", s)
	}
	answers[2].Kind = OfContrast
	asked.Levels = asked.Levels[:2]
	if s := selectByLimits(asked, answers); !slices.Equal(s.MayBeBest, []string{"X"}) || s.Policy != "Y" || *s.Regret != 6 {
		t.Errorf("%+v; want X alone, and a regret of 6", s)
	}
}

// TestLimitsThatTieNameNobody: where several policies have the largest lower limit no order of
// theirs, that of the configuration among them, makes one of them the best, and there is no
// regret of a policy that is not named; a difference that shows one of them to be worse
// breaks the tie, and a limit below the others does not make one.
func TestLimitsThatTieNameNobody(t *testing.T) {
	value := func(name string, low, high float64) PolicyAnswer {
		return PolicyAnswer{Name: name, Kind: OfPolicy, Estimate: &Estimate{Interval: [2]float64{low, high}}}
	}
	answers := []PolicyAnswer{value("X", 0, 1), value("Y", 0, .5), value("Z", -1, .25)}
	for _, levels := range [][]string{{"X", "Y", "Z"}, {"Y", "Z", "X"}, {"Z", "Y", "X"}} {
		s := selectByLimits(&Targets{Levels: levels}, answers)
		if s.Policy != "" || s.Regret != nil || !slices.Equal(s.MayBeBest, levels) {
			t.Errorf("%v: %+v; want nobody, without a regret, and all of them", levels, s)
		}
		with := append(slices.Clone(answers), PolicyAnswer{Name: "X - Y", Kind: OfContrast, Estimate: &Estimate{Interval: [2]float64{-.4, -.1}}})
		if s := selectByLimits(&Targets{Levels: levels}, with); s.Policy != "Y" || slices.Contains(s.MayBeBest, "X") || len(s.MayBeBest) != 2 || *s.Regret != .25 {
			t.Errorf("%v, X is worse than Y by .1 at least: %+v; want Y, .25 from the best at most", levels, s)
		}
	}
	if s := selectByLimits(&Targets{Levels: []string{"X", "Z"}}, answers); s.Policy != "X" || *s.Regret != .25 {
		t.Errorf("%+v; want X, .25 from the best at most", s)
	}
}

// TestTheBestByValue has the largest value, whatever its lower limit; only intervals separate it
// from the others, and policies of the same value are not named by their order.
func TestTheBestByValue(t *testing.T) {
	value := func(name string, low, value, high float64) PolicyAnswer {
		return PolicyAnswer{Name: name, Kind: OfPolicy, Estimate: &Estimate{Value: value, Interval: [2]float64{low, high}}}
	}
	asked := &Targets{Levels: []string{"X", "Y"}}
	for _, c := range []struct {
		answers   []PolicyAnswer
		best      string
		separated bool
		regret    float64
	}{
		{[]PolicyAnswer{value("X", 0, 5, 9), value("Y", 1, 4, 6)}, "X", false, 6},
		{[]PolicyAnswer{value("X", 7, 8, 9), value("Y", 1, 4, 6)}, "X", true, 0},
		{[]PolicyAnswer{value("X", 0, 5, 9), value("Y", 1, 4, 6), {Name: "X - Y", Kind: OfContrast, Estimate: &Estimate{Interval: [2]float64{.5, 2}}}}, "X", true, 0},
		{[]PolicyAnswer{value("X", 0, 4, 9), value("Y", 1, 4, 6)}, "", false, 0},
	} {
		s := selectBest(asked, c.answers, nil)
		if s.BestByValue != c.best || *s.Separated != c.separated || s.Policy != "" || (s.Regret == nil) != (c.best == "") || s.Regret != nil && *s.Regret != c.regret {
			t.Errorf("%+v of %+v", s, c)
		}
	}
}
