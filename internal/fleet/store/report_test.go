package store_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/internal/fleet/store"
)

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
