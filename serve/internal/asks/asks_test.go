package asks_test

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"context"

	"github.com/discreet-rl/discreet/internal/service/database"
	"github.com/discreet-rl/discreet/serve/internal/asks"
)

func Example() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "asks")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	s, err := asks.Open(ctx, filepath.Join(dir, "curator.db"), database.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	ann := asks.By{Who: "ann"}
	if _, err := s.Add(ctx, ann, asks.Ask{Key: "0123456789abcdef", Analyst: "ann", Dataset: "trial", Question: "...", State: asks.Queued}, 100); err != nil {
		fmt.Println(err)
		return
	}
	l, err := s.Take(ctx, []string{"trial"}, time.Minute)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(l.State, s.Finish(ctx, l, asks.Outcome{State: asks.Released, Release: []byte("{}")}))
	// Output: running <nil>
}

var ann = asks.By{Who: "ann", Address: "192.0.2.1:9"}

// onEach runs a test on each kind of store, with a clock that the test moves where the
// store has none of its own.
func onEach(t *testing.T, f func(t *testing.T, s *asks.Store, later func(time.Duration))) {
	for name, location := range locations(t) {
		t.Run(name, func(t *testing.T) {
			now := time.Now()
			s, err := asks.Open(t.Context(), location, database.Options{Now: func() time.Time { return now }})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			f(t, s, func(d time.Duration) { now = now.Add(d) })
		})
	}
}

func ask(key string) asks.Ask {
	return asks.Ask{Key: key, Analyst: "ann", Dataset: "trial", Question: "q", Purpose: "p", Epsilon: 1, Delta: 1e-6, State: asks.Queued}
}

// A key is one ask, whoever repeats it, and another question under it is refused.
func TestAKeyIsOneAsk(t *testing.T) {
	onEach(t, func(t *testing.T, s *asks.Store, _ func(time.Duration)) {
		a, err := s.Add(t.Context(), ann, ask("k"), 100)
		if err != nil {
			t.Fatal(err)
		}
		again, err := s.Add(t.Context(), ann, ask("k"), 100)
		if err != nil || again.ID != a.ID {
			t.Errorf("%v, %v; want %s", again, err, a.ID)
		}
		other := ask("k")
		other.Question = "another"
		if _, err := s.Add(t.Context(), ann, other, 100); !errors.Is(err, asks.ErrKey) {
			t.Errorf("another question: %v", err)
		}
		list, err := s.List(t.Context(), "trial", "", math.MaxInt64, 10)
		if err != nil || len(list) != 1 {
			t.Errorf("%d asks, %v", len(list), err)
		}
	})
}

// A lease that ran out goes to another worker, and the first writes nothing any more.
func TestALeaseThatWasTakenOverWritesNothing(t *testing.T) {
	onEach(t, func(t *testing.T, s *asks.Store, later func(time.Duration)) {
		if _, err := s.Add(t.Context(), ann, ask("k"), 100); err != nil {
			t.Fatal(err)
		}
		first, err := s.Take(t.Context(), []string{"trial", "other"}, time.Microsecond)
		if err != nil {
			t.Fatal(err)
		}
		later(time.Second)
		second, err := s.Take(t.Context(), []string{"trial"}, time.Hour)
		if err != nil || second.ID != first.ID {
			t.Fatalf("%v, %v", second, err)
		}
		if _, err := s.Take(t.Context(), []string{"trial"}, time.Hour); !errors.Is(err, asks.ErrNone) {
			t.Errorf("a third worker has %v", err)
		}
		if err := s.Extend(t.Context(), first, time.Hour); !errors.Is(err, asks.ErrLost) {
			t.Errorf("extended: %v", err)
		}
		if err := s.Finish(t.Context(), first, asks.Outcome{State: asks.Pending}); !errors.Is(err, asks.ErrLost) {
			t.Errorf("finished: %v", err)
		}
		if err := s.Finish(t.Context(), second, asks.Outcome{State: asks.Released, Release: []byte("r"), Notices: []string{"n"}}); err != nil {
			t.Error(err)
		}
		if text, err := s.Release(t.Context(), second.ID); string(text) != "r" || err != nil {
			t.Errorf("release %q, %v", text, err)
		}
		if n, err := s.Notices(t.Context(), "trial", math.MaxInt64, 10); len(n) != 1 || err != nil || n[0].Text != "n" {
			t.Errorf("notices %v, %v", n, err)
		}
		if _, err := s.Move(t.Context(), ann, second.ID, []asks.State{asks.Waiting, asks.Queued}, asks.Withdrawn, ""); !errors.Is(err, asks.ErrState) {
			t.Errorf("withdrawn after its end: %v", err)
		}
		if n, _, err := s.VerifyAudit(t.Context()); n != 3 || err != nil {
			t.Errorf("%d lines, %v; want queued, running, released", n, err)
		}
	})
}

// An ask whose ledger is away for an hour is tried again ever more seldom. The log has one
// line when it begins to wait and one when it goes on, and the steward one notice a reason.
func TestAnAskThatWaitsIsLoggedOnce(t *testing.T) {
	now := time.Now()
	s, err := asks.Open(t.Context(), filepath.Join(t.TempDir(), "curator.db"), database.Options{Now: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	a, err := s.Add(t.Context(), ann, ask("k"), 100)
	if err != nil {
		t.Fatal(err)
	}
	begun := now
	var tried []time.Duration
	for ; now.Sub(begun) <= time.Hour; now = now.Add(time.Second) {
		l, err := s.Take(t.Context(), []string{"trial"}, time.Minute)
		if errors.Is(err, asks.ErrNone) {
			continue
		}
		if err != nil || l.ID != a.ID {
			t.Fatalf("%v, %v", l, err)
		}
		tried = append(tried, now.Sub(begun))
		reason := "the witness is gone"
		if len(tried) > 10 {
			reason = "the witness knows more than the ledger"
		}
		if err := s.Finish(t.Context(), l, asks.Outcome{State: asks.Queued, Notices: []string{reason}}); err != nil {
			t.Fatal(err)
		}
	}
	// A rest of n seconds is over a microsecond after them, which is at the next look.
	var want []time.Duration
	for at, rest := time.Duration(0), 10*time.Second; at <= time.Hour; at, rest = at+rest+time.Second, min(2*rest, 5*time.Minute) {
		want = append(want, at)
	}
	if !slices.Equal(tried, want) {
		t.Errorf("tried at %v; want %v", tried, want)
	}
	now = now.Add(time.Hour)
	l, err := s.Take(t.Context(), []string{"trial"}, time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Finish(t.Context(), l, asks.Outcome{State: asks.Released, Release: []byte("r")}); err != nil {
		t.Fatal(err)
	}
	lines, err := s.Audit(t.Context(), "trial", 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, line := range lines {
		said = append(said, line.What)
	}
	if want := []string{"queued", "running", "waits until the ledger allows it", "goes on", "released"}; !slices.Equal(said, want) {
		t.Errorf("the log says %q; want %q", said, want)
	}
	notices, err := s.Notices(t.Context(), "trial", math.MaxInt64, 100)
	if err != nil || len(notices) != 2 || notices[1].Text != "the witness is gone" {
		t.Errorf("notices %v, %v; want one a reason", notices, err)
	}
	if n, _, err := s.VerifyAudit(t.Context()); n != 5 || err != nil {
		t.Errorf("%d lines, %v", n, err)
	}
}

// The end of an ask is told at the next multiple of a time, never before it ended.
func TestTheEndIsToldAtAMultiple(t *testing.T) {
	onEach(t, func(t *testing.T, s *asks.Store, _ func(time.Duration)) {
		a, err := s.Add(t.Context(), ann, ask("k"), 100)
		if err != nil {
			t.Fatal(err)
		}
		l, err := s.Take(t.Context(), []string{"trial"}, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Finish(t.Context(), l, asks.Outcome{State: asks.Refused, Every: time.Hour}); err != nil {
			t.Fatal(err)
		}
		got, err := s.Get(t.Context(), a.ID)
		if err != nil || !got.Told.Equal(got.Ended.Truncate(time.Hour).Add(time.Hour)) {
			t.Errorf("ended %v, told %v, %v", got.Ended, got.Told, err)
		}
	})
}

// A session says what it was begun with until it ends, and a number is used once.
func TestSessionsAndNumbersUsedOnce(t *testing.T) {
	for kind, location := range locations(t) {
		t.Run(kind, func(t *testing.T) {
			s, err := asks.Open(t.Context(), location, database.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			for i, of := range []asks.Session{{Token: [32]byte{1, 2}}, {Person: "ann"}} {
				key := [32]byte{byte(i)}
				if err := s.NewSession(t.Context(), key, of, time.Hour); err != nil {
					t.Fatal(err)
				}
				if got, err := s.Session(t.Context(), key); err != nil || got != of {
					t.Errorf("%v, %v; want %v", got, err, of)
				}
				if err := s.EndSession(t.Context(), key); err != nil {
					t.Fatal(err)
				}
				if got, err := s.Session(t.Context(), key); !errors.Is(err, asks.ErrNone) {
					t.Errorf("after its end: %v, %v", got, err)
				}
			}
			if err := s.NewSession(t.Context(), [32]byte{9}, asks.Session{Person: "ann"}, 0); err != nil {
				t.Fatal(err)
			}
			if got, err := s.Session(t.Context(), [32]byte{9}); !errors.Is(err, asks.ErrNone) {
				t.Errorf("of no time: %v, %v", got, err)
			}
			number := [32]byte{7}
			for i, want := range []error{nil, asks.ErrExists, asks.ErrExists} {
				if err := s.UseOnce(t.Context(), number, time.Hour); !errors.Is(err, want) {
					t.Errorf("use %d: %v; want %v", i+1, err, want)
				}
			}
			if err := s.UseOnce(t.Context(), [32]byte{8}, time.Hour); err != nil {
				t.Errorf("another number: %v", err)
			}
		})
	}
}
