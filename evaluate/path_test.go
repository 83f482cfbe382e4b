package evaluate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/schema"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// chainPublic are the public facts of the chain, on-policy.
func chainPublic(t testing.TB, persons int64, adjacency dp.Adjacency) evaluate.Public {
	t.Helper()
	tabular, err := feature.NewTabular(chain.States, chain.Column)
	if err != nil {
		t.Fatal(err)
	}
	return evaluate.Public{
		Persons: persons, Gamma: 0.99, Horizon: 10000,
		Reward: evaluate.Range{Min: 0, Max: 1}, Return: &evaluate.Range{Min: 0, Max: 1},
		Features: tabular, Target: policy.Logged{},
		Privacy: &evaluate.Privacy{Adjacency: adjacency, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}},
	}
}

func chainData(t testing.TB, persons int, seed uint64) *trajectory.Dataset {
	t.Helper()
	d, err := chain.Simulate(chain.Options{Episodes: persons, Seed: seed})
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestEveryMethodRunsAndSpendsItsBudget takes every listed private method with
// default parameters through all four steps, under both adjacencies where it has
// them, and wants the certified epsilon to be the budget's: below it, but by no
// more than 1%.
func TestEveryMethodRunsAndSpendsItsBudget(t *testing.T) {
	const persons = 400
	data := chainData(t, persons, 1)
	for _, m := range evaluate.Methods() {
		if !m.Private || m.NeedOutcome || m.NeedArms || m.Learns { // dpsurvival_test.go, dplearn_test.go
			continue
		}
		for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
			e, err := evaluate.New(m.Name, nil)
			if err != nil {
				t.Fatal(err)
			}
			p := chainPublic(t, persons, adjacency)
			plan, err := e.Plan(p)
			if err != nil {
				t.Errorf("%s, %v: %v", m.Name, adjacency, err)
				continue
			}
			if plan.Epsilon.Upper > 1 {
				t.Errorf("%s, %v: epsilon %v exceeds the budget", m.Name, adjacency, plan.Epsilon)
			}
			if m.Name != "constant" && plan.Epsilon.Upper < 0.99 {
				t.Errorf("%s, %v: epsilon %v leaves budget unused", m.Name, adjacency, plan.Epsilon)
			}
			r := run(t, e, p, data, noise.NewSeeded(2))
			checkJSON(t, m.Name, r)
		}
	}
}

// checkJSON writes a release and reads it back.
func checkJSON(t *testing.T, name string, r *evaluate.Release) {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	if err := schema.Check(schema.Release, text); err != nil {
		t.Errorf("%s: %v", name, err)
	}
	var back evaluate.Release
	if err := json.Unmarshal(text, &back); err != nil {
		t.Errorf("%s: %v in %s", name, err, text)
		return
	}
	again, err := json.Marshal(back)
	if err != nil {
		t.Fatal(err)
	}
	var a, b any
	if json.Unmarshal(text, &a) != nil || json.Unmarshal(again, &b) != nil {
		t.Fatal("not JSON")
	}
	if d := cmp.Diff(a, b); d != "" {
		t.Errorf("%s: a release changes when it is written and read:\n%s", name, d)
	}
	if !strings.Contains(string(text), `"seeded_for_tests":true`) {
		t.Errorf("%s: seeded noise is not marked", name)
	}
}

func TestRunNeedsAReceiptOfItsOwn(t *testing.T) {
	p := banditPublic(t, 50, dp.ReplaceOne, policy.Logged{})
	plan, err := evaluate.DPIS{}.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	ready := func() *evaluate.Ready {
		r, err := plan.Check(context.Background(), bandit(rand.New(rand.NewPCG(1, 1)), 50))
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	src := noise.NewSeeded(1)
	if _, err := ready().Run(context.Background(), nil, src); !errors.Is(err, receipt.ErrInvalid) {
		t.Errorf("run without a receipt: %v; want ErrInvalid", err)
	}
	if _, err := ready().Run(context.Background(), new(receipt.Receipt), src); !errors.Is(err, receipt.ErrInvalid) {
		t.Errorf("run on a forged receipt: %v; want ErrInvalid", err)
	}
	paid := receipt.None()
	first := ready()
	if _, err := first.Run(context.Background(), paid, src); err != nil {
		t.Fatal(err)
	}
	if _, err := ready().Run(context.Background(), paid, src); !errors.Is(err, receipt.ErrInvalid) {
		t.Errorf("second run on one receipt: %v; want ErrInvalid", err)
	}
	if _, err := first.Run(context.Background(), receipt.None(), src); err == nil {
		t.Error("the same data was released from twice without a new check")
	}
}

func TestCheckRefusesDataThatBreaksThePublicFacts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for name, c := range map[string]struct {
		change func(*evaluate.Public)
		data   *trajectory.Dataset
	}{
		"more persons":    {func(p *evaluate.Public) { p.Persons = 49 }, bandit(rng, 50)},
		"fewer persons":   {func(p *evaluate.Public) { p.Persons = 51 }, bandit(rng, 50)},
		"below its bound": {func(p *evaluate.Public) { p.Persons = 51; p.Privacy.Adjacency = dp.AddRemoveOne }, bandit(rng, 50)},
		"nobody":          {func(p *evaluate.Public) {}, &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}}},
		"long episodes":   {func(p *evaluate.Public) { p.Persons = 50 }, chainData(t, 50, 1)},
	} {
		p := banditPublic(t, 50, dp.ReplaceOne, policy.Logged{})
		c.change(&p)
		plan, err := evaluate.DPIS{}.Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Check(context.Background(), c.data); !errors.Is(err, evaluate.ErrData) {
			t.Errorf("%s: %v; want ErrData", name, err)
		}
	}
}

func TestPlanRefusesImpossiblePublicFacts(t *testing.T) {
	for name, change := range map[string]func(*evaluate.Public){
		"gamma 0":           func(p *evaluate.Public) { p.Gamma = 0 },
		"gamma NaN":         func(p *evaluate.Public) { p.Gamma = math.NaN() },
		"no horizon":        func(p *evaluate.Public) { p.Horizon = 0 },
		"no persons":        func(p *evaluate.Public) { p.Persons = 0 },
		"rewards reversed":  func(p *evaluate.Public) { p.Reward = evaluate.Range{Min: 1, Max: 0} },
		"rewards infinite":  func(p *evaluate.Public) { p.Reward.Max = math.Inf(1) },
		"rewards a point":   func(p *evaluate.Public) { p.Reward = evaluate.Range{} },
		"returns NaN":       func(p *evaluate.Public) { p.Return = &evaluate.Range{Min: math.NaN(), Max: 1} },
		"no target":         func(p *evaluate.Public) { p.Target = nil },
		"no adjacency":      func(p *evaluate.Public) { p.Privacy.Adjacency = 0 },
		"epsilon 0":         func(p *evaluate.Public) { p.Privacy.Budget.Epsilon = 0 },
		"epsilon infinite":  func(p *evaluate.Public) { p.Privacy.Budget.Epsilon = math.Inf(1) },
		"delta 0":           func(p *evaluate.Public) { p.Privacy.Budget.Delta, p.Privacy.NoiseFamily = 0, evaluate.GaussianNoise },
		"delta above 1/m":   func(p *evaluate.Public) { p.Privacy.Budget.Delta = 0.03 },
		"no privacy at all": func(p *evaluate.Public) { p.Privacy = nil },
	} {
		p := banditPublic(t, 50, dp.ReplaceOne, policy.Logged{})
		change(&p)
		if plan, err := (evaluate.DPWIS{}).Plan(p); err == nil {
			t.Errorf("%s: planned %v", name, plan.Event)
		}
	}
}

func TestMethodParametersAreStrict(t *testing.T) {
	for name, params := range map[string]map[string]any{
		"dp-is":    {"clip": 3},
		"dp-wis":   {"max_weight": "ten"},
		"no-such":  nil,
		"constant": {"values": 1},
		"dp-lsw":   {"lambda": 1},
		"lstd":     {"weighting": 7},
	} {
		if _, err := evaluate.New(name, params); !errors.Is(err, evaluate.ErrMethod) {
			t.Errorf("New(%s, %v): %v; want ErrMethod", name, params, err)
		}
	}
	for _, weight := range []float64{-1, math.Inf(1), math.NaN()} {
		one, err := policy.NewConstant(1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := (evaluate.DPIS{MaxWeight: weight}).Plan(banditPublic(t, 50, dp.ReplaceOne, one)); !errors.Is(err, evaluate.ErrMethod) {
			t.Errorf("max_weight %v: %v; want ErrMethod", weight, err)
		}
	}
}

// TestReturnsFollowFromRewards checks the derived range against the sum written
// out.
func TestReturnsFollowFromRewards(t *testing.T) {
	p := evaluate.Public{Gamma: 0.9, Horizon: 3, Reward: evaluate.Range{Min: -1, Max: 2}}
	if got, want := p.Returns(), (evaluate.Range{Min: -2.71, Max: 5.42}); math.Abs(got.Min-want.Min) > 1e-12 || math.Abs(got.Max-want.Max) > 1e-12 {
		t.Errorf("Returns() = %v; want %v", got, want)
	}
	p.Reward.Min = 1
	if got := p.Returns().Min; got != 1 {
		t.Errorf("smallest return of rewards of at least 1 is %v; want 1, that of one decision", got)
	}
	p.Gamma = 1
	if got := p.Returns().Max; got != 6 {
		t.Errorf("largest undiscounted return is %v; want 6", got)
	}
	p.Gamma, p.Discounts = 0.5, true
	if got := p.Returns().Max; got != 6 {
		t.Errorf("with discounts from the data the largest return is %v; want 6", got)
	}
}

func Example() {
	target, _ := policy.NewConstant(1)
	public := evaluate.Public{
		Persons: 5000, Gamma: 1, Horizon: 1,
		Reward: evaluate.Range{Min: 0, Max: 1},
		Target: target,
		Privacy: &evaluate.Privacy{
			Adjacency: dp.ReplaceOne,
			Budget:    dp.Budget{Epsilon: 1, Delta: 1e-6},
		},
	}
	plan, err := evaluate.DPWIS{MaxWeight: 4}.Plan(public)
	if err != nil {
		fmt.Println(err)
		return
	}
	data := bandit(rand.New(rand.NewPCG(1, 2)), 5000)
	ready, err := plan.Check(context.Background(), data)
	if err != nil {
		fmt.Println(err)
		return
	}
	release, err := ready.Run(context.Background(), receipt.None(), noise.NewSeeded(1))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("always action 1: %.2f\n", release.Answers[0].Estimate.Value)
	// Output: always action 1: 0.71
}
