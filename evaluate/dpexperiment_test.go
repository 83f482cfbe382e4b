package evaluate_test

import (
	"encoding/json"
	"errors"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/schema"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// held tells whether all intervals of a release hold their true values, and all lifts.
func (w abWorld) held(r *evaluate.Release) (all, lifts bool) {
	all, lifts = true, true
	k := 0
	in := func(a evaluate.PolicyAnswer, x float64) bool {
		return a.Estimate.Interval[0] <= x && x <= a.Estimate.Interval[1]
	}
	if len(r.Answers) == 2*len(w.shares)-1 {
		for arm := range w.shares {
			all = all && in(r.Answers[k], w.truth(arm))
			k++
		}
	}
	for arm := 1; arm < len(w.shares); arm++ {
		all = all && in(r.Answers[k], w.truth(arm)-w.truth(0))
		k++
	}
	for i, l := range r.Experiment.Lifts {
		x := w.truth(i+1)/w.truth(0) - 1
		lifts = lifts && l.Lower <= x && (l.Upper == nil || x <= *l.Upper)
	}
	return all, lifts
}

// Without noise worth naming, means are those of the arms and differences those of Welch, with a covariate those
// of CUPED; and the widths are theirs, but for the quantile of several intervals and rare outcomes.
func TestArmsAreThoseOfWelchAndCUPED(t *testing.T) {
	const persons = 20000
	for _, w := range abWorlds {
		l := w.draw(persons, rand.New(rand.NewPCG(3, 4)))
		for _, covariate := range []bool{false, true} {
			for _, only := range []bool{false, true} {
				m := evaluate.DPExperiment{Control: "A", DifferencesOnly: only}
				plan, r := released(t, m, w.facts(persons, 3000, dp.ReplaceOne, covariate, true), l.dataset(), 9)
				if err := plan.Verify(r); err != nil {
					t.Fatal(err)
				}
				first := 0
				if !only {
					first = len(w.shares)
					for arm, a := range r.Answers[:first] {
						_, mean, variance := l.moments(arm, func(i int) float64 { return l.y[i] })
						if e := a.Estimate; math.Abs(e.Value-mean) > 0.003*w.top()*math.Sqrt(variance) {
							t.Errorf("%s, covariate %v: %s is %v; want %v", w.name, covariate, a.Name, e.Value, mean)
						}
					}
				}
				for arm := 1; arm < len(w.shares); arm++ {
					want, se := l.welch(arm, covariate)
					e := r.Answers[first+arm-1].Estimate
					if math.Abs(e.Value-want) > 0.1*se {
						t.Errorf("%s, covariate %v: difference %v; want %v, standard error %v", w.name, covariate, e.Value, want, se)
					}
					half, z := (e.Interval[1]-e.Interval[0])/2, math.Sqrt2*math.Erfinv(e.Confidence)
					if half < z*se*0.99 || half > z*se*1.2+8*w.top()/persons/w.shares[arm] {
						t.Errorf("%s, covariate %v: half width %v at %v standard errors of %v", w.name, covariate, half, z, se)
					}
				}
			}
		}
	}
}

// strays are persons of whom the data say less than everything, in turn: a whole one; one whose rows name two
// arms; one of an arm that is not listed; one whose only episode was left out and names its arm; one of whom nothing
// can be read; one with one episode of two left out.
func strays(persons int) *trajectory.Dataset {
	var b trajectory.Builder
	for i := range persons {
		arm := float64(i / 6 % 2)
		e := trajectory.Episode{Person: i, Columns: []string{"obs_arm", "obs_before"}, Obs: []float64{arm, 0.5}, Reward: []float64{1}, Terminated: true}
		switch i % 6 {
		case 1:
			b.Add(&e)
			e.Obs = []float64{1 - arm, 0.5}
		case 2:
			e.Obs = []float64{7, 0.5}
		case 3, 4, 5: // an episode without a decision was left out; Final is what its rows had in common
			lost := trajectory.Episode{Person: i, Columns: e.Columns, Final: []float64{arm, math.NaN()}, Terminated: true}
			if i%6 == 4 {
				lost.Final[0] = math.NaN()
			}
			b.Add(&lost)
		}
		if i%6 < 3 || i%6 == 5 {
			b.Add(&e)
		}
	}
	return b.Dataset()
}

// Whoever has no arm, and outcomes that are missing, are counted and allowed for, whatever they would be.
func TestStraysAreAllowedFor(t *testing.T) {
	const persons = 12000
	w := abWorld{name: "strays", shares: []float64{0.5, 0.5}, rare: []float64{0, 0}}
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		p := w.facts(persons, 1000, adjacency, false, false)
		p.Horizon, p.Episodes = 2, 2
		_, r := released(t, evaluate.DPExperiment{Control: "A"}, p, strays(persons), 1)
		if n := *r.Experiment.Unassigned; math.Abs(n-persons/2) > 10 {
			t.Errorf("%v: %v persons without an arm; want %v", adjacency, n, persons/2)
		}
		for _, name := range []string{"A", "B"} {
			if n := r.Experiment.Persons[name]; math.Abs(n-persons/4) > 10 {
				t.Errorf("%v: %v persons in %s; want %v", adjacency, n, name, persons/4)
			}
		}
		// An arm has 1 + 1/2 of 3 known outcomes, all of them 1; six others may be of the arm.
		for k, want := range [][2]float64{{1.5 / 9, 1}, {1.5 / 9, 1}, {1.5/9 - 1, 1 - 1.5/9}} {
			i := r.Answers[k].Estimate.Interval
			if math.Abs(i[0]-want[0]) > 0.03 || math.Abs(i[1]-want[1]) > 0.03 {
				t.Errorf("%v: %s: interval %v; want about %v", adjacency, r.Answers[k].Name, i, want)
			}
		}
	}
	// Fixed arms have public sizes, which count whoever names none.
	p := w.facts(persons, 1000, dp.ReplaceOne, false, false)
	p.Horizon, p.Episodes = 2, 2
	p.By.Fixed = true
	for i := range p.By.Of {
		p.By.Of[i].Persons = persons / 2
	}
	_, r := released(t, evaluate.DPExperiment{Control: "A"}, p, strays(persons), 1)
	if r.Experiment.Unassigned != nil || r.Experiment.Persons["A"] != persons/2 {
		t.Errorf("fixed: %+v", r.Experiment)
	}
	if i := r.Answers[0].Estimate.Interval; math.Abs(i[0]-0.25) > 0.03 || i[1] < 0.99 {
		t.Errorf("fixed: %v; want from 1.5 of 6", i)
	}
	p = w.facts(persons, 1, dp.ReplaceOne, false, true)
	p.Horizon, p.Episodes = 2, 2
	plan, err := evaluate.DPExperiment{Control: "A"}.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := plan.Check(t.Context(), strays(persons)); !errors.Is(err, evaluate.ErrData) {
		t.Errorf("complete records with strays: %v", err)
	}
}

// An allocation that was not kept is the first thing that a release says; one that was kept raises few alarms.
func TestSampleRatioMismatch(t *testing.T) {
	w := abRare
	rng, src := rand.New(rand.NewPCG(5, 6)), noise.NewSeeded(5)
	for _, c := range []struct {
		stated map[string]float64
		alarms bool
	}{{map[string]float64{"A": 0.5, "B": 0.5}, false}, {map[string]float64{"A": 0.6, "B": 0.4}, true}} {
		r := run(t, evaluate.DPExperiment{Control: "A", Allocation: c.stated}, w.facts(3000, 1, dp.AddRemoveOne, false, false), w.draw(3000, rng).dataset(), src)
		if r.Experiment.Mismatch != c.alarms || strings.Contains(r.Notes[0], "MISMATCH") != c.alarms {
			t.Errorf("%v: %v, p-value %v, first note %q", c.stated, r.Experiment.Mismatch, *r.Experiment.AllocationP, r.Notes[0])
		}
	}
}

// All intervals hold together in 95% of releases at least: of 60 fewer than 49 do with probability below 1e-3 at that rate. Plans
// foresee the width, and verify each release, which follows the schema; the event is that of one question.
func TestExperimentsCover(t *testing.T) {
	const logs, persons = 60, 1500
	for _, w := range abWorlds {
		for _, covariate := range []bool{false, true} {
			for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
				rng, src := rand.New(rand.NewPCG(7, 8)), noise.NewSeeded(9)
				m := evaluate.DPExperiment{Control: "A", Allocation: w.allocation(), Guess: w.guess()}
				p := w.facts(persons, 5, adjacency, covariate, false)
				plan, err := m.Plan(p)
				if err != nil {
					t.Fatal(err)
				}
				if _, one := plan.Event.(dp.Gaussian); !one || plan.Epsilon.Upper > 5 || plan.Epsilon.Upper < 4.99 {
					t.Errorf("event %v, epsilon %v of a budget of 5", plan.Event, plan.Epsilon)
				}
				held, width := 0, 0.0
				for log := range logs {
					r := runOf(t, plan, w.draw(persons, rng).dataset(), src)
					all, lifts := w.held(r)
					if all && !lifts {
						t.Errorf("%s: intervals hold, and lifts %+v do not", w.name, r.Experiment.Lifts)
					}
					if all {
						held++
					}
					i := r.Answers[len(w.shares)].Estimate.Interval
					width += (i[1] - i[0]) / 2 / logs
					if log%10 > 0 {
						continue
					}
					if err := plan.Verify(r); err != nil {
						t.Fatal(err)
					}
					text, err := json.Marshal(r)
					if err == nil {
						err = schema.Check(schema.Release, text)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				if held < 49 {
					t.Errorf("%s, covariate %v, %v: %d of %d hold", w.name, covariate, adjacency, held, logs)
				}
				if got := plan.Facts["answers"].([]evaluate.ExpectedAnswer)[len(w.shares)].HalfWidth; got < width/1.35 || got > width*1.35 {
					t.Errorf("%s, covariate %v, %v: the plan says %v, and it is %v", w.name, covariate, adjacency, got, width)
				}
			}
		}
	}
}

// TestExperimentsThatAreRefused says what is wrong with a word about it.
func TestExperimentsThatAreRefused(t *testing.T) {
	good := func() (evaluate.DPExperiment, evaluate.Public) {
		return evaluate.DPExperiment{Control: "A"}, abRare.facts(1000, 1, dp.ReplaceOne, true, false)
	}
	for want, spoil := range map[string]func(m *evaluate.DPExperiment, p *evaluate.Public){
		"want one of A, B": func(m *evaluate.DPExperiment, _ *evaluate.Public) { m.Control = "C" },
		"give by":          func(_ *evaluate.DPExperiment, p *evaluate.Public) { p.By = nil },
		"leave target out": func(_ *evaluate.DPExperiment, p *evaluate.Public) { p.Target = policy.ProbColumn{} },
		"want 1, with every arm": func(m *evaluate.DPExperiment, _ *evaluate.Public) {
			m.Allocation = map[string]float64{"A": 0.5, "B": 0.4}
		},
		"want a probability": func(m *evaluate.DPExperiment, _ *evaluate.Public) {
			m.Allocation = map[string]float64{"A": 0.5, "D": 0.5}
		},
		"a mean within the range":      func(m *evaluate.DPExperiment, _ *evaluate.Public) { m.Guess.Mean = 2 },
		"which is the arm":             func(_ *evaluate.DPExperiment, p *evaluate.Public) { p.By.Column = "obs_before" },
		"a single point":               func(_ *evaluate.DPExperiment, p *evaluate.Public) { p.Reward.Max = 0 },
		"needs to know how episodes":   nil,
		"the data were read without o": nil,
	} {
		m, p := good()
		if spoil != nil {
			spoil(&m, &p)
			if _, err := m.Plan(p); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v", want, err)
			}
			continue
		}
		d := abRare.draw(1000, rand.New(rand.NewPCG(1, 1))).dataset()
		if strings.HasPrefix(want, "needs") {
			p.OneDecision, p.Horizon = false, 2
			d.Terminated = nil
		} else {
			d.Columns[1] = "obs_other"
		}
		plan, err := m.Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := plan.Check(t.Context(), d); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", want, err)
		}
	}
}

// A release whose sums, or what follows from them, were changed does not follow from its plan.
func TestAnExperimentThatWasChangedIsTold(t *testing.T) {
	w := abSpend
	m := evaluate.DPExperiment{Control: "A", Allocation: w.allocation()}
	for name, spoil := range map[string]func(r *evaluate.Release){
		"lift":       func(r *evaluate.Release) { r.Experiment.Lifts[0].Lower += 0.01 },
		"interval":   func(r *evaluate.Release) { r.Answers[2].Estimate.Interval[0] += 0.01 },
		"slope":      func(r *evaluate.Release) { *r.Experiment.Slope += 0.01 },
		"p-value":    func(r *evaluate.Release) { *r.Experiment.AllocationP = 0.5 },
		"unassigned": func(r *evaluate.Release) { r.Diagnostics["unassigned"] = 30. },
		"sums":       func(r *evaluate.Release) { r.Diagnostics["covariate"].([]float64)[4] *= 1.5 },
		"lost sums":  func(r *evaluate.Release) { delete(r.Diagnostics, "adjusted") },
		"no number":  func(r *evaluate.Release) { r.Diagnostics["covariate"] = []float64{1} },
	} {
		plan, r := released(t, m, w.facts(4000, 5, dp.ReplaceOne, true, false), w.draw(4000, rand.New(rand.NewPCG(2, 2))).dataset(), 3)
		if err := plan.Verify(r); err != nil {
			t.Fatal(err)
		}
		spoil(r)
		if err := plan.Verify(r); !errors.Is(err, evaluate.ErrRelease) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What is protected is named in the notes, and the budget is that of the unit.
func TestAnExperimentSpeaksOfItsUnit(t *testing.T) {
	p := abRare.facts(1000, 1, dp.ReplaceOne, true, false)
	p.Privacy.Unit = evaluate.Row
	plan, err := evaluate.DPExperiment{Control: "A", Allocation: abRare.allocation()}.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(plan.Notes, " "); strings.Contains(text, "person") || !strings.Contains(text, "A row whose rows name no arm") {
		t.Errorf("notes: %s", text)
	}
}
