package policy_test

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// log is four decisions of two persons in states 0, 1, 1, 0.
func log() *trajectory.Dataset {
	return &trajectory.Dataset{
		Columns: []string{"s"}, PersonStart: []int{0, 1, 2}, EpisodeStart: []int{0, 2, 4},
		Obs:          []float64{0, 1, 1, 0},
		Action:       []int32{0, 1, 2, 1},
		Reward:       make([]float64, 4),
		BehaviorProb: []float64{0.5, 0.25, 0.2, 1},
		TargetProb:   []float64{0.25, 0, 1, 0.5},
		ActionProbs:  []float64{0.5, 0.3, 0.2, 0.5, 0.25, 0.25, 0.4, 0.4, 0.2, 0, 1, 0},
		Actions:      3,
		Terminated:   make([]bool, 2),
		Origin:       []string{"log.csv", "log.csv"},
		FirstRow:     []int{2, 4},
	}
}

func table() policy.Table {
	return must(policy.NewTable([]float64{0.1, 0.2, 0.7, 0.5, 0.5, 0}, 3, "s"))
}

// Ln 2 as a weight doubles an action's odds.
func softmax() policy.Softmax {
	m := must(feature.NewTabular(2, "s"))
	ln2 := math.Log(2)
	return must(policy.NewSoftmax(m, [][]float64{{0, 0}, {2 * ln2, 0}, {4 * ln2, -800}}, 2))
}

func TestRatiosMatchHandComputation(t *testing.T) {
	for _, test := range []struct {
		name string
		p    policy.Policy
		want []float64
	}{
		{"logged", policy.Logged{}, []float64{1, 1, 1, 1}},
		{"uniform", must(policy.NewUniform(4)), []float64{0.5, 1, 1.25, 0.25}},
		{"constant", must(policy.NewConstant(1)), []float64{0, 4, 0, 1}},
		{"column", policy.ProbColumn{}, []float64{0.5, 0, 5, 0.5}},
		{"table", table(), []float64{0.2, 2, 0, 0.2}},
		// State 0: odds 1, 2, 4. State 1: odds 1, 1, exp(-400).
		{"softmax", softmax(), []float64{2.0 / 7, 2, math.Exp(-400) / 2 / 0.2, 2.0 / 7}},
	} {
		got := []float64{9, 9, 9, 9}
		if err := policy.Ratios(got, test.p, log()); err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		if d := cmp.Diff(test.want, got, cmpopts.EquateApprox(1e-14, 0)); d != "" {
			t.Errorf("%s: (-want +got)\n%s", test.name, d)
		}
		if err := policy.Check(test.p, log()); err != nil {
			t.Errorf("%s: Check: %v", test.name, err)
		}
	}
}

func TestDistributionsAgreeWithTheLoggedActions(t *testing.T) {
	d := log()
	for _, p := range []policy.Policy{
		policy.Logged{}, must(policy.NewUniform(4)), must(policy.NewConstant(1)), table(), softmax(),
	} {
		b := must(p.Bind(d))
		probs := make([]float64, 6)
		for row := range d.Rows() {
			for i := range probs {
				probs[i] = math.NaN()
			}
			if !b.Distribution(probs, row) {
				t.Errorf("%T: no distribution in row %d", p, row)
				continue
			}
			got, ok := b.Prob(row)
			if !ok || got != probs[d.Action[row]] {
				t.Errorf("%T: row %d: Prob %v, distribution %v", p, row, got, probs)
			}
			if !(math.Abs(floats.Sum(probs)-1) <= 6e-15) || !(floats.Max(probs) <= p.MaxProb()) || b.Actions() > 4 {
				t.Errorf("%T: row %d: distribution %v, bound %v, %d actions", p, row, probs, p.MaxProb(), b.Actions())
			}
		}
	}
	b := must(policy.ProbColumn{}.Bind(d))
	if b.Actions() != 0 || b.Distribution(make([]float64, 3), 0) {
		t.Error("a column of probabilities claims to know a distribution")
	}
}

func TestRowsOutsideThePolicyHaveRatioZeroAndAreReported(t *testing.T) {
	spoil := map[string]func(d *trajectory.Dataset){
		"a state outside":         func(d *trajectory.Dataset) { d.Obs[3] = 7777 },
		"a state missing":         func(d *trajectory.Dataset) { d.Obs[3] = math.NaN() },
		"an action outside":       func(d *trajectory.Dataset) { d.Action[3] = 7777 },
		"an action below zero":    func(d *trajectory.Dataset) { d.Action[3] = -1 },
		"behaviour probability 0": func(d *trajectory.Dataset) { d.BehaviorProb[3] = 0 },
		"a missing probability":   func(d *trajectory.Dataset) { d.BehaviorProb[3] = math.NaN() },
		"an overflowing ratio":    func(d *trajectory.Dataset) { d.BehaviorProb[3] = 5e-324 },
	}
	for name, f := range spoil {
		d := log()
		f(d)
		for _, p := range []policy.Policy{table(), softmax()} {
			rho := make([]float64, 4)
			if err := policy.Ratios(rho, p, d); err != nil {
				t.Fatal(err)
			}
			if rho[3] != 0 || rho[0] == 0 {
				t.Errorf("%s, %T: ratios %v", name, p, rho)
			}
			err := policy.Check(p, d)
			if !errors.Is(err, policy.ErrRow) || !errors.Is(err, trajectory.ErrInput) {
				t.Errorf("%s, %T: Check: %v; want ErrRow", name, p, err)
				continue
			}
			if text := err.Error(); !strings.HasPrefix(text, "log.csv:4: in step 1 ") || strings.Contains(text, "7777") {
				t.Errorf("%s, %T: Check: %s", name, p, text)
			}
		}
	}
}

func TestMissingColumnsAreNamed(t *testing.T) {
	off := []policy.Policy{must(policy.NewUniform(3)), must(policy.NewConstant(0)), table(), softmax(), policy.ProbColumn{}}
	for _, test := range []struct {
		column string
		drop   func(d *trajectory.Dataset)
		of     []policy.Policy
		want   error
	}{
		{"behavior_prob", func(d *trajectory.Dataset) { d.BehaviorProb = nil }, off, policy.ErrMissing},
		{"action", func(d *trajectory.Dataset) { d.Action = nil }, off[:4], policy.ErrMissing},
		{"target_prob", func(d *trajectory.Dataset) { d.TargetProb = nil }, off[4:], policy.ErrMissing},
		{`"s"`, func(d *trajectory.Dataset) { d.Columns = []string{"t"} }, off[2:4], feature.ErrColumn},
	} {
		d := log()
		test.drop(d)
		for _, p := range test.of {
			err := policy.Ratios(make([]float64, 4), p, d)
			if !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.column) {
				t.Errorf("%T without %s: %v", p, test.column, err)
			}
		}
		if err := policy.Ratios(make([]float64, 4), policy.Logged{}, d); err != nil {
			t.Errorf("logged without %s: %v", test.column, err)
		}
	}
}

func TestMaxRatioBoundsEveryRatio(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := log()
		floor := rapid.Float64Range(1e-3, 1).Draw(t, "floor")
		for row := range d.BehaviorProb {
			d.BehaviorProb[row] = rapid.Float64Range(floor, 1).Draw(t, "probability")
		}
		rho := make([]float64, 4)
		for _, p := range []policy.Policy{policy.Logged{}, must(policy.NewUniform(3)), must(policy.NewConstant(1)), table(), softmax(), policy.ProbColumn{}} {
			if err := policy.Ratios(rho, p, d); err != nil {
				t.Fatal(err)
			}
			most := math.Nextafter(p.MaxProb()/floor, math.Inf(1))
			if policy.OnPolicy(p) {
				most = 1
			}
			if !(floats.Max(rho) <= most) {
				t.Fatalf("%T: ratios %v exceed %v", p, rho, most)
			}
		}
	})
}

func TestReadTable(t *testing.T) {
	for _, text := range []string{
		"0.1,0.2,0.7\n0.5,0.5,0\n",
		"# two states\nstay,left,right\n0.1, 0.2, 0.7\n\n0.5, 0.5, 0",
	} {
		got, err := policy.ReadTable(strings.NewReader(text), "pi.csv", "s")
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if d := cmp.Diff(table(), got, cmp.Exporter(func(reflect.Type) bool { return true })); d != "" {
			t.Errorf("%q: (-want +got)\n%s", text, d)
		}
	}
	for text, want := range map[string]string{
		"":                  "pi.csv",
		"stay,go\n":         "pi.csv",
		"0.5,0.5\n0.5,x\n":  "pi.csv:2:2",
		"0.5,0.5\n0.5\n":    "pi.csv",
		"0.5,0.5\n0.5,0.6":  "state 1",
		"0.5,0.5\n1.5,-0.5": "state 1",
		"0.5,0.5\nNaN,1":    "state 1",
		"0.5,0.500002\n":    "state 0",
	} {
		_, err := policy.ReadTable(strings.NewReader(text), "pi.csv", "s")
		if !errors.Is(err, policy.ErrPolicy) || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v; want ErrPolicy at %s", text, err, want)
		}
	}
}

func TestReadSoftmax(t *testing.T) {
	good := `{"features":{"kind":"tabular","states":2,"column":"s"},"weights":[[0,0],[1,2]]}`
	p, err := policy.ReadSoftmax(strings.NewReader(good), "pi.json")
	if err != nil {
		t.Fatal(err)
	}
	b, probs := must(p.Bind(log())), make([]float64, 2)
	b.Distribution(probs, 1)
	if want := 1 / (1 + math.Exp(-2)); !(math.Abs(probs[1]-want) <= 1e-15) {
		t.Errorf("probability %v, want the logistic function of 2, %v", probs[1], want)
	}
	for _, text := range []string{
		``, `[]`, good + `{}`, good + `x`,
		strings.Replace(good, `"weights"`, `"weight"`, 1),
		strings.Replace(good, `"states":2`, `"states":3`, 1),
		strings.Replace(good, `tabular`, `tabulate`, 1),
		strings.Replace(good, `[[0,0],[1,2]]`, `[]`, 1),
		strings.Replace(good, `[0,0]`, `[0]`, 1),
		strings.Replace(good, `}`, `,"of":2}`, 1),
		strings.TrimSuffix(good, `}`) + `,"temperature":0}`,
		strings.TrimSuffix(good, `}`) + `,"temperature":-1}`,
	} {
		if _, err := policy.ReadSoftmax(strings.NewReader(text), "pi.json"); !errors.Is(err, policy.ErrPolicy) || !strings.Contains(err.Error(), "pi.json") {
			t.Errorf("%s: %v; want ErrPolicy", text, err)
		}
	}
}

func TestSoftmaxSurvivesLargeWeights(t *testing.T) {
	m := must(feature.NewTabular(2, "s"))
	p := must(policy.NewSoftmax(m, [][]float64{{1e300, 1e308}, {1e300, 0}, {0, 0}}, 1e-7))
	b, probs := must(p.Bind(log())), make([]float64, 3)
	// 1e300/1e-7 is finite; the first two actions tie.
	if !b.Distribution(probs, 0) || probs[0] != 0.5 || probs[1] != 0.5 || probs[2] != 0 {
		t.Errorf("distribution %v, want half and half", probs)
	}
	// 1e308/1e-7 overflows: no distribution rather than a wrong one.
	if b.Distribution(probs, 1) || floats.Norm(probs, 1) != 0 {
		t.Errorf("distribution %v after an overflow, want none", probs)
	}
}

// TestNetworksAreNoTargets: the form is that of train.Policy.
func TestNetworksAreNoTargets(t *testing.T) {
	text := `{"schema": "discreet/network-policy/v1", "columns": ["obs_x"], "network": {"Hidden": [16]}, "theta": [0]}`
	_, err := policy.ReadSoftmax(strings.NewReader(text), "pi.json")
	if !errors.Is(err, policy.ErrPolicy) || !strings.Contains(err.Error(), "network.hidden: []") {
		t.Errorf("%v; want ErrPolicy that says how to train another", err)
	}
}

func TestImpossiblePoliciesAreRefused(t *testing.T) {
	m := must(feature.NewTabular(2, "s"))
	for name, err := range map[string]error{
		"no actions":        second(policy.NewUniform(0)),
		"too many actions":  second(policy.NewUniform(1 << 30)),
		"negative action":   second(policy.NewConstant(-1)),
		"ragged table":      second(policy.NewTable([]float64{1, 0, 1}, 2, "s")),
		"table, no column":  second(policy.NewTable([]float64{1, 0}, 2, "")),
		"weight NaN":        second(policy.NewSoftmax(m, [][]float64{{0, math.NaN()}}, 1)),
		"temperature NaN":   second(policy.NewSoftmax(m, [][]float64{{0, 0}}, math.NaN())),
		"features missing":  second(policy.NewSoftmax(nil, [][]float64{{0, 0}}, 1)),
		"weights too short": second(policy.NewSoftmax(m, [][]float64{{0}}, 1)),
	} {
		if !errors.Is(err, policy.ErrPolicy) {
			t.Errorf("%s: %v; want ErrPolicy", name, err)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestProbAllocatesNothing(t *testing.T) {
	d := log()
	probs := make([]float64, 4)
	for _, p := range []policy.Policy{must(policy.NewUniform(4)), must(policy.NewConstant(1)), table(), softmax(), policy.ProbColumn{}} {
		b := must(p.Bind(d))
		if n := testing.AllocsPerRun(100, func() { b.Prob(1); b.Distribution(probs, 1) }); n != 0 {
			t.Errorf("%T allocates %v times a row", p, n)
		}
	}
}

// Repair leaves out the episodes with a row that a policy cannot judge, and no others.
func TestRepairLeavesOutWhatCheckComplainsOf(t *testing.T) {
	d := log()
	for name, c := range map[string]struct {
		target, behaviour policy.Policy
	}{
		"logged": {policy.Logged{}, nil}, "constant": {must(policy.NewConstant(1)), nil}, "few actions": {must(policy.NewUniform(1)), nil},
		"table": {table(), nil}, "design": {policy.Logged{}, must(policy.NewUniform(1))}, "both": {table(), must(policy.NewUniform(2))},
	} {
		got, left, err := policy.Repair(d, c.target, c.behaviour)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got.Persons() != d.Persons() || got.Episodes()+left != d.Episodes() {
			t.Errorf("%s: %d persons, %d episodes and %d left out of %d, %d", name, got.Persons(), got.Episodes(), left, d.Persons(), d.Episodes())
		}
		if c.behaviour != nil {
			if _, err := policy.WithBehavior(got, c.behaviour); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		if err := policy.Check(c.target, got); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, left, err := policy.Repair(d, must(policy.NewUniform(1)), nil); err != nil || left == 0 {
		t.Errorf("%d left out, %v; want some", left, err)
	}
	if _, _, err := policy.Repair(&trajectory.Dataset{}, must(policy.NewUniform(1)), nil); !errors.Is(err, policy.ErrMissing) {
		t.Errorf("%v; want ErrMissing", err)
	}
}
