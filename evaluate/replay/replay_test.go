package replay_test

import (
	"context"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/mechanism"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/replay"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

const (
	persons  = 5
	states   = 3
	horizon  = 4
	episodes = 2
)

// options are the estimators and options whose release is a sequence of sums.
func options() map[string]map[string]any {
	return map[string]map[string]any{
		"dp-is":                {"name": "dp-is"},
		"dp-is on-policy":      {"name": "dp-is", "on": true},
		"dp-is auto":           {"name": "dp-is", "clip": "auto", "diagnostics": 0.2, "max_weight": 2},
		"dp-pdis":              {"name": "dp-pdis", "clip": "public", "diagnostics": 0.2},
		"dp-pdis auto":         {"name": "dp-pdis", "clip": "auto"},
		"dp-wis":               {"name": "dp-wis", "clip": "public", "max_weight": 3},
		"dp-wis auto":          {"name": "dp-wis", "clip": "auto", "diagnostics": 0.2},
		"dp-wis several":       {"name": "dp-wis", "several": true, "clip": "public", "max_weight": 3},
		"dp-pdis several":      {"name": "dp-pdis", "several": true},
		"dp-dr":                {"name": "dp-dr"},
		"dp-dr state":          {"name": "dp-dr", "baseline": "state", "diagnostics": 0.2},
		"dp-dr value":          {"name": "dp-dr", "baseline": "value", "clip": "public"},
		"dp-dr constant":       {"name": "dp-dr", "constant": 1},
		"dp-dr states":         {"name": "dp-dr", "state_values": []float64{0, 1, 2}},
		"dp-dr action":         {"name": "dp-dr", "bandit": true, "baseline": "action"},
		"dp-dr actions":        {"name": "dp-dr", "bandit": true, "action_values": []float64{0.2, 0.8}},
		"dp-fqe":               {"name": "dp-fqe", "form": "action", "policy": true},
		"dp-fqe state":         {"name": "dp-fqe", "form": "state", "interval": "none"},
		"dp-fqe pooled":        {"name": "dp-fqe", "form": "pooled", "max_ratio": 2},
		"dp-fqe on-policy":     {"name": "dp-fqe", "form": "state", "on": true, "start_share": 0.2},
		"dp-refine":            {"name": "dp-refine", "rounds": 4},
		"dp-refine on-policy":  {"name": "dp-refine", "on": true},
		"dp-refine regression": {"name": "dp-refine", "form": "regression", "linear": true},
		"dp-refine lstd":       {"name": "dp-refine", "form": "lstd", "linear": true, "rounds": 2},
		"gpope everyone":       {"name": "gpope", "sampling": "everyone", "iterations": 4},
		"gpope linear":         {"name": "gpope", "sampling": "everyone", "iterations": 4, "linear": true, "momentum": 0.5},
	}
}

// planOf makes the plan of an option. The words on, linear, policy, bandit and fast are no
// parameters: they choose the public facts.
func planOf(t *testing.T, option map[string]any, adjacency dp.Adjacency) *evaluate.Plan {
	t.Helper()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	tabular, err := feature.NewTabular(states, "obs_state")
	check(err)
	linear, err := feature.NewColumns([]string{"obs_x"}, []feature.Range{{Low: -1, High: 1}}, feature.ColumnsOptions{Intercept: true})
	check(err)
	uniform, err := policy.NewUniform(2)
	check(err)
	p := evaluate.Public{
		Persons: persons, Gamma: 0.75, Horizon: horizon, Episodes: episodes,
		Reward: evaluate.Range{Min: 0, Max: 1}, Return: &evaluate.Range{Min: 0, Max: 2},
		Features: tabular, Target: policy.ProbColumn{},
		Privacy: &evaluate.Privacy{Adjacency: adjacency, Budget: dp.Budget{Epsilon: 8, Delta: 1e-2}},
	}
	if adjacency == dp.AddRemoveOne {
		p.Persons = persons - 1
	}
	params := map[string]any{}
	for key, value := range option {
		switch key {
		case "name":
		case "on":
			p.Target = policy.Logged{}
		case "several":
			p.Target = nil
			p.Targets = &evaluate.Targets{Levels: []string{"a", "b"}, Contrasts: [][2]string{{"a", "b"}, {"b", "logged"}},
				Policies: []evaluate.NamedPolicy{{Name: "a", Policy: policy.ProbColumn{}}, {Name: "b", Policy: uniform}, {Name: "logged", Policy: policy.Logged{}}}}
		case "fast":
			p.Privacy.Noise = mechanism.Fast
		case "linear":
			p.Features = linear
		case "policy":
			p.Target = uniform
		case "bandit":
			p.Horizon, p.Episodes, p.Return, p.Target = 1, 1, nil, uniform
		default:
			params[key] = value
		}
	}
	e, err := evaluate.New(option["name"].(string), params)
	check(err)
	plan, err := e.Plan(p)
	check(err)
	return plan
}

// decision is a row.
type decision struct {
	state, x, reward, behavior, target float64
	action                             int32
}

// person is a person's episodes, and whether each ended by itself.
type person struct {
	episodes [][]decision
	ended    []bool
}

// people draws persons that aim at the edges: of rewards, of the weights' caps, of
// the number of episodes and decisions, and of how many share a state.
type people struct {
	rng    *rand.Rand
	bandit bool
}

func pick[T any](rng *rand.Rand, from ...T) T { return from[rng.IntN(len(from))] }

func (p people) decision(extreme int) decision {
	d := decision{
		state: float64(p.rng.IntN(states - 1)), x: pick(p.rng, -1, 1, 0, p.rng.Float64()*2-1), action: int32(p.rng.IntN(2)),
		reward:   pick(p.rng, 0, 1, 0.5, 1e-12, 1-1e-12, p.rng.Float64()),
		behavior: pick(p.rng, 1, 0.5, 0.1, 0.01, 1e-6),
	}
	cap := pick(p.rng, 1.0, 2, 3, 10) * pick(p.rng, 1, 1+1e-9, 1-1e-9, 1.05, 0.95)
	d.target = min(1, pick(p.rng, 0, 1, d.behavior, cap*d.behavior))
	switch extreme {
	case 1: // the largest weighted return
		d.reward, d.behavior, d.target = 1, 1e-6, 1
	case 2: // the largest weight and the least reward
		d.reward, d.behavior, d.target = 0, 1e-6, 1
	case 3: // no weight
		d.target = 0
	case 4: // alone in a state
		d.state = states - 1
	case 5: // the largest return, unweighted
		d.reward, d.behavior, d.target = 1, 1, 1
	case 6:
		d.reward, d.behavior, d.target = 0, 1, 1
	}
	return d
}

func (p people) person() person {
	var out person
	if p.rng.IntN(8) == 0 {
		return out // a record of which nothing could be used
	}
	most, each := pick(p.rng, 1, episodes), pick(p.rng, 1, horizon/episodes)
	if p.bandit {
		most, each = 1, 1
	}
	extreme := p.rng.IntN(10)
	for range most {
		var e []decision
		for range each {
			e = append(e, p.decision(extreme))
		}
		out.episodes = append(out.episodes, e)
		out.ended = append(out.ended, p.rng.IntN(4) > 0)
	}
	return out
}

func (p people) all() []person {
	out := make([]person, persons)
	alike := p.rng.IntN(3) == 0
	for i := range out {
		if out[i] = p.person(); alike && i > 0 {
			out[i] = out[0]
		}
	}
	return out
}

func dataset(all []person) *trajectory.Dataset {
	d := &trajectory.Dataset{Columns: []string{"obs_state", "obs_x"}, PersonStart: []int{0}, EpisodeStart: []int{0},
		Obs: []float64{}, Action: []int32{}, Reward: []float64{}, BehaviorProb: []float64{}, TargetProb: []float64{}, Terminated: []bool{}}
	for _, p := range all {
		for i, e := range p.episodes {
			for _, row := range e {
				d.Obs = append(d.Obs, row.state, row.x)
				d.Action = append(d.Action, row.action)
				d.Reward = append(d.Reward, row.reward)
				d.BehaviorProb = append(d.BehaviorProb, row.behavior)
				d.TargetProb = append(d.TargetProb, row.target)
			}
			d.EpisodeStart = append(d.EpisodeStart, len(d.Reward))
			d.Terminated = append(d.Terminated, p.ended[i])
		}
		d.PersonStart = append(d.PersonStart, len(d.Terminated))
	}
	return d
}

// TestPairsKeepToThePlan replays pairs that differ by one person replaced, added or
// removed. Some persons have no episode, as where a reader left out what it could
// not use. No pair is refused: that a target takes none of the logged decisions, say,
// is told by no failure.
func TestPairsKeepToThePlan(t *testing.T) {
	names := slices.Sorted(maps.Keys(options()))
	total, worst := 0, 0.0
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		for _, name := range names {
			option := options()[name]
			plan := planOf(t, option, adjacency)
			draw := people{rng: rand.New(rand.NewPCG(1, 2)), bandit: option["bandit"] == true}
			here := 0.0
			for pair := range pairs {
				a, b := neighbours(draw, adjacency)
				r, err := replay.Check(context.Background(), plan, dataset(a), dataset(b), uint64(pair))
				if err != nil {
					t.Errorf("%s, %v, pair %d: %v", name, adjacency, pair, err)
					break
				}
				here = max(here, r.Ratio)
				total++
			}
			t.Logf("%-22s %-16v worst ratio %.6f", name, adjacency, here)
			if here < 0.25 {
				t.Errorf("%s, %v: no pair needs more than %v of what is paid for: the persons aim beside the edges", name, adjacency, here)
			}
			worst = max(worst, here)
		}
	}
	t.Logf("%d pairs, worst ratio %.9f; none refused by the check of the data", total, worst)
}

// neighbours draws a pair.
func neighbours(draw people, adjacency dp.Adjacency) (a, b []person) {
	a = draw.all()
	i := draw.rng.IntN(len(a))
	b = slices.Clone(a)
	if adjacency == dp.ReplaceOne {
		b[i] = draw.person()
		return a, b
	}
	b = slices.Delete(b, i, i+1)
	if draw.rng.IntN(2) == 0 {
		return b, a
	}
	return a, b
}

// TestWhatReplayCannotJudgeIsRefused: events that are no composition of Gaussians,
// and fast noise.
func TestWhatReplayCannotJudgeIsRefused(t *testing.T) {
	draw := people{rng: rand.New(rand.NewPCG(1, 3))}
	a, b := neighbours(draw, dp.ReplaceOne)
	for _, option := range []map[string]any{{"name": "dp-is", "fast": true}, {"name": "gpope", "batch": 2, "iterations": 3, "sampling": "poisson"}} {
		_, err := replay.Check(context.Background(), planOf(t, option, dp.ReplaceOne), dataset(a), dataset(b), 1)
		if !errors.Is(err, replay.ErrUncovered) {
			t.Errorf("%v: %v; want ErrUncovered", option, err)
		}
	}
}
