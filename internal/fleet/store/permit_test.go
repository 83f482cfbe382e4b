package store_test

import (
	"context"
	"encoding/binary"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/discreet-rl/discreet/internal/fleet/store"
)

// drawing is a request of a device of a number, which says that it has drawn so many.
func drawing(device int, says uint64, request string) store.Draw {
	name := func(kind string) func(uint64) store.Hash {
		return func(n uint64) store.Hash {
			return hash(kind + string(binary.BigEndian.AppendUint64([]byte{byte(device)}, n)))
		}
	}
	return store.Draw{Place: name("all"), Here: name("here"), Drawn: says, DrawnHere: says, Request: hash(request)}
}

// permits: devices ask many times at once, whatever they say of themselves. Each has one permit a
// round, by one of the requests, numbered without a gap, and no more than it may.
func permits(t *testing.T, p place) {
	const devices, rounds, most, askers = 3, 6, 4, 5
	s := begun(t, p)
	for round := range uint64(rounds) {
		var mu sync.Mutex
		seen := map[int]map[store.Drawn]int{}
		var all sync.WaitGroup
		for a := range askers {
			all.Go(func() {
				rng := rand.New(rand.NewPCG(round, uint64(a)))
				for range 2 {
					var batch []store.Draw
					for _, d := range rng.Perm(devices) {
						batch = append(batch, drawing(d, []uint64{0, round, round + 1, 1 << 50, rng.Uint64N(9)}[rng.IntN(5)], string(rune('a'+a))))
					}
					out, err := s.Draw(context.Background(), run, round+1, batch, most, 0)
					if err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					for i, o := range out {
						for d := range devices {
							if batch[i].Place(1) == drawing(d, 0, "").Place(1) {
								if seen[d] == nil {
									seen[d] = map[store.Drawn]int{}
								}
								seen[d][o]++
							}
						}
					}
					mu.Unlock()
				}
			})
		}
		all.Wait()
		for d := range devices {
			if len(seen[d]) != 1 {
				t.Errorf("round %d: device %d has permits %v", round+1, d, seen[d])
			}
			for o, n := range seen[d] {
				want, number := round+1, round+1
				if round >= most {
					want, number = 0, most
				}
				if o.Closed != 0 || o.Round != want || o.Number != number || n != 2*askers {
					t.Errorf("round %d: device %d has %+v, %d times", round+1, d, o, n)
				}
			}
		}
		lead(t, s, round+1, store.Result{Next: next})
		if out, err := s.Draw(t.Context(), run, round+1, []store.Draw{drawing(0, round, "late")}, most, 0); err != nil || out[0].Closed != store.ReportStale {
			t.Errorf("after the round: %+v, %v", out, err)
		}
	}
	if got, err := s.DrawnBy(t.Context(), run); err != nil || len(got) != most || got[0] != devices || got[most-1] != devices {
		t.Errorf("devices by the number of their permits: %v, %v", got, err)
	}
}

// numbers: a device's permits are numbered over all runs.
func numbers(t *testing.T, p place) {
	s := begun(t, p)
	other := store.RunID{8}
	if err := s.CreateRun(t.Context(), store.Run{ID: other, Settings: "{}"}, store.Signed{Spec: []byte("spec"), Signature: []byte("s")}, store.Policy{Weights: []byte("w0"), Optimizer: "o0"}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.OpenRound(t.Context(), other, next); err != nil {
		t.Fatal(err)
	}
	elsewhere := drawing(1, 0, "y")
	elsewhere.Here = func(n uint64) store.Hash { return hash("elsewhere" + string(binary.BigEndian.AppendUint64(nil, n))) }
	for i, c := range []struct {
		run  store.RunID
		d    store.Draw
		want store.Drawn
	}{
		{run, drawing(1, 0, "x"), store.Drawn{Round: 1, Number: 1, Request: hash("x")}},
		{other, elsewhere, store.Drawn{Round: 1, Number: 2, Request: hash("y")}},
		{run, drawing(1, 1, "z"), store.Drawn{Round: 1, Number: 1, Request: hash("x")}},
		{other, elsewhere, store.Drawn{Round: 1, Number: 2, Request: hash("y")}},
	} {
		if out, err := s.Draw(t.Context(), c.run, 1, []store.Draw{c.d}, 1, 0); err != nil || out[0] != c.want {
			t.Errorf("request %d: %+v, %v; want %+v", i, out, err, c.want)
		}
	}
}
