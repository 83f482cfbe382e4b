package aggregator_test

import (
	"crypto/ed25519"
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/train"
)

// aRound is a signed round without a server.
func aRound(t testing.TB, w *world, dim int, r train.Randomizer) *fleet.Round {
	t.Helper()
	s, err := fleet.SignRun(w.root, w.spec(dim, r))
	if err != nil {
		t.Fatal(err)
	}
	run, err := fleet.VerifyRun(w.root.Public().(ed25519.PublicKey), []*fleetv1.SignedSpec{s})
	if err != nil {
		t.Fatal(err)
	}
	now, head := time.Now().UnixMilli(), run.Head()
	sign := w.signKey(t, 1)
	g, err := fleet.SignRound(run, head, 1, sign, &fleetv1.RoundSpec{
		Run: runID[:], Round: 1, Previous: head.Hash[:], WeightsSha256: make([]byte, 32), Kind: fleetv1.Kind_KIND_TRAIN, Randomizer: fleet.RandomizerMessage(r), Epsilon: r.Epsilon,
		Beacon: make([]byte, 32), SampleRate: 1, Opens: now, TrainBy: now, UploadFrom: now, UploadUntil: now + 1, MinReports: 1, MaxReports: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	round, err := run.VerifyRound(head, g)
	if err != nil {
		t.Fatal(err)
	}
	return round
}

func reportsOf(bodies [][]byte) aggregator.Reports {
	return func(f func([32]byte, []byte) error) error {
		for i, b := range bodies {
			if err := f([32]byte{byte(i)}, b); err != nil {
				return err
			}
		}
		return nil
	}
}

// TestOneBitReportsByHand: the sum of sign-weighted perturbations about the running mean
// of signs, and a plain gradient step.
func TestOneBitReportsByHand(t *testing.T) {
	const dim, n, before, step = 4, 5, 2, .5
	w := newWorld(t)
	round := aRound(t, w, dim, train.Randomizer{Mechanism: train.OneBit, Epsilon: 3, Clip: 200})
	l := aggregator.Learning{Optimizer: train.Optimizer{Kind: "sgd", Step: step}}
	m := l.NewMemory(dim)
	m.Baseline = .25
	var bodies [][]byte
	want, base := make([]float64, dim), m.Baseline
	sum := make([]float64, dim)
	for i := range n {
		seed := round.Seed([32]byte{byte(i)})
		body, err := round.Codec().Encode(nil, []float64{float64(50 * i)}, seed, receipt.None(), noise.NewSeeded(uint64(i)))
		if err != nil {
			t.Fatal(err)
		}
		bodies = append(bodies, body)
		sign := float64(2*int(body[1]) - 1)
		s := make([]float64, dim)
		train.Perturb(s, seed, 1)
		for j := range sum {
			sum[j] -= (sign - base) * s[j]
		}
		base += (sign - base) / float64(before+i+1)
	}
	theta := []float64{1, 2, 3, 4}
	for j := range want {
		want[j] = theta[j] - step*sum[j]/n
	}
	u, err := l.Apply(round, theta, m, before, reportsOf(bodies))
	if err != nil || u.Accepted != n {
		t.Fatal(u, err)
	}
	for j := range want {
		if math.Abs(u.Theta[j]-want[j]) > 1e-12 {
			t.Errorf("weight %d is %v; want %v", j, u.Theta[j], want[j])
		}
	}
	if math.Abs(u.Memory.Baseline-base) > 1e-12 || m.Baseline != .25 || !slices.Equal(theta, []float64{1, 2, 3, 4}) {
		t.Errorf("baseline %v; want %v; what was given is now %v, %v", u.Memory.Baseline, base, m, theta)
	}
}

func TestWeightsThatOverflow(t *testing.T) {
	w := newWorld(t)
	round := aRound(t, w, 2, train.Randomizer{Mechanism: train.Laplace, Epsilon: 1, Clip: 1e6})
	body, err := round.Codec().Encode(nil, []float64{1, 1}, [32]byte{}, receipt.None(), noise.NewSeeded(1))
	if err != nil {
		t.Fatal(err)
	}
	l := aggregator.Learning{Optimizer: train.Optimizer{Kind: "sgd", Step: 1.7e308}}
	theta := []float64{1, 1}
	if _, err := l.Apply(round, theta, l.NewMemory(2), 0, reportsOf([][]byte{body, body, body, body})); !errors.Is(err, aggregator.ErrDiverged) {
		t.Errorf("weights overflow: %v", err)
	}
	if u, err := l.Apply(round, theta, l.NewMemory(2), 0, reportsOf(nil)); err != nil || u.Accepted != 0 {
		t.Errorf("no reports: %v, %v", u, err)
	}
	if _, err := l.Apply(round, theta, l.NewMemory(2), 0, reportsOf([][]byte{{1, 2}})); err == nil {
		t.Error("two bytes are a body")
	}
}

// BenchmarkApply of 20,000 reports on 112 weights.
func BenchmarkApply(b *testing.B) {
	const dim, n = 112, 20_000
	w := newWorld(b)
	round := aRound(b, w, dim, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1})
	src := noise.NewSeeded(1)
	x := make([]float64, dim)
	x[3] = 1
	type report struct {
		nullifier [32]byte
		body      []byte
	}
	all := make([]report, n)
	for i := range all {
		all[i].nullifier = [32]byte{byte(i >> 8), byte(i)}
		var err error
		if all[i].body, err = round.Codec().Encode(nil, x, round.Seed(all[i].nullifier), receipt.None(), src); err != nil {
			b.Fatal(err)
		}
	}
	l := aggregator.Learning{Optimizer: train.Optimizer{Kind: "momentum", Step: .2}}
	theta := make([]float64, dim)
	for b.Loop() {
		if _, err := l.Apply(round, theta, l.NewMemory(dim), 0, func(f func([32]byte, []byte) error) error {
			for _, r := range all {
				if err := f(r.nullifier, r.body); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/n, "us/report")
}
