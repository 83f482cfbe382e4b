package evaluate_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// failsFrom fails for persons whose reward is at least least.
func failsFrom(least float64, fail func(dst []float64, p *trajectory.Dataset)) written {
	return oneRound(func(dst []float64, _ int, _ [][]float64, p *trajectory.Dataset) {
		dst[0] = 0.5
		if p.Reward[0] >= least && p.Reward[0] < 10 { // 10 is the end of the range, which made-up persons have
			fail(dst, p)
		}
	})
}

// sevens are persons, the last of whom have a reward of 7.
func sevens(persons, last int) *trajectory.Dataset {
	all := make([]float64, persons)
	for i := persons - last; i < persons; i++ {
		all[i] = 7
	}
	return rewards(all...)
}

// TestCodeThatFailsForMoreThanAPublicShareIsAnError of the check, with how many and why; below it, and for one person
// whatever the share, they add zero.
func TestCodeThatFailsForMoreThanAPublicShareIsAnError(t *testing.T) {
	for _, c := range []struct {
		name, why string
		fail      func(dst []float64, p *trajectory.Dataset)
	}{
		{"panics", "it panics: no such visit", func([]float64, *trajectory.Dataset) { panic("no such visit") }},
		{"panics with data", "it panics with a value of type float64", func(_ []float64, p *trajectory.Dataset) { panic(p.Reward[0]) }},
		{"panics with an error", "it panics: unreadable", func([]float64, *trajectory.Dataset) { panic(errors.New("unreadable")) }},
		{"has another length", "index out of range [2] with length 2", func(dst []float64, _ *trajectory.Dataset) { dst[2] = 1 }},
		{"is no number", "it returns a number that is not finite", func(dst []float64, _ *trajectory.Dataset) { dst[1] = math.NaN() }},
		{"is endless", "it returns a number that is not finite", func(dst []float64, _ *trajectory.Dataset) { dst[1] = math.Inf(-1) }},
	} {
		for _, k := range []struct {
			persons, failing int
			share            float64
			most             int
		}{{3, 1, 0, 1}, {3, 2, 0, 1}, {250, 2, 0, 2}, {250, 3, 0, 2}, {40, 10, 0.25, 10}, {40, 11, 0.25, 10}} {
			m := failsFrom(1, c.fail)
			m.outline.MayFail = k.share
			plan, err := sumsPlan(t, m, k.persons)
			if err != nil {
				t.Fatal(err)
			}
			_, err = plan.Check(context.Background(), sevens(k.persons, k.failing))
			words := fmt.Sprintf("fails for %d of %d persons, and %d may add zero for that", k.failing, k.persons, k.most)
			if k.failing <= k.most && err != nil || k.failing > k.most && (!errors.Is(err, evaluate.ErrMethod) || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), c.why)) {
				t.Errorf("%s: %d of %d, share %v: %v; want %q with %q above %d", c.name, k.failing, k.persons, k.share, err, words, c.why, k.most)
			}
			if err != nil && strings.Contains(err.Error(), "7") {
				t.Errorf("%s: the error tells a reward: %v", c.name, err)
			}
		}
	}
}

// TestCodeThatFailsAtOnceIsFoundInThePlan: on made-up persons, in any round and with any noisy sums.
func TestCodeThatFailsAtOnceIsFoundInThePlan(t *testing.T) {
	two := []evaluate.Round{{Dim: 1, Clip: 1, Share: 1}, {Dim: 1, Clip: 1, Share: 1}}
	for name, c := range map[string]struct {
		add  func(dst []float64, round int, earlier [][]float64, p *trajectory.Dataset)
		want string
	}{
		"a column that is not named": {func(dst []float64, _ int, _ [][]float64, p *trajectory.Dataset) { dst[0] = p.Obs[9] }, "round 0"},
		"a coordinate too many":      {func(dst []float64, round int, _ [][]float64, _ *trajectory.Dataset) { dst[round] = 1 }, "round 1"},
		"a noisy sum too early":      {func(dst []float64, round int, earlier [][]float64, _ *trajectory.Dataset) { dst[0] = earlier[round][0] }, "round 0"},
		"noisy sums that are not zero": {func(dst []float64, round int, earlier [][]float64, _ *trajectory.Dataset) {
			if round == 1 {
				dst[0] = math.Log(-earlier[0][0])
			}
		}, "round 1"},
		"nothing": {func(dst []float64, _ int, _ [][]float64, p *trajectory.Dataset) {
			dst[0] = p.Obs[1] + p.Final[0] + p.Discount[0]
		}, ""},
		"one person's alone": {func(dst []float64, _ int, _ [][]float64, p *trajectory.Dataset) { dst[0] = p.Reward[1] }, ""},
	} {
		m := written{outline: evaluate.Outline{Method: "test/at-once", Estimates: "nothing", Rounds: two, Columns: []string{"obs_age", "obs_sex"}}, add: c.add}
		_, err := sumsPlan(t, m, 3)
		if c.want == "" && err != nil || c.want != "" && (!errors.Is(err, evaluate.ErrMethod) || !strings.Contains(err.Error(), c.want+": Contribution fails for each of 6 made-up persons")) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
	}
}

// TestAShareThatIsNoneIsRefused.
func TestAShareThatIsNoneIsRefused(t *testing.T) {
	m := oneRound(func([]float64, int, [][]float64, *trajectory.Dataset) {})
	for _, share := range []float64{-0.1, 1, math.NaN()} {
		m.outline.MayFail = share
		if _, err := sumsPlan(t, m, 10); !errors.Is(err, evaluate.ErrMethod) {
			t.Errorf("a share of %v: %v", share, err)
		}
	}
}
