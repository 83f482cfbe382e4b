//go:build slow && measure

package truthbench_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// rivals are two policies of a problem and their values.
type rivals struct {
	names  [2]string
	policy [2]policy.Policy
	worth  [2]float64
}

var designed = flag.Bool("truth-design", false, "with the design by which actions were drawn, and the statement that no record is lost")

// knowing adds the design, where the flags ask for it.
func knowing(p truthbench.Problem, public evaluate.Public, targets ...policy.Policy) evaluate.Public {
	if *designed {
		if public.Design = evaluate.NewDesign(p.Behavior, true, targets...); public.Design != nil {
			public.Complete = true
		}
	}
	return public
}

func rivalsOf(p truthbench.Problem) []rivals {
	out := []rivals{{[2]string{"target", "logged"}, [2]policy.Policy{p.Target, policy.Logged{}}, [2]float64{p.J, p.Logged}}}
	if p.Between != nil {
		out = append(out, rivals{[2]string{"target", "between"}, [2]policy.Policy{p.Target, p.Between}, [2]float64{p.J, p.Middle}})
	}
	return out
}

// asking is one way to learn which of two policies is better: answer returns the
// interval of the difference, and whether all intervals hold.
type asking struct {
	name   string
	answer func(d *trajectory.Dataset, src *noise.Source) (difference [2]float64, held bool)
}

// halved is the budget that allows half of mu^2.
func halved(t *testing.T, b dp.Budget) dp.Budget {
	mu, err := account.GaussianMu(b)
	check(t, err)
	low, high := 0.0, b.Epsilon
	for range 60 {
		middle := (low + high) / 2
		half, err := account.GaussianMu(dp.Budget{Epsilon: middle, Delta: b.Delta})
		check(t, err)
		if half.Lower < mu.Lower/math.Sqrt2 {
			low = middle
		} else {
			high = middle
		}
	}
	return dp.Budget{Epsilon: high, Delta: b.Delta}
}

func released(t *testing.T, plan *evaluate.Plan, d *trajectory.Dataset, src *noise.Source) *evaluate.Release {
	ready, err := plan.Check(context.Background(), d)
	check(t, err)
	r, err := ready.Run(context.Background(), receipt.None(), src)
	check(t, err)
	return r
}

// ways are one release of the difference, one of both values and the difference, and
// two releases at half of the budget each, whose intervals are subtracted.
func ways(t *testing.T, p truthbench.Problem, r rivals, public evaluate.Public) []asking {
	several := func(levels []string) func(d *trajectory.Dataset, src *noise.Source) ([2]float64, bool) {
		q := knowing(p, public, r.policy[:]...)
		q.Target = nil
		q.Targets = &evaluate.Targets{Levels: levels, Contrasts: [][2]string{r.names}}
		if *designed {
			q.Targets.Drawn = p.Behavior
		}
		for k := range 2 {
			q.Targets.Policies = append(q.Targets.Policies, evaluate.NamedPolicy{Name: r.names[k], Policy: r.policy[k]})
		}
		plan, err := evaluate.Auto{}.Plan(q)
		check(t, err)
		return func(d *trajectory.Dataset, src *noise.Source) (out [2]float64, held bool) {
			held = true
			truth := map[string]float64{r.names[0]: r.worth[0], r.names[1]: r.worth[1], r.names[0] + " - " + r.names[1]: r.worth[0] - r.worth[1]}
			for _, a := range released(t, plan, d, src).Answers {
				out = a.Estimate.Interval
				held = held && out[0] <= truth[a.Name] && truth[a.Name] <= out[1]
			}
			return out, held
		}
	}
	var alone [2]*evaluate.Plan
	for k := range 2 {
		q := knowing(p, public, r.policy[k])
		half := *public.Privacy
		half.Budget = halved(t, half.Budget)
		q.Privacy, q.Target = &half, r.policy[k]
		var err error
		alone[k], err = evaluate.Auto{}.Plan(q)
		check(t, err)
	}
	return []asking{
		{"difference", several(nil)},
		{"values and difference", several(r.names[:])},
		{"two releases", func(d *trajectory.Dataset, src *noise.Source) ([2]float64, bool) {
			a, b := released(t, alone[0], d, src).Answers[0].Estimate.Interval, released(t, alone[1], d, src).Answers[0].Estimate.Interval
			held := a[0] <= r.worth[0] && r.worth[0] <= a[1] && b[0] <= r.worth[1] && r.worth[1] <= b[1]
			return [2]float64{a[0] - b[1], a[1] - b[0]}, held
		}},
	}
}

// TestPolicies prints, for every problem, how often all intervals hold, how often the
// difference of two policies is shown to have its sign, or the other, and the width of
// its interval: for one release and for two at the same budget. It judges nothing.
func TestPolicies(t *testing.T) {
	fmt.Println("problem\tpersons\tepsilon\tadjacency\tpolicies\tasked\tdraws\tall hold %\twrong side %\tpower %\twidth")
	for _, text := range strings.Split(*persons, ",") {
		n := int(number(t, text))
		for _, p := range truthbench.Problems() {
			if !asked(t, p.Name) {
				continue
			}
			for _, adjacency := range strings.Split(*adjacent, ",") {
				kind, err := dp.ParseAdjacency(adjacency)
				check(t, err)
				for _, epsilon := range strings.Split(*epsilons, ",") {
					for _, r := range rivalsOf(p) {
						head := fmt.Sprintf("%s\t%d\t%s\t%s\t%s - %s", p.Name, n, epsilon, adjacency, r.names[0], r.names[1])
						compare(t, p, r, p.Public(n, number(t, epsilon), kind), n, head)
					}
				}
			}
		}
	}
}

func compare(t *testing.T, p truthbench.Problem, r rivals, public evaluate.Public, n int, head string) {
	all := ways(t, p, r, public)
	truth := r.worth[0] - r.worth[1]
	held, wrong, power, width := make([]int, len(all)), make([]int, len(all)), make([]int, len(all)), make([]float64, len(all))
	src := noise.NewSeeded(uint64(n))
	for seed := range *draws {
		d := p.Draw(n, uint64(seed))
		for i, w := range all {
			x, ok := w.answer(d, src)
			if ok {
				held[i]++
			}
			switch {
			case x[0] > 0 && truth > 0, x[1] < 0 && truth < 0:
				power[i]++
			case x[0] > 0, x[1] < 0:
				wrong[i]++
			}
			width[i] += x[1] - x[0]
		}
	}
	share := 100 / float64(*draws)
	for i, w := range all {
		fmt.Printf("%s\t%s\t%d\t%.1f\t%.1f\t%.1f\t%.4g\n", head, w.name, *draws, share*float64(held[i]), share*float64(wrong[i]), share*float64(power[i]), width[i]/float64(*draws))
	}
}
