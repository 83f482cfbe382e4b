//go:build slow

package fleetstack

import (
	"bytes"
	"context"
	"crypto/x509"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/fleet/device"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/internal/rl/sim/cartpole"
	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/service/servicetest"
	"github.com/discreet-rl/discreet/internal/signature"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train"
	traindevice "github.com/discreet-rl/discreet/train/device"
)

const (
	devices = 4
	rounds  = 3
)

var privunit = train.Randomizer{Mechanism: train.PrivUnit, Epsilon: 4} // it needs no seed, so package train can be its oracle

func learning() fleet.Learning {
	return fleet.Learning{Environment: "cart-pole", Local: traindevice.Local{
		Method: traindevice.PolicyGradient, Network: learn.Network{Inputs: 4, Actions: 2, Hidden: []int{8}}, Steps: 1, Episodes: 2,
		PolicyGradient: learn.PolicyGradient{Gamma: .99}, MaxSteps: 200,
	}}
}

func pole(t *testing.T, i int) sim.Env {
	t.Helper()
	env, err := cartpole.New(cartpole.Options{Gravity: 9.7 + .1*float64(i%3), MaxSteps: 200})
	if err != nil {
		t.Fatal(err)
	}
	return env
}

func world(i int) *rand.Rand { return rand.New(rand.NewPCG(uint64(i), 7)) }

func noiseOf(i int, round uint64) *noise.Source { return noise.NewSeeded(uint64(i)<<32 | round) }

// stack is an aggregator on loopback, with its operator.
type stack struct {
	t        *testing.T
	keys     string
	url      string
	roots    *x509.CertPool
	operator fleetv1.OperatorServiceClient
	logs     servicetest.Log // of the aggregator
	told     servicetest.Log // of the devices
	theta    []float64
	run      train.RunID
}

// task is what a stack is to learn.
type task struct {
	learning    fleet.Learning
	randomizer  train.Randomizer
	init        learn.Init
	reports     int // of a device
	optimizer   string
	schedule    string
	every, tick time.Duration // between requests of a device; between looks of the server
}

func poles() task {
	return task{learning: learning(), randomizer: privunit, reports: rounds, optimizer: `{"kind":"adam","step":0.1}`,
		schedule: fmt.Sprintf(`{"rounds":%d,"train_seconds":6,"upload_seconds":4,"sample_rate":1,"min_reports":%d,"max_reports":%d}`, rounds, devices, devices),
		every:    10 * time.Millisecond, tick: 10 * time.Millisecond}
}

func newStack(t *testing.T, k task) *stack {
	t.Helper()
	dir := t.TempDir()
	s := &stack{t: t, keys: filepath.Join(dir, "keys"), run: train.RunID{1, 2, 3}}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(aggregator.CreateKeys(s.keys, []string{"127.0.0.1"}, time.Now()))
	keys, err := aggregator.OpenKeys(s.keys)
	check(err)
	ctx, cancel := context.WithCancel(context.Background())
	a, err := aggregator.New(ctx, aggregator.Config{
		Listen: "127.0.0.1:0", Store: filepath.Join(dir, "fleet.db"), Keys: keys, Tick: k.tick, PerDevice: service.Rate{Every: k.every, Burst: 100},
		Metrics: service.NewMetrics("fleet"), Log: service.NewLog(&s.logs, slog.LevelDebug, aggregator.LogKeys()),
	})
	check(err)
	address, err := a.Listen(ctx)
	check(err)
	s.url = "https://" + address.String()
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	s.roots = servicetest.Roots(t, filepath.Join(s.keys, "ca.pem"))
	s.operator = fleetv1.NewOperatorServiceClient(servicetest.Client(t, s.roots, servicetest.Pair(t, filepath.Join(s.keys, "operator.pem"), filepath.Join(s.keys, "operator.key"))), s.url)

	root, err := signature.LoadPrivate(filepath.Join(s.keys, "root.key"))
	check(err)
	local, err := k.learning.JSON()
	check(err)
	d, err := traindevice.New(k.learning.Local, k.randomizer)
	check(err)
	s.theta = make([]float64, d.Dim())
	d.Init(s.theta, k.init, rand.New(rand.NewPCG(5, 6)))
	now := time.Now()
	signed, err := fleet.SignRun(root, &fleetv1.RunSpec{
		Run: s.run[:], Schema: 1, Purpose: "balance poles", LocalJson: local, Randomizer: fleet.RandomizerMessage(k.randomizer), EpsilonReport: k.randomizer.Epsilon,
		ReportsPerDevice: uint32(k.reports), Dim: uint32(d.Dim()), ReportBytes: 512, Mode: fleetv1.Mode_MODE_LINKED, Keys: keys.Public(nil, now.Add(-time.Minute), now.Add(time.Hour)), MinClient: fleet.PermitClient,
	})
	check(err)
	_, err = s.operator.CreateRun(t.Context(), &fleetv1.CreateRunRequest{
		Spec: signed, Weights: fleet.EncodeWeights(s.theta), OptimizerJson: []byte(k.optimizer), ScheduleJson: []byte(k.schedule),
	})
	check(err)
	return s
}

// agent is the device of a number, enrolled.
func (s *stack) agent(i int, code string) (*device.Agent, device.Services, *[32]byte) {
	s.t.Helper()
	root, err := signature.LoadPublic(filepath.Join(s.keys, "root.pub"))
	if err != nil {
		s.t.Fatal(err)
	}
	a, err := device.Open(s.t.Context(), device.Config{
		Dir: s.t.TempDir(), Root: root, Epsilon: rounds * privunit.Epsilon, Poll: 400 * time.Millisecond,
		Consent: device.Consent{Purpose: "balance poles", Randomizer: privunit, Reports: rounds, Dim: len(s.theta)},
		Noise:   func(round uint64) *noise.Source { return noiseOf(i, round) },
		Log:     service.NewLog(&s.told, slog.LevelInfo, fleet.DeviceLogKeys()),
	})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { a.Close() })
	services, err := device.Dial(s.url, s.roots, a.Certificate)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(services.Forget)
	heard := &hearing{EnrolServiceClient: services.Enrol}
	if err := a.Enrol(s.t.Context(), heard, code); err != nil {
		s.t.Fatal(err)
	}
	return a, services, &heard.pseudonym
}

// hearing takes down the pseudonym key that a device is given.
type hearing struct {
	fleetv1.EnrolServiceClient
	pseudonym [32]byte
}

func (h *hearing) Enrol(ctx context.Context, r *fleetv1.EnrolRequest) (*fleetv1.EnrolResponse, error) {
	a, err := h.EnrolServiceClient.Enrol(ctx, r)
	copy(h.pseudonym[:], a.GetPseudonymKey())
	return a, err
}

// TestCartPoleOverTheNetworkEqualsOneProcess bit for bit: the weights of every round are those that package train makes, without
// a network, of the reports of the same devices in the same worlds with the same noise, one after the other.
func TestCartPoleOverTheNetworkEqualsOneProcess(t *testing.T) {
	s := newStack(t, poles())
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	codes, err := s.operator.CreateCodes(t.Context(), &fleetv1.CreateCodesRequest{Count: devices, ValidFor: 60_000})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	seen := map[uint64][]float64{}
	pseudonyms := make([]*[32]byte, devices)
	agents := make([]*device.Agent, devices)
	ended := make(chan error, devices)
	for i, code := range codes.GetCodes() {
		a, services, pseudonym := s.agent(i, code)
		agents[i], pseudonyms[i] = a, pseudonym
		go func() {
			ended <- a.Run(ctx, services, watched{device.NewSimulator("cart-pole", pole(t, i), world(i)), func(w device.Work) {
				mu.Lock()
				defer mu.Unlock()
				if before := seen[w.Round]; before != nil && !slices.Equal(before, w.Theta) {
					t.Errorf("round %d has two weights", w.Round)
				}
				seen[w.Round] = slices.Clone(w.Theta)
			}})
		}()
	}
	for range devices {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if t.Failed() {
		t.Fatal(s.logs.String(), s.told.String())
	}
	want := s.inOneProcess(pseudonyms)
	for r := range uint64(rounds) {
		if !equal(seen[r+1], want[r]) {
			t.Errorf("round %d began with weights %v; in one process %v", r+1, seen[r+1], want[r])
		}
	}
	final, err := s.final()
	if err != nil || !equal(final, want[rounds]) || equal(final, s.theta) {
		t.Errorf("the policy is %v, %v; want %v", final, err, want[rounds])
	}
	for i, a := range agents {
		if b, err := a.Spent(t.Context()); err != nil || b.Epsilon != rounds*privunit.Epsilon {
			t.Errorf("device %d spent %v, %v; want %v", i, b.Epsilon, err, rounds*privunit.Epsilon)
		}
	}
	// What the server wrote down holds no device.
	for i, a := range agents {
		c, err := a.Certificate()
		if err != nil {
			t.Fatal(err)
		}
		for _, trace := range []string{c.Leaf.Subject.CommonName, fmt.Sprintf("%x", c.Leaf.SerialNumber), fmt.Sprintf("%x", *pseudonyms[i])} {
			if strings.Contains(s.logs.String(), trace) {
				t.Errorf("the log holds %s", trace)
			}
		}
	}
}

func equal(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) })
}

// watched shows what a learner is given.
type watched struct {
	*device.Simulator
	see func(device.Work)
}

func (w watched) Learn(ctx context.Context, work device.Work) ([]float64, error) {
	w.see(work)
	return w.Simulator.Learn(ctx, work)
}

// final waits for the weights after the last round.
func (s *stack) final() ([]float64, error) {
	for deadline := time.Now().Add(time.Minute); ; {
		status, err := s.operator.Status(s.t.Context(), &fleetv1.StatusRequest{Run: s.run[:]})
		switch {
		case err != nil:
			return nil, err
		case status.GetVersion() == rounds:
			p, err := s.operator.GetPolicy(s.t.Context(), &fleetv1.GetPolicyRequest{Run: s.run[:], Latest: true})
			if err != nil {
				return nil, err
			}
			return fleet.DecodeWeights(p.GetWeights())
		case time.Now().After(deadline):
			return nil, fmt.Errorf("the run is at version %d after a minute", status.GetVersion())
		}
	}
}

// inOneProcess gives the weights that every round begins with, and those in the end, by package train alone.
func (s *stack) inOneProcess(pseudonyms []*[32]byte) [][]float64 {
	t := s.t
	l := learning()
	oracle, err := train.NewAggregator(train.Terms{
		Dim: len(s.theta), Randomizer: privunit, Submissions: rounds * devices, Buffer: devices, Staleness: -1, Optimizer: train.Optimizer{Kind: "adam", Step: .1},
	}, s.theta, train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	codec, err := train.NewCodec(privunit, len(s.theta))
	if err != nil {
		t.Fatal(err)
	}
	type one struct {
		device *traindevice.Device
		player *learn.Player
		rng    *rand.Rand
	}
	all := make([]one, devices)
	for i := range all {
		d, err := traindevice.New(l.Local, privunit)
		if err != nil {
			t.Fatal(err)
		}
		p, err := d.Player(pole(t, i))
		if err != nil {
			t.Fatal(err)
		}
		all[i] = one{d, p, world(i)}
	}
	out := [][]float64{s.theta}
	for round := uint64(1); round <= rounds; round++ {
		type report struct{ nullifier, body []byte }
		var reports []report
		for i, o := range all {
			vector, _ := o.device.Learn(&train.Task{Slot: round - 1}, out[round-1], o.player, o.rng)
			body, err := codec.Encode(nil, vector, [32]byte{}, receipt.None(), noiseOf(i, round))
			if err != nil {
				t.Fatal(err)
			}
			n := fleet.Nullifier(*pseudonyms[i], s.run, round)
			reports = append(reports, report{n[:], body})
		}
		slices.SortFunc(reports, func(a, b report) int { return bytes.Compare(a.nullifier, b.nullifier) })
		for _, r := range reports {
			task := oracle.Issue(0)
			data, err := train.Report{Slot: task.Slot, Version: task.Version, Token: task.Token, Body: r.body}.AppendBinary(nil)
			if err != nil {
				t.Fatal(err)
			}
			if v, err := oracle.Submit(data); err != nil || v != train.Accepted {
				t.Fatalf("package train says %v, %v", v, err)
			}
		}
		theta := make([]float64, len(s.theta))
		oracle.Theta(theta)
		out = append(out, theta)
	}
	return out
}
