package gpope

import (
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// ramps are n dense features of the chain's state: cosines of rising frequency.
type ramps int

func (f ramps) Dim() int                             { return int(f) }
func (f ramps) Columns() []string                    { return []string{chain.Column} }
func (f ramps) NormBound() float64                   { return math.Sqrt(float64(f)) }
func (f ramps) Bind([]string) (feature.Bound, error) { return f, nil }
func (f ramps) Apply(dst, obs []float64) bool {
	for i := range dst {
		dst[i] = math.Cos(math.Pi * float64(i) * obs[0] / chain.States)
	}
	return true
}

// algorithm1 is the walk of the paper on a dataset, one uniform person a step, with
// a noise multiplier of 1.
func algorithm1(t testing.TB, d *trajectory.Dataset, features feature.Map, kind mechanism.Noise) (*Walk, *value.Sample) {
	t.Helper()
	_, oneHot := features.(feature.Finite)
	persons := int64(d.Persons())
	w := &Walk{
		Public: facts.Public{Persons: persons, Adjacency: dp.ReplaceOne, Noise: kind, Gamma: 0.99,
			Reward: facts.Range{Min: 0, Max: 1}, Returns: facts.Range{Min: 0, Max: 1}, Horizon: 1000, Features: features, Target: policy.Logged{}},
		Scheme: NewScheme(Uniform, persons, 1), N: features.Dim(), OneHot: oneHot, Iterations: persons,
		Clip: 0.02, StepTheta: 0.1, StepW: 0.1, Schedule: Schedule{Name: "constant", Constant: 1},
		Scale: make([]float64, features.Dim()), Weighting: value.ByTrajectory, Shrink: 1, Multiplier: 1,
	}
	for i := range w.Scale {
		w.Scale[i] = 1
	}
	s, err := value.NewSample(d, value.Options{Gamma: 0.99, Features: features, Policy: policy.Logged{}})
	if err != nil {
		t.Fatal(err)
	}
	return w, s
}

// miniBatch is the walk with the project's defaults for a small budget.
func miniBatch(t testing.TB, d *trajectory.Dataset, features feature.Map, kind mechanism.Noise, batch int64) (*Walk, *value.Sample) {
	t.Helper()
	w, s := algorithm1(t, d, features, kind)
	w.Scheme = NewScheme(Poisson, w.Public.Persons, batch)
	w.Clip, w.StepTheta, w.StepW = 0.01, 0.3, 0.2
	w.Average, w.Project = true, w.OneHot
	for i := range w.Scale {
		w.Scale[i] = math.Sqrt(float64(w.N)) / features.NormBound()
	}
	if w.OneHot {
		w.Start = 0.5
	}
	return w, s
}

// oneHot4 and ring: four states in a ring, persons whose episodes begin all around
// it; enough for every coordinate to move.
func oneHot4(t testing.TB) feature.Map {
	t.Helper()
	f, err := feature.NewTabular(4, chain.Column)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func ring(persons int) *trajectory.Dataset {
	d := &trajectory.Dataset{Columns: []string{chain.Column}, PersonStart: []int{0}, EpisodeStart: []int{0}}
	for p := range persons {
		for step := range 2 + p%3 {
			d.Obs = append(d.Obs, float64((p+step)%4))
			d.Reward = append(d.Reward, float64((p+step)%2)/4)
		}
		d.EpisodeStart = append(d.EpisodeStart, len(d.Reward))
		d.PersonStart = append(d.PersonStart, p+1)
		d.Terminated = append(d.Terminated, true)
	}
	return d
}
