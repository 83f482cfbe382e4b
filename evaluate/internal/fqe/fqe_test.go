package fqe

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// The process of these tests has two states. Action 0 pays 1 in state 0 and stays; action
// 1 pays 0 and leads to the other state; in state 1 action 0 pays .5 and ends.
const (
	cells   = 2
	actions = 2
	horizon = 3
	gamma   = 0.5
)

// logOf lists every course of the process from each state so many times: the logged
// policy is fair.
func logOf(times int) *trajectory.Dataset {
	d := &trajectory.Dataset{Columns: []string{"obs_state"}, PersonStart: []int{0}, EpisodeStart: []int{0}}
	for start := range cells {
		for course := range times << horizon {
			state, ended := start, false
			for t := 0; t < horizon && !ended; t++ {
				a := course >> t & 1
				d.Obs = append(d.Obs, float64(state))
				d.Action = append(d.Action, int32(a))
				d.BehaviorProb = append(d.BehaviorProb, 0.5)
				reward := 0.0
				switch {
				case a == 0 && state == 0:
					reward = 1
				case a == 0:
					reward, ended = 0.5, true
				default:
					state = 1 - state
				}
				d.Reward = append(d.Reward, reward)
			}
			d.Terminated = append(d.Terminated, ended)
			d.EpisodeStart = append(d.EpisodeStart, len(d.Reward))
			d.PersonStart = append(d.PersonStart, len(d.Terminated))
		}
	}
	return d
}

// target takes action 1 with probability .25 in state 0 and .75 in state 1.
var target = []float64{0.75, 0.25, 0.25, 0.75}

// worth is the value by hand: v[h][s], from the process itself.
func worth() [][cells]float64 {
	v := [][cells]float64{{}}
	for h := range horizon {
		w := v[h]
		v = append(v, [cells]float64{0.75*(1+gamma*w[0]) + 0.25*gamma*w[1], 0.25*0.5 + 0.75*gamma*w[0]})
	}
	return v[1:]
}

func sampleOf(t testing.TB, d *trajectory.Dataset, p policy.Policy) *value.Sample {
	t.Helper()
	f, err := feature.NewTabular(cells, "obs_state")
	if err != nil {
		t.Fatal(err)
	}
	s, err := value.NewSample(d, value.Options{Gamma: gamma, Features: f, Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func tabular(t testing.TB) policy.Policy {
	t.Helper()
	p, err := policy.NewTable(target, actions, "obs_state")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func tableOf(form string, multiplier float64) Table {
	t := Table{
		Public: facts.Public{Persons: 16, Adjacency: dp.ReplaceOne, Gamma: gamma, Reward: facts.Range{Min: 0, Max: 1},
			Returns: facts.Range{Min: 0, Max: 1.75}, Horizon: horizon},
		Form: form, Cells: cells, Decisions: horizon, MaxWeight: 1, Multiplier: multiplier,
	}
	if form == ByAction {
		t.Actions = actions
	} else {
		t.MaxWeight = 2
	}
	return t
}

// TestValuesWithoutNoise: with hardly any noise the induction finds the values of the
// process at every number of decisions to go, by action and by weights.
func TestValuesWithoutNoise(t *testing.T) {
	s := sampleOf(t, logOf(2000), tabular(t))
	for _, form := range []string{ByAction, ByState} {
		m, err := tableOf(form, 1e-7).Release(s, noise.NewSeeded(1))
		if err != nil {
			t.Fatal(err)
		}
		pi := target
		if form == ByState {
			pi = nil
		}
		got := m.Induct(pi)
		for h, want := range worth() {
			for c := range cells {
				if math.Abs(got.V[h][c]-want[c]) > 1e-3 {
					t.Errorf("%s: %d decisions to go, state %d: %v; want %v", form, h+1, c, got.V[h][c], want[c])
				}
			}
		}
		if q := got.LastByAction(); form == ByAction && (len(q) != cells*actions || math.Abs(q[0]-(1+gamma*worth()[horizon-2][0])) > 1e-3) {
			t.Errorf("values of actions %v", q)
		}
		private, sampling := m.Errors(got, pi)
		if !(private < 1e-3) || !(sampling > 0 && sampling < 1) {
			t.Errorf("%s: errors %v and %v", form, private, sampling)
		}
	}
}

// TestEndsAreNotGuessed: what follows the last decision of an episode that was cut off is
// not known, unless an episode has one decision; that of one that ended leads nowhere.
func TestEndsAreNotGuessed(t *testing.T) {
	d := &trajectory.Dataset{Columns: []string{"obs_state"}, PersonStart: []int{0, 1, 2, 3}, EpisodeStart: []int{0, 2, 4, 5},
		Obs: []float64{0, 1, 1, 0, 7}, Action: []int32{1, 0, 1, 5, 0}, Reward: []float64{0, 0.5, 0, 1, 1},
		BehaviorProb: []float64{0.5, 0.5, 0.5, 0.5, 0.5}, Terminated: []bool{true, false, true}}
	s := sampleOf(t, d, policy.Logged{})
	rows := func(table Table, person int) (out [][2]int) {
		w := walker{t: table, of: s.Walk(), s: s}
		for _, x := range w.person(person) {
			out = append(out, [2]int{x.Cell, x.Outcome})
		}
		return out
	}
	table := tableOf(ByState, 1)
	if got := rows(table, 0); !slices.Equal(got, [][2]int{{0, 1}, {1, cells}}) {
		t.Errorf("an episode that ended: %v", got)
	}
	if got := rows(table, 1); !slices.Equal(got, [][2]int{{1, 0}, {0, cells + 1}}) {
		t.Errorf("an episode that was cut off: %v", got)
	}
	if got := rows(table, 2); len(got) != 0 {
		t.Errorf("a decision in no state: %v", got)
	}
	table.Decisions = 2
	if got := rows(table, 0); !slices.Equal(got, [][2]int{{0, 1}, {1, cells + 2}}) {
		t.Errorf("an episode that ended with the last decision it can have: %v", got)
	}
	if got := rows(table, 1); !slices.Equal(got, [][2]int{{1, 0}, {0, cells + 2}}) {
		t.Errorf("an episode that was cut off there: %v", got)
	}
	table.Decisions = 1
	if got := rows(table, 1); !slices.Equal(got, [][2]int{{1, cells}, {0, cells}}) {
		t.Errorf("one decision an episode: %v", got)
	}
	if got := rows(tableOf(ByAction, 1), 1); !slices.Equal(got, [][2]int{{1*actions + 1, 0}}) {
		t.Errorf("by action: %v", got)
	}
}

// TestFixedHorizon: where every episode has as many decisions as it can have, and its last
// one is marked as an end, values are those of a process that ends there and nowhere
// before. Here action 0 stays and pays 1 in state 0 and .5 in state 1; action 1 moves.
func TestFixedHorizon(t *testing.T) {
	d := &trajectory.Dataset{Columns: []string{"obs_state"}, PersonStart: []int{0}, EpisodeStart: []int{0}}
	for course := range 2000 << (horizon + 1) {
		state := course & 1
		for h := range horizon {
			a := course >> (h + 1) & 1
			d.Obs, d.Action = append(d.Obs, float64(state)), append(d.Action, int32(a))
			d.BehaviorProb, d.Reward = append(d.BehaviorProb, 0.5), append(d.Reward, float64(1-a)/float64(1+state))
			state = (state + a) % 2
		}
		d.Terminated = append(d.Terminated, true)
		d.EpisodeStart = append(d.EpisodeStart, len(d.Reward))
		d.PersonStart = append(d.PersonStart, len(d.Terminated))
	}
	s := sampleOf(t, d, tabular(t))
	for _, form := range []string{ByAction, ByState} {
		table, pi := tableOf(form, 1e-7), target
		if form == ByState {
			pi = nil
		}
		m, err := table.Release(s, noise.NewSeeded(1))
		if err != nil {
			t.Fatal(err)
		}
		got, w := m.Induct(pi), [cells]float64{}
		for h := range horizon {
			w = [cells]float64{0.75*(1+gamma*w[0]) + 0.25*gamma*w[1], 0.25*(0.5+gamma*w[1]) + 0.75*gamma*w[0]}
			for c := range cells {
				if math.Abs(got.V[h][c]-w[c]) > 1e-3 {
					t.Errorf("%s: %d decisions to go, state %d: %v; want %v", form, h+1, c, got.V[h][c], w[c])
				}
			}
		}
	}
}

// TestDiscountsOfTheData: a discount for each decision is the chance that what follows
// counts, so that the values are those of that discount for all.
func TestDiscountsOfTheData(t *testing.T) {
	d := logOf(2000)
	d.Discount = slices.Repeat([]float64{gamma}, d.Rows())
	table := tableOf(ByAction, 1e-7)
	table.Discounts, table.Public.Gamma = true, 1
	m, err := table.Release(sampleOf(t, d, tabular(t)), noise.NewSeeded(1))
	if err != nil {
		t.Fatal(err)
	}
	got, want := m.Induct(target).Last(), worth()[horizon-1]
	if math.Abs(got[0]-want[0]) > 1e-3 || math.Abs(got[1]-want[1]) > 1e-3 {
		t.Errorf("values %v; want %v", got, want)
	}
}

// TestSharesAddUp: whatever the noise, what follows a decision has probabilities, and
// values lie within what rewards allow.
func TestSharesAddUp(t *testing.T) {
	s := sampleOf(t, logOf(1), tabular(t))
	src := noise.NewSeeded(6)
	for range 200 {
		for _, multiplier := range []float64{0.01, 0.3, 3, 1000} {
			table := tableOf(ByAction, multiplier)
			m, err := table.Release(s, src)
			if err != nil {
				t.Fatal(err)
			}
			for _, level := range m.levels {
				for _, r := range level {
					sum := 0.0
					for _, x := range r.next {
						if x < 0 {
							t.Fatalf("a share is %v", x)
						}
						sum += x
					}
					if math.Abs(sum-1) > 1e-9 {
						t.Fatalf("shares %v add up to %v", r.next, sum)
					}
				}
			}
			v := m.Induct(target)
			for h, values := range v.V {
				within := table.Bounds(int64(h + 1))
				for _, x := range append(slices.Clone(values), v.Q[h]...) {
					if !(x >= within.Min-1e-12 && x <= within.Max+1e-12) {
						t.Fatalf("%v with %d decisions to go lies outside %v", x, h+1, within)
					}
				}
			}
			if private, sampling := m.Errors(v, target); !(private > 0) || !(sampling >= 0) || math.IsInf(private+sampling, 0) {
				t.Fatalf("errors %v, %v", private, sampling)
			}
		}
	}
}

// TestErrorsAreDerivatives: the stated standard deviation is that of the value under
// small noise, within 15% from 400 draws (four standard errors of a standard deviation
// are 14%).
func TestErrorsAreDerivatives(t *testing.T) {
	s := sampleOf(t, logOf(1), tabular(t))
	table := tableOf(ByAction, 0.02)
	table.Public.Reward, table.Public.Returns = facts.Range{Min: -2, Max: 3}, facts.Range{Min: -9, Max: 9} // far from the bounds
	src := noise.NewSeeded(7)
	const draws = 400
	sum, square, stated := 0.0, 0.0, 0.0
	for range draws {
		m, err := table.Release(s, src)
		if err != nil {
			t.Fatal(err)
		}
		v := m.Induct(target)
		// The weights by state are those of the log, which the noise moves too.
		x := 0.0
		for c, w := range visitsOf(s) {
			x += w * v.Last()[c]
		}
		private, _ := m.Errors(v, target)
		sum, square, stated = sum+x, square+x*x, stated+private/draws
	}
	sd := math.Sqrt((square - sum*sum/draws) / (draws - 1))
	if ratio := stated / sd; math.Abs(ratio-1) > 0.15 {
		t.Errorf("the value has standard deviation %v, and %v is stated", sd, stated)
	}
}

// visitsOf is the share of decisions in each cell.
func visitsOf(s *value.Sample) []float64 {
	out, total := make([]float64, cells), 0.0
	w := walker{t: tableOf(ByAction, 1), of: s.Walk(), s: s}
	for p := range s.Data.Persons() {
		for _, x := range w.person(p) {
			out[x.Cell/actions]++
			total++
		}
	}
	for c := range out {
		out[c] /= total
	}
	return out
}

// TestStart: the mean of a value over first states, persons alike, and whoever begins
// nowhere as the middle.
func TestStart(t *testing.T) {
	d := &trajectory.Dataset{Columns: []string{"obs_state"}, PersonStart: []int{0, 1, 3, 3, 4}, EpisodeStart: []int{0, 2, 3, 4, 5},
		Obs: []float64{0, 1, 1, 0, 9}, Action: make([]int32, 5), Reward: make([]float64, 5), Terminated: make([]bool, 4)}
	s := sampleOf(t, d, policy.Logged{})
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		table := tableOf(ByState, 1e-7)
		q := Start{Public: table.Public, Multiplier: 1e-7}
		q.Public.Adjacency, q.Public.Persons = adjacency, 4
		got, err := q.Release(table, s, []float64{1, 0.2}, noise.NewSeeded(2))
		if err != nil {
			t.Fatal(err)
		}
		if want := (1 + 0.6 + 0.6 + 0.6) / 4; math.Abs(got.Value-want) > 1e-5 {
			t.Errorf("%v: mean %v; want %v", adjacency, got.Value, want)
		}
	}
}

// TestTargetByCell: the probabilities of a policy by cell, and policies that have none.
func TestTargetByCell(t *testing.T) {
	aggregate, err := feature.NewAggregation(4, 2, "obs_state")
	if err != nil {
		t.Fatal(err)
	}
	table, err := policy.NewTable([]float64{1, 0, 0.5, 0.5, 0, 1, 0, 1}, 2, "obs_state")
	if err != nil {
		t.Fatal(err)
	}
	got, err := Target(table, aggregate)
	if err != nil || !slices.Equal(got, []float64{0.75, 0.25, 0, 1}) {
		t.Errorf("%v, %v", got, err)
	}
	other, err := policy.NewTable([]float64{1, 0}, 2, "obs_other")
	if err != nil {
		t.Fatal(err)
	}
	half := 0.5
	byStep, err := policy.NewTree([]string{"obs_state"}, []policy.Node{{Step: true, Threshold: &half, Left: 1, Right: 2}, {Probs: []float64{1, 0}}, {Probs: []float64{0, 1}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []policy.Policy{policy.ProbColumn{}, policy.Logged{}, other, byStep} {
		if _, err := Target(p, aggregate); !errors.Is(err, ErrTarget) {
			t.Errorf("%T: %v", p, err)
		}
	}
}
