package store_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/fleet/internal/store"
)

func Example() {
	dir, err := os.MkdirTemp("", "fleet")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	s, err := store.Open(ctx, filepath.Join(dir, "fleet.db"), store.Options{})
	if err != nil {
		panic(err)
	}
	defer s.Close()
	run := store.RunID{1}
	signed := store.Signed{Spec: []byte("spec"), Signature: []byte("signature")}
	if err := s.CreateRun(ctx, store.Run{ID: run}, signed, store.Policy{Weights: make([]byte, 16)}); err != nil {
		panic(err)
	}
	_, err = s.OpenRound(ctx, run, func(now int64, _ store.Run, _ *store.Round) (store.Round, error) {
		return store.Round{ID: 1, Signed: signed, UploadFrom: now, UploadUntil: now + 60_000}, nil
	})
	if err != nil {
		panic(err)
	}
	out, err := s.Commit(ctx, run, 1, []store.Report{{Body: []byte("a")}, {Body: []byte("a")}, {Body: []byte("b")}}, 0)
	fmt.Println(out[0] == store.ReportAccepted, out[1] == store.ReportDuplicate, out[2] == store.ReportSpent, err)
	// Output: true true true <nil>
}

var run = store.RunID{7}

// place is where a store can live.
type place struct {
	location string
	now      func() time.Time // nil: the real one
}

func lite(t testing.TB) place { return place{location: filepath.Join(t.TempDir(), "fleet.db")} }

func open(t testing.TB, p place) *store.Store {
	t.Helper()
	s, err := store.Open(context.Background(), p.location, store.Options{Now: p.now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// begun is a store with a run and its first round open.
func begun(t testing.TB, p place) *store.Store {
	t.Helper()
	s := open(t, p)
	if err := s.CreateRun(t.Context(), store.Run{ID: run, Settings: "{}"}, store.Signed{Spec: []byte("spec"), Signature: []byte("s")}, store.Policy{Weights: []byte("w0"), Optimizer: "o0"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.OpenRound(t.Context(), run, next); err != nil {
		t.Fatal(err)
	}
	return s
}

func next(now int64, r store.Run, last *store.Round) (store.Round, error) {
	out := store.Round{ID: 1, Kind: 1, Version: r.Version, Signed: store.Signed{Spec: []byte("round"), Key: 1, Signature: []byte("s")}, UploadFrom: now, UploadUntil: now + 60_000}
	if last != nil {
		out.ID = last.ID + 1
	}
	return out, nil
}

func nullifier(n uint64) (out [32]byte) {
	return sha256.Sum256(binary.BigEndian.AppendUint64(nil, n))
}

// lead takes the lease, closes the round and applies it.
func lead(t testing.TB, s *store.Store, id uint64, r store.Result) {
	t.Helper()
	fence, err := s.Lease(t.Context(), run, time.Minute)
	if err != nil || fence == 0 {
		t.Fatalf("no lease: %v", err)
	}
	if closing, err := s.CloseRound(t.Context(), run, id, 0, true); err != nil || !closing {
		t.Fatalf("not closing: %v", err)
	}
	if err := s.Apply(t.Context(), run, id, fence, store.StateApplied, r); err != nil {
		t.Fatal(err)
	}
	if err := s.Yield(t.Context(), run, fence); err != nil {
		t.Fatal(err)
	}
}

func eachTest(t *testing.T, fresh func(testing.TB) place) {
	for name, test := range map[string]func(*testing.T, place){
		"a round's life": aLife, "totals": totals, "fence": aFence, "one body of many": oneBody, "close races commits": closeRaces,
		"codes": codes, "revocation": revocation, "revoked and forgotten": forgotten, "many certificates": many, "model of commits": model,
	} {
		t.Run(name, func(t *testing.T) { test(t, fresh(t)) })
	}
}

func TestOnSQLite(t *testing.T) { eachTest(t, lite) }

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

// oneBody: 64 bodies race on each of several pseudonyms, in batches of several
// sizes. One is accepted; the same body is a duplicate ever after, another is spent.
func oneBody(t *testing.T, p place) {
	s := begun(t, p)
	const bodies, places = 64, 8
	var accepted, spent, duplicate [places]atomic.Int64
	var wg sync.WaitGroup
	for b := range bodies {
		wg.Go(func() {
			for from := 0; from < places; from += 1 + b%3 {
				var batch []store.Report
				for n := from; n < min(from+1+b%3, places); n++ {
					batch = append(batch, store.Report{Nullifier: nullifier(uint64(n)), Body: []byte{byte(b)}})
				}
				for again := range 2 {
					out, err := s.Commit(context.Background(), run, 1, batch, 0)
					if err != nil {
						t.Error(err)
						return
					}
					for i, o := range out {
						switch {
						case o == store.ReportAccepted && again == 0:
							accepted[from+i].Add(1)
						case o == store.ReportSpent:
							spent[from+i].Add(1)
						case o == store.ReportDuplicate && again == 1:
							duplicate[from+i].Add(1)
						default:
							t.Errorf("outcome %d, time %d", o, again)
						}
					}
				}
			}
		})
	}
	wg.Wait()
	for n := range places {
		if a, d, s := accepted[n].Load(), duplicate[n].Load(), spent[n].Load(); a != 1 || d != 1 || s != 2*bodies-2 {
			t.Errorf("place %d: %d accepted, %d duplicate, %d spent; want 1, 1, %d", n, a, d, s, 2*bodies-2)
		}
	}
}

// closeRaces: while reports come in, the round closes. All that were accepted are
// there, and no other.
func closeRaces(t *testing.T, p place) {
	for trial := range 4 {
		s := begun(t, p)
		for earlier := range trial {
			lead(t, s, uint64(earlier+1), store.Result{Next: next})
		}
		round := uint64(trial + 1)
		var accepted, refused atomic.Int64
		over := make(chan struct{}) // the round
		var wg sync.WaitGroup
		for w := range 4 {
			wg.Go(func() {
				for n := 0; refused.Load() < 4; n++ {
					late := closed(over)
					out, err := s.Commit(context.Background(), run, round, []store.Report{{nullifier(uint64(w<<32 + n)), []byte("x")}}, 0)
					switch {
					case err != nil:
						t.Error(err)
						return
					case out[0] == store.ReportAccepted && late:
						t.Error("a report that came after the round was closed is accepted")
						return
					case out[0] == store.ReportAccepted:
						accepted.Add(1)
					case out[0] == store.ReportStale:
						refused.Add(1)
					default:
						t.Errorf("outcome %d", out[0])
						return
					}
				}
			})
		}
		for accepted.Load() < 20 && !t.Failed() {
			if _, err := s.Count(t.Context(), run, round); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := s.CloseRound(t.Context(), run, round, 0, true); err != nil {
			t.Fatal(err)
		}
		close(over)
		var counted int64
		var last [32]byte
		if err := s.Reports(t.Context(), run, round, func(r store.Report) error {
			if counted++; counted > 1 && string(last[:]) >= string(r.Nullifier[:]) {
				t.Error("not in order")
			}
			last = r.Nullifier
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		wg.Wait()
		if counted != accepted.Load() {
			t.Errorf("%d reports were accepted and %d counted", accepted.Load(), counted)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		p = again(t, p)
	}
}

func hash(s string) store.Hash { return sha256.Sum256([]byte(s)) }

func codes(t *testing.T, p place) {
	ctx := t.Context()
	s := open(t, p)
	if err := s.AddCodes(ctx, []store.Hash{hash("good"), hash("raced")}, time.Hour); err != nil {
		t.Fatal(err)
	}
	if err := s.AddCodes(ctx, []store.Hash{hash("old")}, -time.Second); err != nil {
		t.Fatal(err)
	}
	issued := 0
	issue := func(int64) (store.Certificate, error) {
		issued++
		return store.Certificate{Serial: hash(fmt.Sprint("serial", issued)), Device: hash("device"), Expires: 1 << 60}, nil
	}
	redeem := func(code, request string) error {
		return s.Redeem(ctx, hash(code), hash("device"), hash(request), issue)
	}
	for _, c := range []struct {
		code, request string
		want          error
	}{
		{"good", "mine", nil}, {"good", "mine", nil}, {"good", "other", store.ErrCode}, {"good", "mine", nil}, {"old", "mine", store.ErrCode}, {"never", "mine", store.ErrCode},
	} {
		if err := redeem(c.code, c.request); !errors.Is(err, c.want) {
			t.Errorf("%s for %s: %v", c.code, c.request, err)
		}
	}
	if issued != 3 {
		t.Errorf("%d certificates; want 3", issued)
	}
	if err := s.Revoke(ctx, hash("serial1")); err != nil {
		t.Fatal(err)
	}
	if err := redeem("good", "mine"); !errors.Is(err, store.ErrRevoked) {
		t.Errorf("a revoked device enrols again with its code: %v", err)
	}
	fail := errors.New("no")
	if err := s.Redeem(ctx, hash("raced"), hash("device of raced"), hash("x"), func(int64) (store.Certificate, error) { return store.Certificate{}, fail }); !errors.Is(err, fail) {
		t.Error(err)
	}
	var good atomic.Int64
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() {
			err := s.Redeem(context.Background(), hash("raced"), hash("device of raced"), hash(fmt.Sprint(n)), func(int64) (store.Certificate, error) {
				return store.Certificate{Serial: hash(fmt.Sprint("raced", n)), Device: hash("device of raced"), Expires: 1 << 60}, nil
			})
			if err == nil {
				good.Add(1)
			} else if !errors.Is(err, store.ErrCode) {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if good.Load() != 1 {
		t.Errorf("a code was good for %d devices", good.Load())
	}
}

// forgotten: a revoked device stays out when its certificates have expired before its
// code, and were swept; and a code is revoked with its device, used or not.
func forgotten(t *testing.T, p place) {
	ctx := t.Context()
	s := open(t, p)
	names := []string{"by serial", "by code", "unused", "free"}
	var all []store.Hash
	for _, n := range names {
		all = append(all, hash(n))
	}
	if err := s.AddCodes(ctx, all, 24*time.Hour); err != nil {
		t.Fatal(err)
	}
	issued := 0
	redeem := func(n string) error {
		return s.Redeem(ctx, hash(n), hash("device "+n), hash("key"), func(int64) (store.Certificate, error) {
			issued++
			return store.Certificate{Serial: hash(fmt.Sprint(n, issued)), Device: hash("device " + n), Expires: 1}, nil // long ago
		})
	}
	for _, n := range []string{"by serial", "by code", "free"} {
		if err := redeem(n); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Revoke(ctx, hash("by serial1")); err != nil {
		t.Fatal(err)
	}
	for _, n := range []string{"by code", "unused"} {
		if err := s.RevokeCode(ctx, hash(n), hash("device "+n)); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.RevokeCode(ctx, hash("never"), hash("device never")); !errors.Is(err, store.ErrUnknown) {
		t.Errorf("a code that there never was: %v", err)
	}
	if err := s.AddCodes(ctx, []store.Hash{hash("another")}, time.Hour); err != nil { // sweeps
		t.Fatal(err)
	}
	for n, want := range map[string]error{"by serial": store.ErrRevoked, "by code": store.ErrRevoked, "unused": store.ErrRevoked, "free": nil} {
		if err := redeem(n); !errors.Is(err, want) {
			t.Errorf("%s: %v; want %v", n, err, want)
		}
		err := s.Reissue(ctx, hash("device "+n), func(int64) (store.Certificate, error) {
			return store.Certificate{Serial: hash("renewed " + n), Device: hash("device " + n), Expires: 1 << 60}, nil
		})
		if !errors.Is(err, want) {
			t.Errorf("%s renews: %v; want %v", n, err, want)
		}
	}
	// The code is gone, and its device renewed before.
	if err := s.RevokeCode(ctx, hash("swept"), hash("device free")); err != nil {
		t.Fatal(err)
	}
	if list, err := s.Revoked(ctx); err != nil || len(list) != 1 || list[0] != hash("renewed free") {
		t.Errorf("revoked: %d certificates, %v; want the one that has not expired", len(list), err)
	}
}

// revocation of any certificate is of the device: of what it has, and of what it asks
// for at that moment.
func revocation(t *testing.T, p place) {
	ctx := t.Context()
	s := open(t, p)
	for device := range 6 {
		name := hash(fmt.Sprint("device", device))
		serial := func(n int) store.Hash { return hash(fmt.Sprint(device, " ", n)) }
		cert := func(n int) func(int64) (store.Certificate, error) {
			return func(int64) (store.Certificate, error) {
				return store.Certificate{Serial: serial(n), Device: name, Expires: 1 << 60}, nil
			}
		}
		if err := s.Reissue(ctx, name, cert(0)); !errors.Is(err, store.ErrRevoked) {
			t.Errorf("a device that was never enrolled renewed: %v", err)
		}
		if err := s.AddCodes(ctx, []store.Hash{name}, time.Hour); err != nil {
			t.Fatal(err)
		}
		if err := s.Redeem(ctx, name, name, name, cert(0)); err != nil {
			t.Fatal(err)
		}
		renewed, revoked := make(chan int, 1), make(chan struct{})
		go func() { // renews until it is refused
			for n := 1; ; n++ {
				late := closed(revoked)
				switch err := s.Reissue(context.Background(), name, cert(n)); {
				case errors.Is(err, store.ErrRevoked):
					renewed <- n
					return
				case late || err != nil && !errors.Is(err, store.ErrMany):
					t.Errorf("renewal %d, begun after it was revoked: %v: %v", n, late, err)
					renewed <- n
					return
				case err != nil:
					n--
				}
			}
		}()
		if err := s.Revoke(ctx, serial(0)); err != nil {
			t.Fatal(err)
		}
		close(revoked)
		n := <-renewed
		list, err := s.Revoked(ctx)
		if err != nil {
			t.Fatal(err)
		}
		on := map[store.Hash]bool{}
		for _, h := range list {
			on[h] = true
		}
		for i := range n {
			if !on[serial(i)] {
				t.Errorf("certificate %d of %d is good after the device was revoked", i, n)
			}
		}
	}
	if err := s.Revoke(ctx, hash("never")); !errors.Is(err, store.ErrUnknown) {
		t.Errorf("one that was never issued: %v", err)
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
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

// model holds any sequence of batches, with anything twice in them, against a map.
func model(t *testing.T, p place) {
	s := begun(t, p)
	round, held := uint64(1), map[[32]byte]byte{}
	rapid.Check(t, func(t *rapid.T) {
		var batch []store.Report
		var want []store.Outcome
		for range rapid.IntRange(1, 8).Draw(t, "size") {
			n, body := nullifier(uint64(rapid.IntRange(0, 30).Draw(t, "who"))), byte(rapid.IntRange(0, 1).Draw(t, "body"))
			o := store.ReportAccepted
			if b, is := held[n]; is && b == body {
				o = store.ReportDuplicate
			} else if is {
				o = store.ReportSpent
			} else {
				held[n] = body
			}
			batch, want = append(batch, store.Report{Nullifier: n, Body: []byte{body}}), append(want, o)
		}
		got, err := s.Commit(context.Background(), run, round, batch, 0)
		if err != nil {
			t.Fatal(err)
		}
		for i := range want {
			if got[i] != want[i] {
				t.Fatalf("report %d: outcome %d; want %d", i, got[i], want[i])
			}
		}
	})
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
