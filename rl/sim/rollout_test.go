package sim_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/internal/rl/sim/cartpole"
	"github.com/discreet-rl/discreet/internal/rl/sim/hiv"
	"github.com/discreet-rl/discreet/internal/rl/sim/mountaincar"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
	"gonum.org/v1/gonum/floats"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func newCar() (sim.Env, error)  { return mountaincar.New(mountaincar.Options{}) }
func newPole() (sim.Env, error) { return cartpole.New(cartpole.Options{}) }
func newHIV() (sim.Env, error) {
	return hiv.New(hiv.Options{Population: hiv.Randomised, StartSpread: 0.1, Tolerance: 1e-4})
}

func run(t testing.TB, r sim.Rollout) *trajectory.Dataset {
	t.Helper()
	d, err := r.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func balance(epsilon float64) policy.Policy {
	m := must(feature.NewColumns(cartpole.Columns(), []feature.Range{{Low: -10, High: 10}, {Low: -10, High: 10}, {Low: -10, High: 10}, {Low: -10, High: 10}},
		feature.ColumnsOptions{Symmetric: true}))
	return must(policy.NewSoftGreedy(m, [][]float64{{0, 0, 0, 0}, {0.05, 0.1, 1, 0.5}}, epsilon))
}

// Every recorded row is replayed: the action from the recorded observation leads
// to the next one, with the recorded reward.
func TestEveryRowIsAStepOfTheProblem(t *testing.T) {
	for _, r := range []sim.Rollout{
		{New: newCar, Policy: must(policy.NewUniform(3)), Episodes: 40, Seed: 1, MaxSteps: 70},
		{New: newPole, Policy: balance(0.3), Episodes: 40, Seed: 2, MaxSteps: 60},
	} {
		d := run(t, r)
		env := must(r.New())
		terminated := 0
		for e := range d.Episodes() {
			lo, hi := d.EpisodeStart[e], d.EpisodeStart[e+1]
			for row := lo; row < hi; row++ {
				obs := slices.Clone(d.Observation(row))
				switch env := env.(type) {
				case *mountaincar.Env:
					env.State = [2]float64(obs)
				case *cartpole.Env:
					env.Reset(make([]float64, 4), rand.New(rand.NewPCG(1, 1)))
					env.State = [4]float64(obs)
				}
				out := must(env.Step(obs, int(d.Action[row])))
				last := row == hi-1
				if out.Reward != d.Reward[row] || out.Terminated != (last && d.Terminated[e]) {
					t.Fatalf("episode %d, row %d: %+v, recorded %v, terminated %v", e, row, out, d.Reward[row], d.Terminated[e])
				}
				var next []float64
				switch {
				case !last:
					next = d.Observation(row + 1)
				case !d.Terminated[e]:
					next = d.FinalObservation(e)
				default:
					terminated++
					continue
				}
				if !slices.Equal(obs, next) {
					t.Fatalf("episode %d, row %d: leads to %v, recorded %v", e, row, obs, next)
				}
			}
			if n := hi - lo; n > r.MaxSteps || !d.Terminated[e] && n != r.MaxSteps {
				t.Errorf("episode %d has %d steps, terminated %v, limit %d", e, n, d.Terminated[e], r.MaxSteps)
			}
			if d.Terminated[e] && d.FinalObservation(e) != nil {
				t.Errorf("episode %d terminated and has a final observation", e)
			}
			if d.FirstRow[e] != lo+1 || d.Origin[e] != env.Spec().Name {
				t.Errorf("episode %d begins in row %d of %q", e, d.FirstRow[e], d.Origin[e])
			}
		}
		if _, ok := env.(*cartpole.Env); ok && (terminated == 0 || terminated == d.Episodes()) {
			t.Errorf("%d of %d episodes terminated: one way to end is not tested", terminated, d.Episodes())
		}
	}
}

func TestDataDependOnTheSeedAlone(t *testing.T) {
	for name, r := range map[string]sim.Rollout{
		"car":  {New: newCar, Policy: must(policy.NewUniform(3)), Episodes: 100, Seed: 7, MaxSteps: 30},
		"pole": {New: newPole, Policy: balance(0.5), Episodes: 100, Seed: 7},
		"hiv":  {New: newHIV, Policy: must(policy.NewUniform(4)), Episodes: 40, Seed: 7, MaxSteps: 3},
	} {
		r.Workers = 1
		one := run(t, r)
		r.Workers = 5
		if d := cmp.Diff(one, run(t, r)); d != "" {
			t.Errorf("%s: one worker and five differ:\n%.500s", name, d)
		}
		r.Episodes -= 23
		shorter := run(t, r)
		n := shorter.Rows()
		if !slices.Equal(one.Obs[:n*len(one.Columns)], shorter.Obs) || !slices.Equal(one.EpisodeStart[:r.Episodes+1], shorter.EpisodeStart) {
			t.Errorf("%s: a shorter rollout is not the beginning of a longer one", name)
		}
		r.Seed = 8
		if slices.Equal(run(t, r).Action, shorter.Action) {
			t.Errorf("%s: seeds 7 and 8 give the same actions", name)
		}
	}
}

// The recorded probabilities are those of the policy, bit for bit, and a policy
// evaluated on data that it logged itself has ratios of exactly 1.
func TestRecordedProbabilitiesAreThePolicys(t *testing.T) {
	m := must(feature.NewColumns(cartpole.Columns()[2:], []feature.Range{{Low: -1, High: 1}, {Low: -3, High: 3}}, feature.ColumnsOptions{}))
	for _, p := range []policy.Policy{
		must(policy.NewUniform(2)), must(policy.NewConstant(1)), balance(0.2),
		must(policy.NewSoftmax(m, [][]float64{{0, 0}, {3, 2}}, 0.7)), late(3),
	} {
		d := run(t, sim.Rollout{New: newPole, Policy: p, Episodes: 50, Seed: 3})
		rho := make([]float64, d.Rows())
		if err := policy.Ratios(rho, p, d); err != nil {
			t.Fatal(err)
		}
		for row, r := range rho {
			probs := d.ActionProbs[row*d.Actions : (row+1)*d.Actions]
			if r != 1 || probs[d.Action[row]] != d.BehaviorProb[row] || !(math.Abs(floats.Sum(probs)-1) <= 1e-15) {
				t.Fatalf("%T: row %d: ratio %v, probabilities %v, recorded %v", p, row, r, probs, d.BehaviorProb[row])
			}
		}
		if err := policy.Check(p, d); err != nil {
			t.Error(err)
		}
	}
}

// late takes action 1 more often from a decision on.
func late(step float64) policy.Policy {
	at := step - 0.5
	return must(policy.NewTree(cartpole.Columns(), []policy.Node{{Step: true, Threshold: &at, Left: 1, Right: 2}, {Probs: []float64{0.875, 0.125}}, {Probs: []float64{0.25, 0.75}}}, false))
}

// Actions are drawn with the recorded probabilities: over n rows the number of
// actions 1 less its expectation is a martingale whose steps lie in an interval of
// length 1, so that by Azuma and Hoeffding it leaves 3 sqrt(n) with probability
// at most 2 exp(-18), 3.1e-8; the seed is fixed.
func TestActionsAreDrawnWithTheirProbabilities(t *testing.T) {
	for _, p := range []policy.Policy{must(policy.NewUniform(2)), balance(0.3)} {
		d := run(t, sim.Rollout{New: newPole, Policy: p, Episodes: 2000, Seed: 5, MaxSteps: 100})
		excess := 0.0
		for row, a := range d.Action {
			excess += float64(a) - d.ActionProbs[2*row+1]
		}
		if !(math.Abs(excess) <= 3*math.Sqrt(float64(d.Rows()))) {
			t.Errorf("%T: %v actions too many in %d rows", p, excess, d.Rows())
		}
	}
}

func TestPersonsOwnConsecutiveEpisodes(t *testing.T) {
	d := run(t, sim.Rollout{New: newPole, Policy: must(policy.NewUniform(2)), Episodes: 50, Seed: 1, EpisodesPerPerson: 7})
	if diff := cmp.Diff([]int{0, 7, 14, 21, 28, 35, 42, 49, 50}, d.PersonStart); diff != "" {
		t.Error(diff)
	}
}

func TestImpossibleRolloutsAreRefused(t *testing.T) {
	good := sim.Rollout{New: newPole, Policy: must(policy.NewUniform(2)), Episodes: 3}
	for name, change := range map[string]func(*sim.Rollout){
		"no problem":          func(r *sim.Rollout) { r.New = nil },
		"no policy":           func(r *sim.Rollout) { r.Policy = nil },
		"no episode":          func(r *sim.Rollout) { r.Episodes = 0 },
		"negative limit":      func(r *sim.Rollout) { r.MaxSteps = -1 },
		"negative persons":    func(r *sim.Rollout) { r.EpisodesPerPerson = -1 },
		"negative workers":    func(r *sim.Rollout) { r.Workers = -1 },
		"too many actions":    func(r *sim.Rollout) { r.Policy = must(policy.NewUniform(3)) },
		"no limit":            func(r *sim.Rollout) { r.New = func() (sim.Env, error) { return endless{}, nil } },
		"no distribution":     func(r *sim.Rollout) { r.New = func() (sim.Env, error) { return broken{}, nil }; r.Policy = tabular() },
		"problem of its own":  func(r *sim.Rollout) { r.New = func() (sim.Env, error) { return nil, sim.ErrOptions } },
		"policy without data": func(r *sim.Rollout) { r.Policy = policy.ProbColumn{} },
	} {
		r := good
		change(&r)
		d, err := r.Run(context.Background())
		if d != nil || !errors.Is(err, sim.ErrOptions) && !errors.Is(err, policy.ErrMissing) {
			t.Errorf("%s: %v, %v; want an error", name, d, err)
		}
	}
}

func TestAnUnknownColumnIsNamed(t *testing.T) {
	r := sim.Rollout{New: newCar, Policy: balance(0.1), Episodes: 3}
	if _, err := r.Run(context.Background()); !errors.Is(err, feature.ErrColumn) {
		t.Errorf("a policy for another problem: %v; want ErrColumn", err)
	}
}

// endless has no limit and never ends; broken shows what no policy can read, and
// fails where asked to.
type endless struct{ sim.Env }

func (endless) Spec() sim.Spec { return sim.Spec{Name: "endless", Columns: []string{"s"}, Actions: 2} }

type broken struct{ fail error }

func (broken) Spec() sim.Spec {
	return sim.Spec{Name: "broken", Columns: []string{"s"}, Actions: 2, MaxSteps: 5}
}
func (broken) Reset(obs []float64, _ *rand.Rand) { obs[0] = math.NaN() }
func (b broken) Step(obs []float64, _ int) (sim.Outcome, error) {
	return sim.Outcome{}, b.fail
}

func tabular() policy.Policy {
	return must(policy.NewTable([]float64{0.5, 0.5, 0.5, 0.5}, 2, "s"))
}

func TestAFailingProblemEndsTheRollout(t *testing.T) {
	fail := errors.New("the simulation failed")
	r := sim.Rollout{New: func() (sim.Env, error) { return broken{fail}, nil }, Policy: must(policy.NewUniform(2)), Episodes: 500, Workers: 4}
	if _, err := r.Run(context.Background()); !errors.Is(err, fail) {
		t.Errorf("%v; want the problem's own error", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (sim.Rollout{New: newPole, Policy: must(policy.NewUniform(2)), Episodes: 5}).Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v; want Canceled", err)
	}
}

func TestFloat32RoundsWhatIsSeenAndNotTheState(t *testing.T) {
	pole := must(cartpole.New(cartpole.Options{}))
	env := sim.Float32(pole)
	obs := make([]float64, 4)
	env.Reset(obs, rand.New(rand.NewPCG(1, 1)))
	for range 5 {
		for i, v := range obs {
			if v != float64(float32(pole.State[i])) || v == pole.State[i] {
				t.Errorf("component %d: %v of %v", i, v, pole.State[i])
			}
		}
		must(env.Step(obs, 1))
	}
}

func TestTimeLimitCountsFromReset(t *testing.T) {
	env := sim.TimeLimit(must(newCar()), 3)
	if env.Spec().MaxSteps != 3 {
		t.Errorf("limit %d", env.Spec().MaxSteps)
	}
	obs := make([]float64, 2)
	for range 2 {
		env.Reset(obs, rand.New(rand.NewPCG(1, 1)))
		for i := range 3 {
			if out := must(env.Step(obs, 1)); out.Truncated != (i == 2) || out.Terminated {
				t.Errorf("step %d: %+v", i, out)
			}
		}
	}
}

func benchmark(b *testing.B, r sim.Rollout) {
	steps := 0
	for b.Loop() {
		steps += run(b, r).Rows()
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds()/1e6, "Msteps/s")
}

func BenchmarkRolloutMountainCar(b *testing.B) {
	benchmark(b, sim.Rollout{New: newCar, Policy: must(policy.NewUniform(3)), Episodes: 500, Seed: 1, Workers: 1})
}

func BenchmarkRolloutCartPole(b *testing.B) {
	benchmark(b, sim.Rollout{New: newPole, Policy: must(policy.NewUniform(2)), Episodes: 5000, Seed: 1, Workers: 1})
}

func BenchmarkRolloutHIV(b *testing.B) {
	benchmark(b, sim.Rollout{New: func() (sim.Env, error) { return hiv.New(hiv.Options{}) },
		Policy: must(policy.NewUniform(4)), Episodes: 16, Seed: 1, Workers: 1})
}
