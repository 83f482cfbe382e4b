package refine

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/internal/xmath"
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

func advancing(p float64) policy.Policy {
	return must(policy.NewTable(chain.Policy(p), chain.Actions, chain.Column))
}

func chainSample(d *trajectory.Dataset, target policy.Policy) *value.Sample {
	return must(value.NewSample(d, value.Options{Gamma: 0.99, Features: must(feature.NewTabular(chain.States, chain.Column)), Policy: target}))
}

// TestClipWithSquareStaysInTheBall: the square rides along without leaving the
// ball that the clip promises, for any vector whatsoever.
func TestClipWithSquareStaysInTheBall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.OneOf(rapid.Float64Range(-3, 3), rapid.Float64(), rapid.SampledFrom([]float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.MaxFloat64}))
		x := rapid.SliceOfN(number, 1, 8).Draw(t, "x")
		clip := rapid.Float64Range(1e-6, 1e6).Draw(t, "clip")
		given := append([]float64(nil), x...)
		x = append(x, 0)
		n := len(given)
		clipWithSquare(x, n, clip)
		if got := math.Sqrt(xmath.SquareNorm(x)); !(got <= clip*(1+1e-12)) {
			t.Fatalf("norm %v above the clip %v", got, clip)
		}
		if want := xmath.SquareNorm(x[:n])/clip - clip; math.Abs(x[n]-want) > 1e-9*clip {
			t.Fatalf("the square is written as %v; want %v", x[n], want)
		}
		if norm := math.Sqrt(xmath.SquareNorm(given)); norm <= clip {
			for i, v := range given {
				if x[i] != v {
					t.Fatalf("a vector inside the ball was changed: %v became %v", given, x[:n])
				}
			}
		}
	})
}

// TestVisitNorm holds the norm of the counts against every number of visits.
func TestVisitNorm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim, visits := rapid.IntRange(1, 60).Draw(t, "dim"), rapid.IntRange(1, 80).Draw(t, "visits")
		for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
			centre, norm := visitNorm(adjacency, dim, visits)
			for k := 0; k <= min(dim, visits); k++ {
				square := float64(k)*(1-centre)*(1-centre) + float64(dim-k)*centre*centre
				if math.Sqrt(square) > norm*(1+1e-12) {
					t.Fatalf("%v: %d visits of %d make norm %v; promised %v", adjacency, k, dim, math.Sqrt(square), norm)
				}
			}
			if adjacency == dp.AddRemoveOne && centre != 0 {
				t.Fatal("a centre under add_remove_one gives away the number of persons")
			}
		}
	})
}

// TestResidualsAreReturnsLessValues compares, on-policy and walked through, with
// first-visit Monte Carlo; the remembered returns must give the same.
func TestResidualsAreReturnsLessValues(t *testing.T) {
	d := must(chain.Simulate(chain.Options{Episodes: 90, Seed: 3, EpisodesPerPerson: 3}))
	s := chainSample(d, policy.Logged{})
	walk := must(value.NewFirstVisits(s))
	limits := residualLimits{returns: facts.Range{Min: 0, Max: 1}}
	v := make([]float64, chain.States)
	for i := range v {
		v[i] = rand.New(rand.NewPCG(4, uint64(i))).Float64()
	}
	plain, remembered := newResiduals(s, s.Features.(feature.Finite), v, 0.5, limits), newResiduals(s, s.Features.(feature.Finite), v, 0.5, limits)
	remembered.cache = newReturnsByCell(s, s.Features.(feature.Finite), limits)
	for p := range d.Persons() {
		walk.Person(p)
		want := map[int32]float64{}
		for i, state := range walk.States {
			want[state] = walk.Returns[i] - v[state]
		}
		for name, r := range map[string]*residuals{"walked": plain, "remembered": remembered} {
			r.person(p)
			if len(r.cells) != len(want) {
				t.Fatalf("%s: person %d visits %d cells; want %d", name, p, len(r.cells), len(want))
			}
			for i, c := range r.cells {
				if math.Abs(r.mean[i]-want[c]) > 1e-12 {
					t.Fatalf("%s: person %d, state %d: residual %v; want %v", name, p, c, r.mean[i], want[c])
				}
			}
		}
	}
}

// TestResidualsAreDoublyRobust: off-policy, the mean residual of a state is its
// exact value under the target less V, whatever V is. Five standard errors for
// 40 states: false alarms about 2e-5, with a fixed seed.
func TestResidualsAreDoublyRobust(t *testing.T) {
	d := must(chain.Simulate(chain.Options{Episodes: 40000, Seed: 5}))
	s := chainSample(d, advancing(0.6))
	truth := chain.Values(0.6, 0.99)
	for _, v0 := range []float64{0.5, 0.9} {
		v := make([]float64, chain.States)
		for i := range v {
			v[i] = v0
		}
		r := newResiduals(s, s.Features.(feature.Finite), v, 0, residualLimits{largest: 1e9})
		var sum, square, n [chain.States]float64
		for p := range d.Persons() {
			r.person(p)
			for i, c := range r.cells {
				sum[c] += r.mean[i]
				square[c] += r.mean[i] * r.mean[i]
				n[c]++
			}
		}
		for c := range sum {
			mean := sum[c] / n[c]
			stderr := math.Sqrt((square[c]/n[c] - mean*mean) / n[c])
			// Weights of early states are heavy-tailed: their standard error is itself
			// uncertain, so only the later half is held to it.
			if c >= chain.States/2 && math.Abs(mean+v0-truth[c]) > 5*stderr {
				t.Errorf("V = %v, state %d: value plus residual is %v +- %v; exact %v", v0, c, mean+v0, stderr, truth[c])
			}
		}
	}
}

// TestResidualsOfTruncatedEpisodes by hand: gamma = 1/2, states 0, 1, then cut
// off before state 2, known or not. V = (.2, .4, .8).
func TestResidualsOfTruncatedEpisodes(t *testing.T) {
	d := &trajectory.Dataset{
		Columns: []string{"obs_state"}, PersonStart: []int{0, 1, 2}, EpisodeStart: []int{0, 2, 4},
		Obs: []float64{0, 1, 0, 1}, Reward: []float64{0.1, 0.3, 0.1, 0.3},
		Terminated: []bool{false, false}, Final: []float64{2, 0}, HasFinal: []bool{true, false},
	}
	s := must(value.NewSample(d, value.Options{Gamma: 0.5, Features: must(feature.NewTabular(3, "obs_state"))}))
	r := newResiduals(s, s.Features.(feature.Finite), []float64{0.2, 0.4, 0.8}, 0, residualLimits{returns: facts.Range{Min: 0, Max: 1}})
	want := [][]float64{
		{0.1 + 0.5*(0.3+0.5*0.8) - 0.2, 0.3 + 0.5*0.8 - 0.4},
		{0.1 + 0.5*0.4 - 0.2, 0},
	}
	for p, w := range want {
		r.person(p)
		for i, c := range r.cells {
			if math.Abs(r.mean[i]-w[c]) > 1e-15 {
				t.Errorf("person %d, state %d: residual %v; want %v", p, c, r.mean[i], w[c])
			}
		}
	}
}

// TestBeliefIsTheNormalPosterior compares with dense Gaussian conditioning.
func TestBeliefIsTheNormalPosterior(t *testing.T) {
	const n = 5
	x := []float64{-0.4, -0.1, 0, 0.2, 0.3}
	b := newBelief(0.7, 0.3, 2, 0.04, x)
	prior := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			c := b.level + b.slope*x[i]*x[j]
			if i == j {
				c += b.state
			}
			prior.SetSym(i, j, c)
		}
	}
	seen := map[int][2]float64{0: {0.9, 0.5}, 2: {0.1, 0.02}, 4: {1.4, 0.3}}
	var precision, inverse mat.Dense
	if err := inverse.Inverse(prior); err != nil {
		t.Fatal(err)
	}
	precision.CloneFrom(&inverse)
	right := mat.NewVecDense(n, nil)
	for i := range n {
		sum := 0.0
		for j := range n {
			sum += inverse.At(i, j) * 0.7
		}
		right.SetVec(i, sum)
	}
	for s, o := range seen {
		b.observe(s, o[0], o[1])
		precision.Set(s, s, precision.At(s, s)+1/o[1])
		right.SetVec(s, right.AtVec(s)+o[0]/o[1])
	}
	b.update()
	var covariance mat.Dense
	var mean mat.VecDense
	if err := covariance.Inverse(&precision); err != nil {
		t.Fatal(err)
	}
	mean.MulVec(&covariance, right)
	for s := range n {
		if math.Abs(b.mean[s]-mean.AtVec(s)) > 1e-9 || math.Abs(b.variance[s]-covariance.At(s, s)) > 1e-9 {
			t.Errorf("cell %d: %v, variance %v; conditioning gives %v, %v", s, b.mean[s], b.variance[s], mean.AtVec(s), covariance.At(s, s))
		}
	}
}
