package evaluate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/dp/hook"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// personsOf is the persons from..to-1 of a dataset.
func personsOf(d *trajectory.Dataset, from, to int) *trajectory.Dataset {
	e, f := d.PersonStart[from], d.PersonStart[to]
	lo, hi, w := d.EpisodeStart[e], d.EpisodeStart[f], len(d.Columns)
	out := *d
	shifted := func(starts []int) []int {
		out := slices.Clone(starts)
		for i := range out {
			out[i] -= starts[0]
		}
		return out
	}
	out.PersonStart, out.EpisodeStart = shifted(d.PersonStart[from:to+1]), shifted(d.EpisodeStart[e:f+1])
	out.Obs, out.Action, out.Reward, out.BehaviorProb = d.Obs[lo*w:hi*w], d.Action[lo:hi], d.Reward[lo:hi], d.BehaviorProb[lo:hi]
	out.Terminated = d.Terminated[e:f]
	if d.Final != nil {
		out.Final, out.HasFinal = d.Final[e*w:f*w], d.HasFinal[e:f]
	}
	out.PersonID, out.EpisodeID, out.Origin, out.FirstRow = nil, nil, nil, nil
	return &out
}

// errAsked ends a replay at the sum that is asked for.
var errAsked = errors.New("asked")

// asked replays a transcript and keeps the sum after it.
type asked struct {
	persons    int64
	transcript [][]int64
	at         int
	sum        hook.Sum
}

func (a *asked) Gather(own hook.Sum) (hook.Sum, []int64, error) {
	if a.at < len(a.transcript) {
		a.at++
		return hook.Sum{Persons: a.persons}, a.transcript[a.at-1], nil
	}
	a.sum = own
	a.sum.Values = slices.Clone(own.Values)
	return hook.Sum{}, nil, errAsked
}

func (a *asked) Keep([]int64) ([]int64, error) { panic("a replay has no noise") }

// together asks every part for every sum.
type together struct {
	plan       *evaluate.Plan
	parts      []*trajectory.Dataset
	persons    int64 // public, or 0
	transcript [][]int64
}

func (g *together) Gather(own hook.Sum) (hook.Sum, []int64, error) {
	all := own
	all.Values, all.Persons = make([]int64, len(own.Values)), 0
	for _, d := range g.parts {
		ready, err := g.plan.CheckPart(context.Background(), d)
		if err != nil {
			return all, nil, err
		}
		a := &asked{persons: g.persons, transcript: g.transcript}
		if err := ready.Replay(context.Background(), a); !errors.Is(err, errAsked) {
			return all, nil, fmt.Errorf("a part answers %w", err)
		}
		all.Persons += a.sum.Persons
		for i, v := range a.sum.Values {
			all.Values[i] += v
		}
	}
	return all, nil, nil
}

func (g *together) Keep(noisy []int64) ([]int64, error) {
	g.transcript = append(g.transcript, slices.Clone(noisy))
	return noisy, nil
}

// TestSevenPartsReleaseTheBytesOfOne: for every method that may be spread over processes,
// replays of seven parts, one of them of nobody, make the release of one process to the
// last bit, and the run that draws the noise sees no person.
func TestSevenPartsReleaseTheBytesOfOne(t *testing.T) {
	const persons = 150
	data, err := chain.Simulate(chain.Options{Episodes: persons, Seed: 3, MaxSteps: 300})
	if err != nil {
		t.Fatal(err)
	}
	var parts []*trajectory.Dataset
	for cuts := []int{0, 1, 40, 40, 70, 71, 120, persons}; len(cuts) > 1; cuts = cuts[1:] {
		parts = append(parts, personsOf(data, cuts[0], cuts[1]))
	}
	states := must(feature.NewTabular(chain.States, chain.Column))
	advance, err := policy.NewTable(chain.Policy(0.6), chain.Actions, chain.Column)
	if err != nil {
		t.Fatal(err)
	}
	cosines := must(feature.NewFourier(3, []string{chain.Column}, []feature.Range{{Low: 0, High: chain.States - 1}}))
	guess := 0.5
	methods := map[string]evaluate.Estimator{
		"dp-is": evaluate.DPIS{Diagnostics: 0.2}, "dp-pdis": evaluate.DPPDIS{}, "dp-wis": evaluate.DPWIS{MaxWeight: 8},
		"dp-dr": evaluate.DPDR{}, "dp-dr with a guess": evaluate.DPDR{Constant: &guess}, "dp-dr by value": evaluate.DPDR{Baseline: "value"},
		"dp-dr by state": evaluate.DPDR{Baseline: "state"}, "dp-dr by model": evaluate.DPDR{Baseline: "model"},
		"dp-dr by linear model": evaluate.DPDR{Baseline: "model"},
		"dp-refine":             evaluate.DPRefine{}, "regression": evaluate.DPRefine{Form: "regression"}, "lstd": evaluate.DPRefine{Form: "lstd"},
		"dp-fqe": evaluate.DPFQE{}, "auto": evaluate.Auto{},
		"dp-lsw": evaluate.DPLSW{}, "dp-lsl": evaluate.DPLSL{}, "dp-lsl as printed": evaluate.DPLSL{Constants: "balle16"},
	}
	ran := 0
	for name, m := range methods {
		for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
			for _, target := range []policy.Policy{policy.Logged{}, advance} {
				p := evaluate.Public{
					Persons: persons, Gamma: 0.99, Horizon: 300, Reward: evaluate.Range{Min: 0, Max: 1}, Return: &evaluate.Range{Min: 0, Max: 1},
					Features: states, Target: target, Privacy: &evaluate.Privacy{Adjacency: adjacency, Budget: dp.Budget{Epsilon: 2, Delta: 1e-6}},
				}
				if name == "dp-pdis" {
					p.Return = nil
				}
				if name == "dp-dr by linear model" {
					p.Features = cosines
				}
				plan, err := m.Plan(p)
				if err != nil {
					t.Logf("%s, %v, %T: no plan: %v", name, adjacency, target, err)
					continue
				}
				ran++
				sevenLikeOne(t, fmt.Sprintf("%s, %v, %T", name, adjacency, target), plan, p, data, parts)
			}
		}
	}
	if ran < 46 {
		t.Errorf("%d plans were run; want at least 46 of %d", ran, 4*len(methods))
	}
}

// sevenLikeOne compares the release of parts with that of one process.
func sevenLikeOne(t testing.TB, name string, plan *evaluate.Plan, p evaluate.Public, data *trajectory.Dataset, parts []*trajectory.Dataset) {
	t.Helper()
	seven := &together{plan: plan, parts: parts}
	if p.Privacy.Adjacency == dp.ReplaceOne {
		seven.persons = p.Persons
	}
	a, b := releaseOf(t, plan.Check, data, noise.NewSeeded(5)), releaseOf(t, plan.CheckPart, data.Nobody(), joined(5, seven))
	if a != b {
		t.Errorf("%s: one process releases\n%s\nseven parts\n%s", name, a, b)
	}
	if len(seven.transcript) == 0 {
		t.Errorf("%s: no sum was asked for", name)
	}
}

// TestPartsOfABandit: questions about several policies, and logged probabilities that are
// estimated, are sums as well.
func TestPartsOfABandit(t *testing.T) {
	const persons = 200
	data := bandit(rand.New(rand.NewPCG(1, 2)), persons)
	data.Columns = []string{"obs_x"}
	for i := range persons {
		data.Obs = append(data.Obs, float64(i%7)/6)
	}
	parts := []*trajectory.Dataset{personsOf(data, 0, 3), personsOf(data, 3, 170), personsOf(data, 170, persons)}
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		p := arms(t, persons, adjacency)
		sevenLikeOne(t, "several policies", must(evaluate.DPWIS{}.Plan(p)), p, data, parts)
		p = banditPublic(t, persons, adjacency, must(policy.NewConstant(1)))
		p.Behavior = &evaluate.EstimatedBehavior{Actions: 2}
		sevenLikeOne(t, "estimated probabilities", must(evaluate.DPPDIS{}.Plan(p)), p, data, parts)
		p = arms(t, persons, adjacency)
		p.Behavior = &evaluate.EstimatedBehavior{Actions: 2}
		sevenLikeOne(t, "several policies and estimated probabilities", must(evaluate.DPWIS{}.Plan(p)), p, data, parts)
		p.Behavior.By, p.Behavior.Actions, p.Privacy.Budget.Epsilon = "features", 2, 20
		p.Features = must(feature.NewColumns([]string{"obs_x"}, []feature.Range{{Low: 0, High: 1}}, feature.ColumnsOptions{Intercept: true}))
		sevenLikeOne(t, "several policies and a regression", must(evaluate.DPIS{}.Plan(p)), p, data, parts)
	}
}

// TestPartsOfGroups: the release for several groups, whose sizes are private or public, is
// that of one process, with a part that has nobody of a group and a part of nobody.
func TestPartsOfGroups(t *testing.T) {
	data := crowd(rand.New(rand.NewPCG(1, 2)))
	n := data.Persons()
	parts := []*trajectory.Dataset{data.Take([]int{0}), personsOf(data, 1, 1), personsOf(data, 1, n/3), personsOf(data, n/3, n)}
	for _, c := range promised {
		for name, m := range map[string]evaluate.Estimator{"dp-is": evaluate.DPIS{}, "dp-wis": evaluate.DPWIS{}, "dp-dr": evaluate.DPDR{Baseline: "value"}, "auto": evaluate.Auto{}} {
			p := byGroup(t, c.adjacency, c.fixed)
			plan, err := m.Plan(p)
			if err != nil {
				t.Fatalf("%s, %+v: %v", name, c, err)
			}
			sevenLikeOne(t, fmt.Sprintf("%s, %+v", name, c), plan, p, data, parts)
			var total []int64
			for _, d := range parts {
				sizes, err := plan.Sizes(d)
				if err != nil || (sizes == nil) == c.fixed {
					t.Fatalf("%s, %+v: sizes %v, %v", name, c, sizes, err)
				}
				for i, k := range sizes {
					if len(total) <= i {
						total = append(total, 0)
					}
					total[i] += k
				}
			}
			if err := plan.CheckSizes(total); err != nil {
				t.Errorf("%s, %+v: %v", name, c, err)
			}
			if !c.fixed {
				continue
			}
			total[0]++
			if err := plan.CheckSizes(total); !errors.Is(err, evaluate.ErrData) {
				t.Errorf("%s, %+v: sizes that are wrong: %v", name, c, err)
			}
			if err := plan.CheckSizes(nil); !errors.Is(err, evaluate.ErrData) {
				t.Errorf("%s, %+v: no sizes: %v", name, c, err)
			}
		}
	}
}

func joined(seed uint64, x hook.Sums) *noise.Source {
	src := noise.NewSeeded(seed)
	src.Join(x)
	return src
}

func releaseOf(t testing.TB, check func(context.Context, *trajectory.Dataset) (*evaluate.Ready, error), d *trajectory.Dataset, src *noise.Source) string {
	t.Helper()
	ready, err := check(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	release, err := ready.Run(context.Background(), receipt.None(), src)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(release)
	if err != nil {
		t.Fatalf("%v: %+v", err, release)
	}
	return string(text)
}

// TestWhatNeedsAllPersonsAtOnceIsRefused by name, with what to do.
func TestWhatNeedsAllPersonsAtOnceIsRefused(t *testing.T) {
	p := evaluate.Public{
		Persons: 500, Gamma: 0.99, Horizon: 300, Episodes: 1, Reward: evaluate.Range{Min: 0, Max: 1}, Return: &evaluate.Range{Min: 0, Max: 1},
		Features: must(feature.NewTabular(chain.States, chain.Column)), Target: policy.Logged{},
		Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 2, Delta: 1e-6}},
	}
	fast := p
	fast.Privacy = &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: p.Privacy.Budget, Fast: true}
	data, err := chain.Simulate(chain.Options{Episodes: 500, Seed: 3, MaxSteps: 300})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		method evaluate.Estimator
		public evaluate.Public
	}{"gpope": {evaluate.GPOPE{}, p}, "constant": {evaluate.Constant{}, p}, "fast": {evaluate.DPWIS{}, fast}} {
		plan, err := c.method.Plan(c.public)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := plan.CheckPart(context.Background(), data); !errors.Is(err, evaluate.ErrInParts) {
			t.Errorf("%s: a part is checked: %v", name, err)
		}
		// Whoever goes around the check is stopped where the noise is drawn.
		if name == "constant" {
			continue
		}
		ready, err := plan.Check(context.Background(), data)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := ready.Run(context.Background(), receipt.None(), joined(1, &together{})); !errors.Is(err, mechanism.ErrNotJoint) {
			t.Errorf("%s: it runs with sums from elsewhere: %v", name, err)
		}
	}
}
