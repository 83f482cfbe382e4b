package aggregator_test

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/train"
)

// oracle is package train's aggregator, given the bodies of rounds in the order of their
// nullifiers: what one process makes of them. It knows randomisers without a seed.
type oracle struct {
	t    *testing.T
	agg  *train.Aggregator
	dim  int
	size int
}

func newOracle(t *testing.T, dim, buffer int, r train.Randomizer) *oracle {
	theta := make([]float64, dim)
	for i := range theta {
		theta[i] = 1
	}
	a, err := train.NewAggregator(train.Terms{Dim: dim, Randomizer: r, Submissions: 1 << 20, Buffer: buffer, Staleness: -1, Optimizer: train.Optimizer{Kind: "adam", Step: .1}}, theta, train.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &oracle{t, a, dim, buffer}
}

type sent struct {
	nullifier [32]byte
	body      []byte
}

// round gives it the reports of one round, as many as its buffer holds.
func (o *oracle) round(all []sent) []float64 {
	o.t.Helper()
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b sent) int { return bytes.Compare(a.nullifier[:], b.nullifier[:]) })
	if len(all) != o.size {
		o.t.Fatalf("%d reports; the oracle wants %d", len(all), o.size)
	}
	for _, s := range all {
		task := o.agg.Issue(0)
		data, err := train.Report{Slot: task.Slot, Version: task.Version, Token: task.Token, Body: s.body}.AppendBinary(nil)
		if err != nil {
			o.t.Fatal(err)
		}
		if v, err := o.agg.Submit(data); err != nil || v != train.Accepted {
			o.t.Fatalf("the oracle says %v, %v", v, err)
		}
	}
	theta := make([]float64, o.dim)
	o.agg.Theta(theta)
	return theta
}

// TestARunThroughTheServerEqualsOneProcess bit for bit, whatever the order in which
// reports arrive: two scheduled rounds, an evaluation between them, on two randomisers.
func TestARunThroughTheServerEqualsOneProcess(t *testing.T) {
	const dim, n = 6, 7
	for _, r := range []train.Randomizer{{Mechanism: train.PrivUnit, Epsilon: 4}, {Mechanism: train.Laplace, Epsilon: 2, Clip: 2}} {
		t.Run(string(r.Mechanism), func(t *testing.T) {
			w := newWorld(t)
			w.serve(t, w.config())
			o := w.operator(t)
			w.create(t, w.spec(dim, r), `{"rounds":3,"train_seconds":0.001,"upload_seconds":600,"sample_rate":1,"min_reports":7,"max_reports":7,"evaluate_every":2,"threshold":195}`, 1)
			devices := w.enrol(t, n)
			one := newOracle(t, dim, n, r)
			rng := rand.New(rand.NewPCG(1, 2))
			want := make([]float64, dim)
			for i := range want {
				want[i] = 1
			}
			for number := uint64(1); number <= 3; number++ {
				run, round, theta := devices[0].uploading(t, number-1)
				if !slices.Equal(theta, want) {
					t.Fatalf("round %d starts from %v; want %v", number, theta, want)
				}
				if round.Number != number || round.Kind == fleetv1.Kind_KIND_EVALUATE != (number == 2) {
					t.Fatalf("round %d of kind %v", round.Number, round.Kind)
				}
				var all []sent
				rng.Shuffle(n, func(i, j int) { devices[i], devices[j] = devices[j], devices[i] })
				for i, d := range devices {
					x := vector(rng, dim)
					if number == 2 {
						x = []float64{float64(i % 2)}
					}
					all = append(all, sent{fleet.Nullifier(d.pseudonym, runID, number), d.report(t, run, round, x)})
				}
				status := w.await(t, o, number) // full, so it closes at once
				if status.GetState() != fleetv1.RoundState_ROUND_STATE_APPLIED || status.GetAccepted() != n {
					t.Fatalf("round %d is %v", number, status)
				}
				if number == 2 {
					yes := 0
					for _, s := range all {
						x := make([]float64, dim)
						if err := round.Codec().Decode(x, s.body, [32]byte{}); err != nil {
							t.Fatal(err)
						}
						if x[0] > 0 {
							yes++
						}
					}
					p := float64(yes) / n
					if lo, hi := status.GetLow(), status.GetHigh(); lo > hi || lo < 0 || hi > 1 || (p-.5)*(status.GetShare()-.5) < 0 {
						t.Errorf("%d of %d say yes, and success is %v", yes, n, status)
					}
					continue
				}
				want = one.round(all)
				if v, got := latest(t, o); !slices.Equal(got, want) || v != (number+1)/2 {
					t.Fatalf("after round %d version %d is\n%v; one process has\n%v", number, v, got, want)
				}
			}
			s, err := o.Status(t.Context(), &fleetv1.StatusRequest{})
			if err != nil || !s.GetEnded() || s.GetVersion() != 2 {
				t.Errorf("in the end the run is %v, %v", s, err)
			}
			g, err := devices[0].runs.GetRound(t.Context(), &fleetv1.GetRoundRequest{After: 3})
			if err != nil || !g.GetEnded() || len(g.GetSpecs()) != 0 {
				t.Errorf("devices are told %v, %v", g, err)
			}
		})
	}
}

func openRound(t *testing.T, o fleetv1.OperatorServiceClient, change func(*fleetv1.OpenRoundRequest)) *fleetv1.OpenRoundResponse {
	t.Helper()
	r := &fleetv1.OpenRoundRequest{Kind: fleetv1.Kind_KIND_TRAIN, SampleRate: 1, UploadFor: 600_000, MinReports: 1, MaxReports: 100}
	if change != nil {
		change(r)
	}
	answer, err := o.OpenRound(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return answer
}

// TestRoundsByHand: the operator opens and closes, rolls back, evaluates as often as
// was announced, and ends the run.
func TestRoundsByHand(t *testing.T) {
	const dim = 3
	w := newWorld(t)
	w.serve(t, w.config())
	o := w.operator(t)
	w.create(t, w.spec(dim, train.Randomizer{Mechanism: train.Laplace, Epsilon: 1, Clip: 1}), "", 1)
	d := w.enrol(t, 1)[0]
	rng := rand.New(rand.NewPCG(3, 4))
	history := map[uint64][]float64{}
	_, history[0] = latest(t, o)
	step := func(from uint64, reports int, want fleetv1.RoundState) uint64 {
		t.Helper()
		openRound(t, o, func(r *fleetv1.OpenRoundRequest) { r.FromVersion = from })
		run, round, theta, err := d.follow(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if from != 0 && !slices.Equal(theta, history[from]) {
			t.Errorf("a round from version %d starts elsewhere", from)
		}
		for range reports {
			d.report(t, run, round, vector(rng, dim))
		}
		closed, err := o.CloseRound(t.Context(), &fleetv1.CloseRoundRequest{Round: round.Number})
		if err != nil {
			t.Fatal(err)
		}
		if closed.GetRound().GetState() != want && w.await(t, o, round.Number).GetState() != want {
			t.Errorf("round %d is %v; want %v", round.Number, closed, want)
		}
		v, theta := latest(t, o)
		history[v] = theta
		return v
	}
	if v := step(0, 1, fleetv1.RoundState_ROUND_STATE_APPLIED); v != 1 {
		t.Errorf("version %d", v)
	}
	if v := step(0, 0, fleetv1.RoundState_ROUND_STATE_ABANDONED); v != 1 || slices.Equal(history[1], history[0]) {
		t.Errorf("a round without reports leads to version %d", v)
	}
	if v := step(0, 1, fleetv1.RoundState_ROUND_STATE_APPLIED); v != 2 {
		t.Errorf("version %d", v)
	}
	if v := step(1, 1, fleetv1.RoundState_ROUND_STATE_APPLIED); v != 3 {
		t.Errorf("a rollback makes version %d", v)
	}
	for v, want := range history {
		p, err := o.GetPolicy(t.Context(), &fleetv1.GetPolicyRequest{Version: v})
		if err != nil || !bytes.Equal(p.GetWeights(), fleet.EncodeWeights(want)) {
			t.Errorf("version %d is not what it was: %v", v, err)
		}
	}
	openRound(t, o, nil)
	if _, err := o.OpenRound(t.Context(), &fleetv1.OpenRoundRequest{Kind: fleetv1.Kind_KIND_TRAIN, SampleRate: 1, UploadFor: 1, MinReports: 1, MaxReports: 1}); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("a second round is open: %v", err)
	}
	if _, err := o.EndRun(t.Context(), &fleetv1.EndRunRequest{}); err != nil {
		t.Fatal(err)
	}
	if _, err := o.CloseRound(t.Context(), &fleetv1.CloseRoundRequest{Round: 5}); err != nil {
		t.Fatal(err)
	}
	w.await(t, o, 5)
	if _, err := o.OpenRound(t.Context(), &fleetv1.OpenRoundRequest{Kind: fleetv1.Kind_KIND_TRAIN, SampleRate: 1, UploadFor: 1, MinReports: 1, MaxReports: 1}); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("a run that has ended goes on: %v", err)
	}
}

// TestEvaluationsAreThoseThatWereAnnounced.
func TestEvaluationsAreThoseThatWereAnnounced(t *testing.T) {
	w := newWorld(t)
	w.serve(t, w.config())
	o := w.operator(t)
	w.create(t, w.spec(3, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}), "", 1)
	evaluate := &fleetv1.OpenRoundRequest{Kind: fleetv1.Kind_KIND_EVALUATE, SampleRate: 1, UploadFor: 600_000, MinReports: 1, MaxReports: 9, Threshold: 1}
	if _, err := o.OpenRound(t.Context(), evaluate); err != nil {
		t.Fatal(err)
	}
	if _, err := o.CloseRound(t.Context(), &fleetv1.CloseRoundRequest{Round: 1}); err != nil {
		t.Fatal(err)
	}
	w.await(t, o, 1)
	if _, err := o.OpenRound(t.Context(), evaluate); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("a second evaluation: %v", err)
	}
}

// TestNoLookBesideTheSchedule: an evaluation by hand leaves those of the schedule as many
// as were announced, or is refused.
func TestNoLookBesideTheSchedule(t *testing.T) {
	for announced, want := range map[uint32]connect.Code{2: connect.CodeFailedPrecondition, 3: 0} {
		w := newWorld(t)
		c := w.config()
		c.Tick = time.Hour // the schedule does not begin by itself
		w.serve(t, c)
		o := w.operator(t)
		w.create(t, w.spec(3, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}), `{"rounds":4,"train_seconds":1,"upload_seconds":600,"sample_rate":1,"min_reports":1,"max_reports":9,"evaluate_every":2,"threshold":1}`, announced)
		_, err := o.OpenRound(t.Context(), &fleetv1.OpenRoundRequest{Kind: fleetv1.Kind_KIND_EVALUATE, SampleRate: 1, UploadFor: 600_000, MinReports: 1, MaxReports: 9, Threshold: 1})
		if err == nil && want != 0 || err != nil && connect.CodeOf(err) != want {
			t.Errorf("an evaluation before two of the schedule, with %d announced: %v", announced, err)
		}
	}
}

// TestTwoRunsAreApart: neither takes the other's reports.
func TestTwoRunsAreApart(t *testing.T) {
	w := newWorld(t)
	w.serve(t, w.config())
	o := w.operator(t)
	spec := w.spec(3, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1})
	w.create(t, spec, "", 0)
	other := w.spec(3, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1})
	second := train.RunID{1: 2}
	other.Run = second[:]
	w.create(t, other, "", 0)
	openRound(t, o, func(r *fleetv1.OpenRoundRequest) { r.Run = runID[:] })
	openRound(t, o, func(r *fleetv1.OpenRoundRequest) { r.Run = second[:] })
	d := w.enrol(t, 1)[0]
	run, round, _, err := d.follow(t.Context())
	if err != nil || run.ID != runID {
		t.Fatalf("a device that names no run gets %v, %v", run, err)
	}
	body, err := d.body(round, []float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.request(run, round, body)
	if err != nil {
		t.Fatal(err)
	}
	foreign := proto.CloneOf(r)
	foreign.Run = second[:]
	if v, err := d.send(t.Context(), foreign); err != nil || v != fleetv1.Verdict_VERDICT_FORGED {
		t.Errorf("under a permit of its own the other run says %v, %v", v, err)
	}
	answer, err := d.reports.Draw(t.Context(), &fleetv1.DrawRequest{Run: second[:], Round: 1, Nonce: make([]byte, 32)})
	if err != nil {
		t.Fatal(err)
	}
	foreign.Permit = answer.GetPermit()
	if v, err := d.send(t.Context(), foreign); err != nil || v != fleetv1.Verdict_VERDICT_MALFORMED {
		t.Errorf("the other run says %v, %v", v, err)
	}
	if v, err := d.send(t.Context(), r); err != nil || v != fleetv1.Verdict_VERDICT_ACCEPTED {
		t.Errorf("its own says %v, %v", v, err)
	}
	if c := cmp.Compare(len(r.GetSealed()), run.SealedSize()); c != 0 {
		t.Error("another size")
	}
}
