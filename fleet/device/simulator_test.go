package device_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/fleet/device"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/rl/sim/cartpole"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train"
	traindevice "github.com/discreet-rl/discreet/train/device"
)

func pole(t testing.TB) sim.Env {
	t.Helper()
	env, err := cartpole.New(cartpole.Options{MaxSteps: 200})
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// learning is a small network on the cart and pole.
func learning() fleet.Learning {
	return fleet.Learning{Environment: "cart-pole", Local: traindevice.Local{
		Method: traindevice.PolicyGradient, Network: learn.Network{Inputs: 4, Actions: 2, Hidden: []int{8}}, Steps: 1, Episodes: 1,
		PolicyGradient: learn.PolicyGradient{Gamma: .99}, MaxSteps: 200,
	}}
}

// TestASimulatorLearnsWhatPackageDeviceDoes with the same generator, number by number.
func TestASimulatorLearnsWhatPackageDeviceDoes(t *testing.T) {
	l := learning()
	text, err := l.JSON()
	if err != nil {
		t.Fatal(err)
	}
	d, err := traindevice.New(l.Local, signs)
	if err != nil {
		t.Fatal(err)
	}
	s := newServer(t, signs, d.Dim(), text)
	simulator := device.NewSimulator("cart-pole", pole(t), rand.New(rand.NewPCG(1, 2)))
	if err := simulator.Prepare(seen(s.run)); err != nil {
		t.Fatal(err)
	}
	player, err := d.Player(pole(t))
	if err != nil {
		t.Fatal(err)
	}
	rng, theta := rand.New(rand.NewPCG(1, 2)), make([]float64, d.Dim())
	d.Init(theta, learn.Init{}, rand.New(rand.NewPCG(3, 4)))
	for round := uint64(1); round <= 5; round++ {
		got, err := simulator.Learn(t.Context(), device.Work{Round: round, Theta: theta, Len: d.Dim()})
		if err != nil {
			t.Fatal(err)
		}
		want, _ := d.Learn(&train.Task{Slot: round - 1}, theta, player, rng)
		if !slices.Equal(got, want) || !slices.ContainsFunc(got, func(v float64) bool { return v != 0 }) {
			t.Errorf("round %d: %v; want %v", round, got[:4], want[:4])
		}
		score, err := simulator.Learn(t.Context(), device.Work{Round: round, Theta: theta, Len: 1, Evaluate: true})
		if err != nil {
			t.Fatal(err)
		}
		if want, err := d.Play(theta, player, learn.Explore{}, rng); err != nil || len(score) != 1 || score[0] != want || !(want >= 1 && want <= 200) || math.IsNaN(want) {
			t.Errorf("round %d: score %v; want %v, %v", round, score, want, err)
		}
	}
}

func TestASimulatorRefusesForeignRuns(t *testing.T) {
	l := learning()
	text, err := l.JSON()
	if err != nil {
		t.Fatal(err)
	}
	l.Environment = "mountain-car"
	other, err := l.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		dim  int
		text []byte
		want error
	}{
		"nothing": {8, nil, fleet.ErrSpec}, "another environment": {8, other, device.ErrConfig}, "another network": {8, text, device.ErrConfig},
	} {
		s := newServer(t, signs, c.dim, c.text)
		err := device.NewSimulator("cart-pole", pole(t), rand.New(rand.NewPCG(1, 2))).Prepare(seen(s.run))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v; want %v", name, err, c.want)
		}
	}
}

// seen is a run as its operator signed it, for a learner.
func seen(r *fleet.Run) *device.Run {
	return &device.Run{ID: r.ID, Purpose: r.Purpose, Local: r.Local, Randomizer: r.Randomizer, Reports: r.Reports, Dim: r.Dim}
}
