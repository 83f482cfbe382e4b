package train_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train"
)

// faulty is an environment whose sensors give up after so many steps, for good
// unless each episode has as many again.
type faulty struct {
	sim.Env
	left, again int
}

var errSensor = errors.New("sensor out of range")

func (f *faulty) Reset(obs []float64, rng *rand.Rand) {
	if f.again > 0 {
		f.left = f.again
	}
	f.Env.Reset(obs, rng)
}

func (f *faulty) Step(obs []float64, action int) (sim.Outcome, error) {
	if f.left--; f.left < 0 {
		return sim.Outcome{}, errSensor
	}
	return f.Env.Step(obs, action)
}

// TestFailingEnvironmentIsNotHeard compares with an agent that always reports on
// zero, with the same noise: whatever happened, it is the same report.
func TestFailingEnvironmentIsNotHeard(t *testing.T) {
	for _, m := range []train.Mechanism{
		train.NotPrivate, train.Laplace, train.PRS, train.SignPRS, train.PrivUnit, train.Ball, train.Piecewise, train.Hybrid, train.OneBit,
	} {
		for _, steps := range []int{0, 5, 60} { // 60: beyond the first local step
			terms, l := linear(m)
			switch m {
			case train.NotPrivate:
				terms.Randomizer.Epsilon = 0
			case train.SignPRS, train.PrivUnit:
			default:
				terms.Randomizer.Clip = 1
			}
			l.Steps, l.Episodes, l.Optimizer = 20, 2, train.Optimizer{Kind: "sgd", Step: .1}
			if m == train.OneBit {
				l.Method, l.Steps, l.Episodes, l.Perturbation = train.Evolution, 1, 40, .1
			}
			agg := aggregator(t, terms, train.Options{})
			control := l
			control.ZeroGradient = true
			a, zero := agent(t, l, terms.Randomizer, 1e3, 1), agent(t, control, terms.Randomizer, 1e3, 1)
			a.Player = must2(a.Device.Player(&faulty{Env: must2(poles()[0].New())(t), left: steps}))(t)
			for n := range uint64(10) {
				a.Noise, zero.Noise = noise.NewSeeded(n), noise.NewSeeded(n)
				task := agg.Issue(0)
				report, out, err := a.Answer(context.Background(), &task, make([]float64, 8))
				if err != nil {
					t.Fatalf("%s, after %d steps: %v; silence tells of the failure", m, steps, err)
				}
				if out.Score != 0 || out.Steps != 0 || !errors.Is(out.Failed, errSensor) {
					t.Errorf("%s, after %d steps: the agent is told %+v; want its failure", m, steps, out)
				}
				if !bytes.Equal(report, answer(t, zero, task, 8)) {
					t.Errorf("%s, after %d steps: not the report on zero", m, steps)
				}
				if m != train.NotPrivate && !bytes.Equal(report, answer(t, a, task, 8)) {
					t.Errorf("%s, after %d steps: a retry sent other bytes", m, steps)
				}
				submit(t, agg, report, train.Accepted)
			}
			if m == train.NotPrivate {
				continue
			}
			if b := must2(a.Wallet.Spent(context.Background()))(t); b.Epsilon != 20 {
				t.Errorf("%s, after %d steps: epsilon %v spent on ten reports of 2", m, steps, b.Epsilon)
			}
		}
	}
}

// TestRunGoesOnWhereEnvironmentsFail: training agents and evaluators alike.
func TestRunGoesOnWhereEnvironmentsFail(t *testing.T) {
	for _, fails := range []bool{false, true} {
		c := ours(1, train.SignPRS, 1, 20)
		// Every episode scores above 0 as soon as it has a step.
		c.Success = &train.Success{Every: 10, Agents: 8, Epsilon: 40, Threshold: .5}
		healthy := poles()[0].New
		c.Environments = []train.Environment{{Name: "a pole", New: func() (sim.Env, error) {
			env, err := healthy()
			if fails {
				env = &faulty{Env: env, again: 3}
			}
			return env, err
		}}}
		failed := 0
		c.Progress = func(p train.Progress) bool {
			if errors.Is(p.Failed, errSensor) {
				failed++
			}
			return true
		}
		r, err := train.Train(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		want, share := 0, 1.
		if fails {
			want, share = 20, 0
		}
		if r.Accepted != 20 || failed != want {
			t.Errorf("failures %v: %d accepted, %d failures told; want 20 and %d", fails, r.Accepted, failed, want)
		}
		// At epsilon 40 one of the 16 answers lies with probability below 1e-16.
		for _, e := range r.Success {
			if e.Agents != 8 || e.Share < share-1e-6 || e.Share > share+1e-6 {
				t.Errorf("failures %v: %+v; want a share of %v of 8 agents", fails, e, share)
			}
		}
		if len(r.Success) != 2 {
			t.Errorf("failures %v: %d estimates; want 2", fails, len(r.Success))
		}
	}
}
