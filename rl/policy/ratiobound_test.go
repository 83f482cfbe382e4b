package policy_test

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/policy"
)

// distribution draws eighths that add up to 1, some of them 0.
func distribution(t *rapid.T, actions int, name string) []float64 {
	p := make([]float64, actions)
	for range 8 {
		p[rapid.IntRange(0, actions-1).Draw(t, name)] += 1.0 / 8
	}
	return p
}

// TestRatioBoundHoldsInEveryState compares with what the definition says, state by state:
// of two tables of the same states all three numbers are exact, and where target and
// behaviour are told apart they bound what any pair of states makes.
func TestRatioBoundHoldsInEveryState(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const actions = 3
		states := rapid.IntRange(1, 4).Draw(t, "states")
		var pi, b []float64
		for range states {
			pi = append(pi, distribution(t, actions, "pi")...)
			b = append(b, distribution(t, actions, "b")...)
		}
		of := func(p []float64, column string) policy.Policy {
			table, err := policy.NewTable(p, actions, column)
			if err != nil {
				t.Fatal(err)
			}
			return table
		}
		usual, cube := 0.0, 0.0
		for k := range pi {
			if b[k] > 0 {
				usual += pi[k] * pi[k] / b[k] / float64(states)
				cube += pi[k] * pi[k] / b[k] * pi[k] / b[k] / float64(states)
			}
		}
		// worst compares the target of state i with the behaviour of state j.
		worst := func(pairs func(i, j int) bool) (ratio, square float64, supported bool) {
			supported = true
			for i := range states {
				for j := range states {
					if !pairs(i, j) {
						continue
					}
					sum := 0.0
					for a := range actions {
						p, q := pi[i*actions+a], b[j*actions+a]
						if q > 0 {
							ratio, sum = max(ratio, p/q), sum+p*p/q
						}
						supported = supported && (p == 0 || q > 0)
					}
					square = max(square, sum)
				}
			}
			return ratio, square, supported
		}
		same, ok := policy.BoundRatios(of(pi, "obs_s"), of(b, "obs_s"))
		ratio, square, supported := worst(func(i, j int) bool { return i == j })
		if !ok || math.Abs(same.Ratios[0]-ratio) > 1e-9 || math.Abs(same.Squares[0]-square) > 1e-9 || math.Abs(same.Usual[0]-usual) > 1e-9 || same.Supported != supported || same.Ratios[0] < ratio {
			t.Fatalf("%+v; want ratio %v, square %v, usually %v, supported %v", same, ratio, square, usual, supported)
		}
		if same.Cubes != nil && math.Abs(same.Cubes[0]-cube) > 1e-9*cube {
			t.Fatalf("mean cubes %v; want %v", same.Cubes, cube)
		}
		apart, ok := policy.BoundRatios(of(pi, "obs_s"), of(b, "obs_other"))
		ratio, square, supported = worst(func(int, int) bool { return true })
		if !ok || apart.Ratios[0] < ratio || apart.Squares[0] < square*(1-1e-12) || apart.Supported && !supported {
			t.Fatalf("apart %+v; the worst pair of states has ratio %v, square %v, supported %v", apart, ratio, square, supported)
		}
	})
}

func TestRatioBoundsOfDesigns(t *testing.T) {
	uniform := func(k int) policy.Policy { return must(policy.NewUniform(k)) }
	constant := func(a int) policy.Policy { return must(policy.NewConstant(a)) }
	byStep := func(probs ...[]float64) policy.Policy { return must(policy.NewByStep(probs)) }
	softmax := must(policy.ReadSoftmax(strings.NewReader(`{"kind": "softmax", "inputs": ["obs_x"], "weights": [[0], [1]]}`), "softmax.json"))
	tree := must(policy.NewTree([]string{"obs_x"}, []policy.Node{{Input: "obs_x", Threshold: new(float64), Left: 1, Right: 2}, {Probs: []float64{0.25, 0.75}}, {Probs: []float64{0.5, 0.5}}}, false))
	for name, c := range map[string]struct {
		target, behaviour policy.Policy
		want              policy.RatioBound
		ok                bool
	}{
		"one of four":                   {constant(3), uniform(4), policy.RatioBound{Ratios: []float64{4}, Squares: []float64{4}, Supported: true}, true},
		"one that is none of four":      {constant(4), uniform(4), policy.RatioBound{Ratios: []float64{0}, Squares: []float64{0}}, true},
		"two of four":                   {uniform(2), uniform(4), policy.RatioBound{Ratios: []float64{2}, Squares: []float64{2}, Supported: true}, true},
		"a trial of arms":               {constant(1), byStep([]float64{0.75, 0.25}, []float64{1}), policy.RatioBound{Ratios: []float64{4, 1}, Squares: []float64{4, 1}, Supported: true}, true},
		"a trial without that arm":      {constant(1), byStep([]float64{1, 0}, []float64{1}), policy.RatioBound{Ratios: []float64{0, 1}, Squares: []float64{0, 1}}, true},
		"a trial that names no arms":    {constant(1), byStep([]float64{0.5}, []float64{1}), policy.RatioBound{Ratios: []float64{2, 1}, Squares: []float64{2, 1}}, true},
		"a policy that leaves its arm":  {uniform(2), byStep([]float64{0.5, 0.5}, []float64{1}), policy.RatioBound{Ratios: []float64{1, 0.5}, Squares: []float64{1, 0.5}}, true},
		"arms drawn twice, then sure":   {constant(0), byStep([]float64{0.5, 0.5}, []float64{0.25, 0.75}, []float64{1}), policy.RatioBound{Ratios: []float64{2, 4, 1}, Squares: []float64{2, 4, 1}}, true},
		"softmax of two in four":        {softmax, uniform(4), policy.RatioBound{Ratios: []float64{4}, Squares: []float64{4}, Supported: true}, true},
		"a column":                      {policy.ProbColumn{}, uniform(4), policy.RatioBound{Ratios: []float64{4}, Squares: []float64{4}}, true},
		"one of a tree":                 {constant(0), tree, policy.RatioBound{Ratios: []float64{4}, Squares: []float64{4}, Supported: true}, true},
		"drawn by softmax":              {constant(0), softmax, policy.RatioBound{}, false},
		"drawn with what a column says": {constant(0), policy.ProbColumn{}, policy.RatioBound{}, false},
	} {
		got, ok := policy.BoundRatios(c.target, c.behaviour)
		if ok != c.ok || len(got.Ratios) != len(c.want.Ratios) || got.Supported != c.want.Supported {
			t.Errorf("%s: %+v, %v; want %+v, %v", name, got, ok, c.want, c.ok)
			continue
		}
		for i := range got.Ratios {
			if r, q := got.Ratios[i]-c.want.Ratios[i], got.Squares[i]-c.want.Squares[i]; r < 0 || r > 1e-11 || q < 0 || q > 1e-11 {
				t.Errorf("%s: %+v; want %+v", name, got, c.want)
			}
		}
	}
}
