package store_test

import (
	"errors"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/fleet/store"
)

// aLife follows two rounds from open to applied.
func aLife(t *testing.T, p place) {
	ctx := t.Context()
	s := begun(t, p)
	if err := s.CreateRun(ctx, store.Run{ID: run}, store.Signed{}, store.Policy{}); !errors.Is(err, store.ErrExists) {
		t.Errorf("a run was made twice: %v", err)
	}
	if _, err := s.OpenRound(ctx, run, next); !errors.Is(err, store.ErrState) {
		t.Errorf("two rounds are open: %v", err)
	}
	reports := []store.Report{{nullifier(1), []byte("a")}, {nullifier(2), []byte("b")}}
	if out, err := s.Commit(ctx, run, 1, reports, 0); err != nil || out[0] != store.ReportAccepted || out[1] != store.ReportAccepted {
		t.Fatal(out, err)
	}
	if out, err := s.Commit(ctx, run, 2, reports, 0); err != nil || out[0] != store.ReportStale {
		t.Errorf("a round that there is not took a report: %v %v", out, err)
	}
	if closing, err := s.CloseRound(ctx, run, 1, 0, false); err != nil || closing {
		t.Errorf("closed before its time: %v", err)
	}
	lead(t, s, 1, store.Result{Accepted: 2, Moved: 2, Digest: []byte("d"), Policy: &store.Policy{Version: 1, Round: 1, Weights: []byte("w1"), Optimizer: "o1"}, Next: next})
	r, err := s.Run(ctx, run)
	if err != nil || r.Version != 1 || r.Reports != 2 || r.Ended {
		t.Errorf("the run is %+v, %v", r, err)
	}
	for v, want := range []string{"w0", "w1"} {
		if p, err := s.Policy(ctx, run, uint64(v)); err != nil || string(p.Weights) != want {
			t.Errorf("version %d is %q, %v", v, p.Weights, err)
		}
	}
	late := []store.Report{reports[0], {nullifier(2), []byte("c")}, {nullifier(3), []byte("c")}}
	if out, err := s.Commit(ctx, run, 1, late, 0); err != nil || out[0] != store.ReportDuplicate || out[1] != store.ReportSpent || out[2] != store.ReportStale {
		t.Errorf("an applied round says %v %v; want duplicate, spent, stale", out, err)
	}
	if n, err := s.Count(ctx, run, 1); err != nil || n != 2 {
		t.Errorf("an applied round has %d reports, %v", n, err)
	}
	rounds, err := s.Rounds(ctx, run, 0, 10)
	if err != nil || len(rounds) != 2 || rounds[0].State != store.StateApplied || rounds[0].Accepted != 2 || string(rounds[0].Digest) != "d" || rounds[1].State != store.StateOpen || rounds[1].Version != 1 {
		t.Errorf("rounds are %+v, %v", rounds, err)
	}
	lead(t, s, 2, store.Result{End: true, Next: next})
	if r, err := s.Run(ctx, run); err != nil || !r.Ended || r.Version != 1 {
		t.Errorf("the run is %+v, %v", r, err)
	}
	if _, err := s.OpenRound(ctx, run, next); !errors.Is(err, store.ErrState) {
		t.Errorf("a run that has ended goes on: %v", err)
	}
	for name, err := range map[string]error{
		"run":     func() error { _, err := s.Run(ctx, store.RunID{9}); return err }(),
		"round":   func() error { _, err := s.Round(ctx, run, 9); return err }(),
		"version": func() error { _, err := s.Policy(ctx, run, 9); return err }(),
	} {
		if !errors.Is(err, store.ErrUnknown) {
			t.Errorf("an unknown %s: %v", name, err)
		}
	}
}

// aFence: who led once and does not know that it is over writes nothing.
func aFence(t *testing.T, p place) {
	ctx := t.Context()
	s := begun(t, p)
	first, err := s.Lease(ctx, run, 0) // over at once
	if err != nil || first == 0 {
		t.Fatal(err)
	}
	var second int64
	for second == 0 { // until the clock has moved by a millisecond
		if second, err = s.Lease(ctx, run, time.Hour); err != nil {
			t.Fatal(err)
		}
	}
	if third, err := s.Lease(ctx, run, time.Hour); err != nil || third != 0 || second <= first {
		t.Errorf("fences %d, %d, %d: %v", first, second, third, err)
	}
	if _, err := s.CloseRound(ctx, run, 1, 0, true); err != nil {
		t.Fatal(err)
	}
	policy := &store.Policy{Version: 1, Round: 1, Weights: []byte("w1"), Optimizer: "o1"}
	if err := s.Apply(ctx, run, 1, first, store.StateApplied, store.Result{Policy: policy, Next: next}); !errors.Is(err, store.ErrFence) {
		t.Errorf("the first leader: %v", err)
	}
	if err := s.Renew(ctx, run, first, time.Hour); !errors.Is(err, store.ErrFence) {
		t.Errorf("the first leader renews: %v", err)
	}
	if err := s.Renew(ctx, run, second, time.Hour); err != nil {
		t.Error(err)
	}
	wrong := *policy
	wrong.Version = 2
	if err := s.Apply(ctx, run, 1, second, store.StateApplied, store.Result{Policy: &wrong, Next: next}); !errors.Is(err, store.ErrFence) {
		t.Errorf("a version was left out: %v", err)
	}
	if r, err := s.Round(ctx, run, 1); err != nil || r.State != store.StateClosing {
		t.Errorf("what failed left the round %s, %v", r.State, err)
	}
	if err := s.Apply(ctx, run, 1, second, store.StateApplied, store.Result{Policy: policy, Next: next}); err != nil {
		t.Error(err)
	}
	if err := s.Apply(ctx, run, 1, second, store.StateApplied, store.Result{Next: next}); !errors.Is(err, store.ErrFence) {
		t.Errorf("applied twice: %v", err)
	}
}

// totals count what the rounds of each run say, and no other run's.
func totals(t *testing.T, p place) {
	ctx := t.Context()
	s := begun(t, p)
	other := store.RunID{8}
	if err := s.CreateRun(ctx, store.Run{ID: other, Settings: "{}"}, store.Signed{Spec: []byte("spec"), Signature: []byte("s")}, store.Policy{Weights: []byte("w0")}); err != nil {
		t.Fatal(err)
	}
	evaluation := func(now int64, r store.Run, last *store.Round) (store.Round, error) {
		out, err := next(now, r, last)
		out.Kind = 2
		return out, err
	}
	lead(t, s, 1, store.Result{Accepted: 5, Next: evaluation})
	lead(t, s, 2, store.Result{Accepted: 3, Positive: 1, Next: evaluation})
	lead(t, s, 3, store.Result{Accepted: 4, Next: next})
	got, err := s.Totals(ctx)
	want := map[store.RunID][]store.Total{run: {{Kind: 1, State: store.StateApplied, Rounds: 1, Reports: 5}, {Kind: 1, State: store.StateOpen, Rounds: 1}, {Kind: 2, State: store.StateApplied, Rounds: 2, Reports: 7}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("totals are %v, %v; want %v", got, err, want)
	}
	for most, want := range map[int][]uint64{1: {3}, 9: {3, 2}} {
		rounds, err := s.Applied(ctx, run, 2, most)
		var ids []uint64
		for _, r := range rounds {
			ids = append(ids, r.ID)
		}
		if err != nil || !slices.Equal(ids, want) {
			t.Errorf("the last %d evaluations are %v, %v; want %v", most, ids, err, want)
		}
	}
}

// TestTimesAreThoseOfTheStore with a clock that the test moves.
func TestTimesAreThoseOfTheStore(t *testing.T) {
	at := time.UnixMilli(1e12)
	p := lite(t)
	p.now = func() time.Time { return at }
	s := open(t, p)
	ctx := t.Context()
	if err := s.CreateRun(ctx, store.Run{ID: run}, store.Signed{Spec: []byte{}, Signature: []byte{}}, store.Policy{Weights: []byte{}}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.OpenRound(ctx, run, func(now int64, _ store.Run, _ *store.Round) (store.Round, error) {
		return store.Round{ID: 1, Signed: store.Signed{Spec: []byte{}, Signature: []byte{}}, UploadFrom: now + 1000, UploadUntil: now + 2000}, nil
	}); err != nil {
		t.Fatal(err)
	}
	begin := at
	for i, c := range []struct {
		after  time.Duration
		want   store.Outcome
		closes bool
	}{
		{999 * time.Millisecond, store.ReportEarly, false}, {time.Second, store.ReportAccepted, false}, {2 * time.Second, store.ReportAccepted, false},
		{2500 * time.Millisecond, store.ReportAccepted, false}, {2501 * time.Millisecond, store.ReportLate, true}, {2502 * time.Millisecond, store.ReportStale, true},
	} {
		at = begin.Add(c.after)
		out, err := s.Commit(ctx, run, 1, []store.Report{{nullifier(uint64(i)), []byte("x")}}, 500*time.Millisecond)
		if err != nil || out[0] != c.want {
			t.Errorf("after %v: %v, %v; want %d", c.after, out, err, c.want)
		}
		if closing, err := s.CloseRound(ctx, run, 1, 500*time.Millisecond, false); err != nil || closing != c.closes {
			t.Errorf("after %v closing is %v, %v", c.after, closing, err)
		}
	}
	first, err := s.Lease(ctx, run, 5*time.Second)
	if err != nil || first == 0 {
		t.Fatal(err)
	}
	at = at.Add(5 * time.Second)
	if fence, err := s.Lease(ctx, run, time.Second); err != nil || fence != 0 {
		t.Errorf("a lease of 5 s was taken after 5 s: %v", err)
	}
	at = at.Add(time.Millisecond)
	if fence, err := s.Lease(ctx, run, time.Second); err != nil || fence != first+1 {
		t.Errorf("a lease of 5 s was not taken after it: %v", err)
	}
}
