package serve

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// Whoever asks gets what was read after they asked, within two readings; readings do not
// overlap, and are fewer than callers where callers come faster than one takes.
func TestAReadingStandsForThoseWhoAskedBeforeIt(t *testing.T) {
	const callers, long = 1000, time.Second
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		reads, busy := 0, false
		s := newShared(func(context.Context) (time.Time, error) {
			if busy {
				t.Error("two readings at once")
			}
			at := time.Now()
			reads, busy = reads+1, true
			time.Sleep(long)
			busy = false
			return at, nil
		})
		random := rand.New(rand.NewPCG(1, 2))
		var group sync.WaitGroup
		for range callers {
			after := time.Duration(random.Int64N(int64(20 * long)))
			group.Go(func() {
				time.Sleep(after)
				asked := time.Now()
				at, err := s.Read(t.Context())
				if err != nil || at.Before(asked) {
					t.Errorf("asked at %v, and was told what was read at %v: %v", asked.Sub(begun), at.Sub(begun), err)
				}
				if waited := time.Since(asked); waited > 2*long {
					t.Errorf("waited for %v", waited)
				}
			})
		}
		group.Wait()
		// One after the other for 20 seconds, and the last one.
		if reads < 20 || reads > 22 {
			t.Errorf("%d readings for %d callers in 20 s", reads, callers)
		}
	})
}

// A caller who leaves gets nothing and takes nothing from the others; an error is told to
// all who waited for that reading and to nobody after them.
func TestAReadingOutlivesWhoAskedFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("away")
		reads := 0
		s := newShared(func(ctx context.Context) (int, error) {
			reads++
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
				return 0, ctx.Err()
			}
			if reads == 2 {
				return 0, away
			}
			return reads, nil
		})
		var group sync.WaitGroup
		ask := func(after, patience time.Duration, want int, wantErr error) {
			group.Go(func() {
				time.Sleep(after)
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				defer cancel()
				if got, err := s.Read(ctx); got != want || !errors.Is(err, wantErr) {
					t.Errorf("asked after %v: %d, %v; want %d, %v", after, got, err, want, wantErr)
				}
			})
		}
		ask(0, time.Minute, 1, nil)
		// The next reading is begun by one who leaves before it ends.
		ask(100*time.Millisecond, time.Minute, 0, away)
		ask(200*time.Millisecond, time.Minute, 0, away)
		ask(300*time.Millisecond, time.Second, 0, context.DeadlineExceeded)
		ask(1500*time.Millisecond, time.Minute, 3, nil)
		group.Wait()
	})
	synctest.Test(t, func(t *testing.T) {
		s := newShared(func(ctx context.Context) (int, error) {
			time.Sleep(time.Second)
			return 7, ctx.Err()
		})
		ctx, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		group.Go(func() { _, _ = s.Read(ctx) })
		group.Go(func() {
			time.Sleep(time.Millisecond)
			cancel()
		})
		group.Wait()
		if got, err := s.Read(t.Context()); got != 7 || err != nil {
			t.Errorf("%d, %v", got, err)
		}
	})
}

// A reading that panics is an error for those who waited for it, and the next is made.
func TestAReadingThatPanicsLocksNobodyOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reads := 0
		s := newShared(func(context.Context) (int, error) {
			time.Sleep(time.Second)
			if reads++; reads == 2 {
				panic("no")
			}
			return reads, nil
		})
		var group sync.WaitGroup
		group.Go(func() { _, _ = s.Read(t.Context()) })
		group.Go(func() {
			defer func() { _ = recover() }()
			time.Sleep(100 * time.Millisecond)
			_, _ = s.Read(t.Context())
		})
		group.Go(func() {
			time.Sleep(200 * time.Millisecond)
			if _, err := s.Read(t.Context()); !errors.Is(err, errUnread) {
				t.Errorf("after a panic: %v", err)
			}
		})
		group.Wait()
		if got, err := s.Read(t.Context()); got != 3 || err != nil {
			t.Errorf("the next: %d, %v", got, err)
		}
	})
}
