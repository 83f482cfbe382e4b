package device_test

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
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
				l.Method, l.Steps, l.Episodes, l.Perturbation = device.Evolution, 1, 40, .1
			}
			agg := aggregator(t, terms)
			control := l
			control.ZeroGradient = true
			a, zero := agent(t, l, terms.Randomizer, 1e3, 1), agent(t, control, terms.Randomizer, 1e3, 1)
			a.player = must(a.device.Player(&faulty{Env: must(pole())(t), left: steps}))(t)
			for n := range uint64(10) {
				a.Noise, zero.Noise = noise.NewSeeded(n), noise.NewSeeded(n)
				task := agg.Issue(0)
				theta := make([]float64, 8)
				report, out := a.answer(t, task, theta) // silence would tell of the failure
				if out.Score != 0 || out.Steps != 0 || !errors.Is(out.Failed, errSensor) {
					t.Errorf("%s, after %d steps: the agent is told %+v; want its failure", m, steps, out)
				}
				if control, _ := zero.answer(t, task, theta); !bytes.Equal(report, control) {
					t.Errorf("%s, after %d steps: not the report on zero", m, steps)
				}
				if again, _ := a.answer(t, task, theta); m != train.NotPrivate && !bytes.Equal(report, again) {
					t.Errorf("%s, after %d steps: a retry sent other bytes", m, steps)
				}
				submit(t, agg, report, train.Accepted)
			}
			if m == train.NotPrivate {
				continue
			}
			if b := must(a.Wallet.Spent(context.Background()))(t); b.Epsilon != 20 {
				t.Errorf("%s, after %d steps: epsilon %v spent on ten reports of 2", m, steps, b.Epsilon)
			}
		}
	}
}
