//go:build slow && measure

package evaluate_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

var strataSeed = flag.Uint64("strata-seed", 6997, "seed of the problems")

var strataEpsilon = flag.Float64("strata-epsilon", 0, "epsilon, 0 for that of the stratum: a large one shows what sampling alone costs")

var strataOnly = flag.String("strata-only", "", "part of the name of a stratum, or of what is asked")

// mixed is a share of the way from one table to another.
func mixed(a, b policy.Policy, states int, share float64) policy.Policy {
	d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}, Columns: []string{"state"}}
	for s := range states {
		d.Obs, d.Action, d.Reward = append(d.Obs, float64(s)), append(d.Action, 0), append(d.Reward, 0)
		d.EpisodeStart, d.PersonStart = append(d.EpisodeStart, s+1), append(d.PersonStart, s+1)
	}
	first, second := must(a.Bind(d)), must(b.Bind(d))
	p, q := make([]float64, a.Actions()), make([]float64, a.Actions())
	var out []float64
	for s := range states {
		first.Distribution(p, s)
		second.Distribution(q, s)
		for i := range p {
			out = append(out, (1-share)*p[i]+share*q[i])
		}
	}
	return must(policy.NewTable(out, a.Actions(), "state"))
}

// designed states a design and complete records.
func designed(p *evaluate.Public, by policy.Policy, targets ...policy.Policy) {
	p.Design, p.Complete = evaluate.NewDesign(by, true, targets...), true
	if p.Targets != nil { // a field that earlier versions do not have
		if drawn := reflect.ValueOf(p.Targets).Elem().FieldByName("Drawn"); drawn.IsValid() {
			drawn.Set(reflect.ValueOf(by))
		}
	}
}

// stratum is a kind of question about random problems.
type stratum struct {
	name string
	log  func() *trajectory.Dataset
	ask  func(p *evaluate.Public)
}

// strataOf are questions about one random problem.
func strataOf(t *testing.T, persons int, rng *rand.Rand) []stratum {
	uniform := must(policy.NewUniform(2))
	arms := [2]policy.Policy{must(policy.NewConstant(0)), must(policy.NewConstant(1))}
	contrast := func(p *evaluate.Public, a, b policy.Policy) {
		p.Target, p.Targets = nil, &evaluate.Targets{Policies: []evaluate.NamedPolicy{{Name: "a", Policy: a}, {Name: "b", Policy: b}}, Contrasts: [][2]string{{"a", "b"}}}
	}
	w := drawWard(rng)
	low, level := 0.1*rng.Float64(), 0.2+0.6*rng.Float64()
	trial := func(worth [2]float64) func() *trajectory.Dataset {
		return func() *trajectory.Dataset { return paidArms(rng, persons, worth[:]) }
	}
	logged := func() *trajectory.Dataset { return w.log(t, persons, rng) }
	all := []stratum{
		{"arms of a trial near an end", trial([2]float64{low, low / 2}), func(p *evaluate.Public) { contrast(p, arms[0], arms[1]); designed(p, uniform, arms[0], arms[1]) }},
		{"other arms of a trial", trial([2]float64{level, level + 0.1}), func(p *evaluate.Public) { contrast(p, arms[0], arms[1]); designed(p, uniform, arms[0], arms[1]) }},
		{"policies half a way apart, recorded", logged, func(p *evaluate.Public) { contrast(p, w.new, w.old) }},
		{"policies half a way apart, design", logged, func(p *evaluate.Public) { contrast(p, w.new, w.old); designed(p, w.drawn, w.new, w.old) }},
		{"policies 2% mixed, recorded", logged, func(p *evaluate.Public) { contrast(p, mixed(w.old, w.new, len(w.often), 0.02), w.old) }},
		{"on-policy mean, complete", logged, func(p *evaluate.Public) { p.Target, p.Complete = policy.Logged{}, true }},
		{"on-policy mean", logged, func(p *evaluate.Public) { p.Target = policy.Logged{} }},
		{"on-policy mean, complete, noise above sampling", logged, func(p *evaluate.Public) {
			p.Target, p.Complete, p.Privacy.Budget.Epsilon = policy.Logged{}, true, 8/sqrt(persons)
		}},
		{"on-policy mean, noise above sampling", logged, func(p *evaluate.Public) {
			p.Target, p.Privacy.Budget.Epsilon = policy.Logged{}, 8/sqrt(persons)
		}},
		{"rare outcomes, on-policy", trial([2]float64{low / 5, low / 5}), func(p *evaluate.Public) { p.Target = policy.Logged{} }},
		{"rare outcomes, an arm by design", trial([2]float64{low / 5, low / 10}), func(p *evaluate.Public) { p.Target = arms[1]; designed(p, uniform, arms[1]) }},
		{"rare outcomes, an arm unrecorded", trial([2]float64{low / 5, low / 10}), func(p *evaluate.Public) { p.Target, p.Behavior = arms[1], &evaluate.EstimatedBehavior{Actions: 2} }},
		{"unrecorded, one decision", logged, func(p *evaluate.Public) {
			p.Target, p.Behavior = w.new, &evaluate.EstimatedBehavior{States: len(w.often), Column: "state", Actions: w.drawn.Actions()}
		}},
		{"a value, recorded", logged, func(p *evaluate.Public) { p.Target = w.new }},
		{"a value, design", logged, func(p *evaluate.Public) { p.Target = w.new; designed(p, w.drawn, w.new) }},
	}
	return slices.DeleteFunc(all, func(s stratum) bool { return !strings.Contains(s.name, *strataOnly) })
}

// atEnd is the half width that a plan tells for rare outcomes.
var atEnd = regexp.MustCompile(`\(1% of the range\).* about ([0-9.e-]+[0-9])`)

// widths are the mean width of the first interval in 20 logs, and the one that the plan forecasts, 0 for none: that for rare
// outcomes where their mean is within .05 of an end.
func (s stratum) widths(t *testing.T, persons int) (width, forecast float64) {
	p := banditPublic(t, int64(persons), dp.ReplaceOne, nil)
	s.ask(&p)
	if *strataEpsilon > 0 {
		p.Privacy.Budget.Epsilon = *strataEpsilon
	}
	plan := must(evaluate.DPWIS{}.Plan(p))
	forecast = 2 * halfOf(plan)
	const logs = 20
	mean := 0.0
	for log := range logs {
		d := s.log()
		mean += floats.Sum(d.Reward) / float64(persons) / logs
		if p.Behavior != nil {
			hidden := *d
			hidden.BehaviorProb = nil
			d = &hidden
		}
		e := run(t, evaluate.DPWIS{}, p, d, noise.NewSeeded(uint64(log))).Answers[0].Estimate
		width += (e.Interval[1] - e.Interval[0]) / logs
	}
	outlook := fmt.Sprint(reflect.ValueOf(plan).Elem().FieldByName("Outlook")) // a field that earlier versions do not have
	if found := atEnd.FindStringSubmatch(outlook); found != nil && (mean < 0.05 || mean > 0.95) {
		forecast = 2 * must(strconv.ParseFloat(found[1], 64))
	}
	return width, forecast
}

// TestWidthsByStratum prints the mean width of the first interval of 20 logs in each of ten problems a stratum, in a form that
// docs/results/compare_widths.py joins with that of another version, and then how near forecasts of it are. It judges nothing.
func TestWidthsByStratum(t *testing.T) {
	ratios := map[string][]float64{}
	var names []string
	for _, persons := range []int{600, 2000, 20_000} {
		for problem := range 10 {
			rng := rand.New(rand.NewPCG(uint64(problem), *strataSeed))
			for _, s := range strataOf(t, persons, rng) {
				width, forecast := s.widths(t, persons)
				fmt.Printf("%s\t%d\t%d\t%.6g\n", s.name, persons, problem, width)
				if !slices.Contains(names, s.name) {
					names = append(names, s.name)
				}
				if forecast > 0 {
					ratios[s.name] = append(ratios[s.name], forecast/width)
				}
			}
		}
	}
	for _, name := range names {
		r := ratios[name]
		if len(r) == 0 {
			fmt.Printf("forecast\t%s\tnone\n", name)
			continue
		}
		slices.Sort(r)
		within := func(k float64) (n int) {
			for _, x := range r {
				if x <= k && x >= 1/k {
					n++
				}
			}
			return n
		}
		fmt.Printf("forecast\t%s\twithin 1.5: %d, 2: %d of %d; %.2f to %.2f\n", name, within(1.5), within(2), len(r), r[0], r[len(r)-1])
	}
}

func sqrt(n int) float64 { return math.Sqrt(float64(n)) }
