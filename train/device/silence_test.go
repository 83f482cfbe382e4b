package device_test

import (
	"bytes"
	"context"
	"errors"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/rl/sim/simtest"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
)

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
			a.player = must(a.device.Player(&simtest.Faulty{Env: must(pole())(t), Left: steps}))(t)
			for n := range uint64(10) {
				a.Noise, zero.Noise = noise.NewSeeded(n), noise.NewSeeded(n)
				task := agg.Issue(0)
				theta := make([]float64, 8)
				report, out := a.answer(t, task, theta) // silence would tell of the failure
				if out.Score != 0 || out.Steps != 0 || !errors.Is(out.Failed, simtest.ErrSensor) {
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
