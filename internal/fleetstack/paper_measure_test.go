//go:build slow && measure

package fleetstack

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp/local"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/service/servicetest"
	"github.com/discreet-rl/discreet/internal/signature"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
	traindevice "github.com/discreet-rl/discreet/train/device"
	"github.com/discreet-rl/discreet/train/simulate"
)

// paper is PGC-A3C as Ono and Takahashi (2020) have it, in the nearest reading of docs/results/training.md, at epsilon 5 a
// submission: 112 weights, an actor and a critic, one episode a submission, and as many submissions of a device as there are.
type paper struct {
	randomizer train.Randomizer
	buffer     int // submissions that are added up: |B|
	local      traindevice.Local
	init       learn.Init
	step       float64 // over the network, where nothing is scaled as PRS is printed
}

func papers() map[string]paper {
	l := traindevice.Local{
		Method: traindevice.ActorCritic, Network: learn.Network{Inputs: 4, Hidden: []int{16}, Actions: 2, Value: true, ReLUValue: true}, Steps: 1, Episodes: 1,
		ActorCritic: learn.ActorCritic{Gamma: .99, Entropy: .01, ValueWeight: .5}, Reward: learn.FailureReward, Greedy: true, Uniform: .5, UniformFor: 1800, MaxSteps: 200,
	}
	detached := l
	detached.ActorCritic.Detach, detached.ActorCritic.DetachReturn = true, true
	rows := float64(local.ReducedDim(112, 5))
	return map[string]paper{
		"laplace": {randomizer: train.Randomizer{Mechanism: train.Laplace, Epsilon: 5, Clip: .01}, buffer: 1, local: detached, init: learn.Init{Normal: .02}, step: .5},
		"prs":     {randomizer: train.Randomizer{Mechanism: train.PRS, Epsilon: 5, Clip: 1}, buffer: 100, local: l, step: .5 * rows * math.Tanh(5/rows/2)},
	}
}

// trial is PGC-A3C with a seed: what a device learns in a slot, and its noise.
type trial struct {
	paper
	seed uint64
}

// player is one that learns in the world of any slot.
type player struct {
	device *traindevice.Device
	in     [3]*learn.Player
}

func (p trial) player(t *testing.T) *player {
	t.Helper()
	d, err := traindevice.New(p.local, p.randomizer)
	if err != nil {
		t.Fatal(err)
	}
	out := &player{device: d}
	for i := range out.in {
		if out.in[i], err = d.Player(pole(t, i)); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func (p trial) learn(w *player, slot uint64, theta []float64) (vector []float64, score float64) {
	vector, out := w.device.Learn(&train.Task{Slot: slot}, theta, w.in[slot%3], rand.New(rand.NewPCG(p.seed, slot)))
	return vector, out.Score
}

func (p trial) noise(slot uint64) *noise.Source { return noise.NewSeeded(p.seed<<32 ^ slot) }

// The paper's measure: ten submissions in a row with a mean score of 195.
func first(scores []float64) int { return simulate.FirstSuccess(scores, 10, 195) }

// inOneProcess goes on to the first success, or to so many submissions.
func (p trial) inOneProcess(t *testing.T, theta []float64, most int) (scores, weights []float64) {
	t.Helper()
	agg, err := train.NewAggregator(train.Terms{
		Dim: len(theta), Randomizer: p.randomizer, Submissions: uint64(most), Buffer: p.buffer, Staleness: -1, Optimizer: train.Optimizer{Kind: "sgd", Step: .5}, Printed: p.randomizer.Mechanism == train.PRS,
	}, theta, train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	codec, err := train.NewCodec(p.randomizer, len(theta))
	if err != nil {
		t.Fatal(err)
	}
	w, weights := p.player(t), slices.Clone(theta)
	for slot := uint64(0); slot < uint64(most) && (first(scores) == 0 || slot%uint64(p.buffer) != 0); slot++ {
		task := agg.Issue(0)
		agg.Theta(weights)
		vector, score := p.learn(w, slot, weights)
		body, err := codec.Encode(nil, vector, task.Seed, receipt.None(), p.noise(slot))
		if err != nil {
			t.Fatal(err)
		}
		data, err := train.Report{Slot: task.Slot, Version: task.Version, Token: task.Token, Body: body}.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		if v, err := agg.Submit(data); err != nil || v != train.Accepted {
			t.Fatalf("package train says %v, %v", v, err)
		}
		scores = append(scores, score)
	}
	agg.Theta(weights)
	return scores, weights
}

// member is an enrolled device, as little of it as the protocol asks.
type member struct {
	pseudonym [32]byte
	reports   fleetv1.ReportServiceClient
	runs      fleetv1.RunServiceClient
}

func (s *stack) members(n int) []*member {
	s.t.Helper()
	codes, err := s.operator.CreateCodes(s.t.Context(), &fleetv1.CreateCodesRequest{Count: uint32(n), ValidFor: 3_600_000})
	if err != nil {
		s.t.Fatal(err)
	}
	out := make([]*member, n)
	for i, code := range codes.GetCodes() {
		key, csr := servicetest.Request(s.t)
		c := servicetest.Client(s.t, s.roots, nil)
		answer, err := fleetv1.NewEnrolServiceClient(c, s.url).Enrol(s.t.Context(), &fleetv1.EnrolRequest{Csr: csr, Code: code})
		if err != nil {
			s.t.Fatal(err)
		}
		c.CloseIdleConnections()
		c = servicetest.Client(s.t, s.roots, &tls.Certificate{Certificate: answer.GetChain(), PrivateKey: key})
		out[i] = &member{[32]byte(answer.GetPseudonymKey()), fleetv1.NewReportServiceClient(c, s.url), fleetv1.NewRunServiceClient(c, s.url)}
	}
	return out
}

// overTheNetwork goes on to the first success, or to so many submissions: a hundred devices take turns.
func (p trial) overTheNetwork(t *testing.T, s *stack, most int) (scores, weights []float64) {
	t.Helper()
	root, err := signature.LoadPublic(filepath.Join(s.keys, "root.pub"))
	if err != nil {
		t.Fatal(err)
	}
	all := s.members(100)
	g, err := all[0].runs.GetRun(t.Context(), &fleetv1.GetRunRequest{})
	if err != nil {
		t.Fatal(err)
	}
	run, err := fleet.VerifyRun(ed25519.PublicKey(root), g.GetSpecs())
	if err != nil {
		t.Fatal(err)
	}
	key, err := run.SealKey(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	players := make(chan *player, 8)
	for range cap(players) {
		players <- p.player(t)
	}
	scores = make([]float64, 0, most)
	for head := run.Head(); ; {
		round, theta := s.next(all[head.Round%uint64(len(all))], run, head)
		head, weights = round.Head(), theta
		if first(scores) > 0 || len(scores) >= most {
			return scores, weights
		}
		from := uint64(len(scores))
		scores = scores[:len(scores)+p.buffer]
		var wg sync.WaitGroup
		for i := range uint64(p.buffer) {
			w := <-players
			wg.Go(func() {
				defer func() { players <- w }()
				slot := from + i
				m := all[slot%uint64(len(all))]
				vector, score := p.learn(w, slot, theta)
				scores[slot] = score
				body, err := round.Codec().Encode(nil, vector, round.Seed(fleet.Nullifier(m.pseudonym, s.run, round.Number)), receipt.None(), p.noise(slot))
				if err != nil {
					t.Error(err)
					return
				}
				sealed, err := round.Seal(body, key)
				if err != nil {
					t.Error(err)
					return
				}
				permit, err := m.reports.Draw(t.Context(), &fleetv1.DrawRequest{Run: s.run[:], Round: round.Number, Nonce: m.pseudonym[:]})
				if err != nil {
					t.Error(err)
					return
				}
				if a, err := m.reports.Upload(t.Context(), round.Request(sealed, key, permit.GetPermit())); err != nil || a.GetVerdict() != fleetv1.Verdict_VERDICT_ACCEPTED {
					t.Errorf("round %d: %v, %v", round.Number, a.GetVerdict(), err)
				}
			})
		}
		wg.Wait()
		if t.Failed() {
			t.FailNow()
		}
	}
}

// next waits for the round after the one that is known, and verifies it and its weights.
func (s *stack) next(m *member, run *fleet.Run, head fleet.Head) (*fleet.Round, []float64) {
	s.t.Helper()
	for {
		g, err := m.runs.GetRound(s.t.Context(), &fleetv1.GetRoundRequest{After: head.Round, Weights: true})
		if err != nil {
			s.t.Fatal(err)
		}
		if len(g.GetSpecs()) == 0 {
			wait(s.t.Context(), 2*time.Millisecond)
			continue
		}
		round, err := run.VerifyRound(head, g.GetSpecs()[0])
		if err != nil {
			s.t.Fatal(err)
		}
		theta, err := round.Weights(g.GetWeights())
		if err != nil {
			s.t.Fatal(err)
		}
		return round, theta
	}
}

// wait is for what a server does with its next look.
func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// TestThePaperOverTheNetwork trains PGC-A3C by Laplace noise and by PRS through an aggregator to the first success. Laplace reports need no
// seed from the server, so package train makes, of the same worlds and noise, the same scores and the same weights bit for bit. The seeds of
// projections follow from a beacon that the server draws: PRS over the network is another trial than that in one process.
func TestThePaperOverTheNetwork(t *testing.T) {
	for name, p := range papers() {
		t.Run(name, func(t *testing.T) {
			// The first seed that succeeds early in one process.
			one := trial{paper: p}
			theta := make([]float64, 112)
			var scores, weights []float64
			most := map[string]int{"laplace": 3_000, "prs": 12_000}[name]
			for ; first(scores) == 0; scores, weights = one.inOneProcess(t, theta, most) {
				one.seed++
				// as a stack begins
				one.player(t).device.Init(theta, p.init, rand.New(rand.NewPCG(5, 6)))
			}
			t.Logf("in one process, seed %d: first success at submission %d", one.seed, first(scores))
			s := newStack(t, task{
				learning: fleet.Learning{Environment: "cart-pole", Local: p.local}, randomizer: p.randomizer, init: p.init, reports: 1 << 20,
				optimizer: fmt.Sprintf(`{"kind":"sgd","step":%v}`, p.step), every: time.Microsecond, tick: 2 * time.Millisecond,
				schedule: fmt.Sprintf(`{"rounds":1000000,"train_seconds":0.001,"upload_seconds":86400,"sample_rate":1,"min_reports":%d,"max_reports":%d}`, p.buffer, p.buffer),
			})
			begun := time.Now()
			got, there := one.overTheNetwork(t, s, most*2)
			t.Logf("over the network: first success at submission %d, in %d rounds of %d and %v", first(got), len(got)/p.buffer, p.buffer, time.Since(begun).Round(time.Second))
			if first(got) == 0 {
				t.Error("no success over the network")
			}
			if name == "laplace" && (!slices.Equal(got, scores) || !equal(there, weights)) {
				t.Errorf("%d and %d scores, or weights, differ", len(got), len(scores))
			}
		})
	}
}
