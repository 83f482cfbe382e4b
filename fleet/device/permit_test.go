package device_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/device"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/fleet"
)

// sent counts reports that left, by round and bytes.
func (s *server) sent() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for i, u := range s.uploads {
		fresh := true
		for _, before := range s.uploads[:i] {
			fresh = fresh && !proto.Equal(u.r, before.r)
		}
		if fresh {
			n++
		}
	}
	return n
}

// TestCopiesOfADeviceSendOneReportARound: a directory that was copied at any point of a round, and goes on at two places: whoever
// draws the permit sends, and the other one stops, now and in its next process.
func TestCopiesOfADeviceSendOneReportARound(t *testing.T) {
	copies(t, []string{"trained", "asked"}, 1)
}

// copies goes through points at which a directory is copied.
func copies(t *testing.T, points []string, mostRounds int) {
	for _, point := range points {
		for rounds := 1; rounds <= mostRounds; rounds++ {
			synctest.Test(t, func(t *testing.T) {
				s := newServer(t, signs, 4, nil)
				c := s.config(t.TempDir())
				a := enrolled(t, s, c)
				s.open(time.Minute, time.Minute, nil)
				stopped := errors.New("stopped")
				a.SetCrash(func(at string) error {
					if at == point {
						return stopped
					}
					return nil
				})
				if err := a.Run(t.Context(), s.services(), learner(ones)); !errors.Is(err, stopped) {
					t.Fatalf("%s: %v", point, err)
				}
				if err := a.Close(); err != nil {
					t.Fatal(err)
				}
				dirs := []string{c.Dir, filepath.Join(t.TempDir(), "copy")}
				if err := os.CopyFS(dirs[1], os.DirFS(dirs[0])); err != nil {
					t.Fatal(err)
				}
				go func() {
					for range rounds {
						time.Sleep(3 * time.Minute)
						s.open(time.Minute, time.Minute, nil)
					}
					time.Sleep(3 * time.Minute)
					s.end()
				}()
				ended := make(chan error, len(dirs))
				for _, dir := range dirs {
					go func() {
						copied := c
						copied.Dir = dir
						for again := range 2 {
							a, err := device.Open(t.Context(), copied)
							if err == nil {
								err = errors.Join(a.Run(t.Context(), s.services(), learner(ones)), a.Close())
							}
							if again == 1 {
								ended <- err
							}
						}
					}()
				}
				stops := 0
				for range dirs {
					if err := <-ended; errors.Is(err, device.ErrCopied) && fault.Exit(err) == fault.ExitRefused {
						stops++
					} else if err != nil {
						t.Errorf("%s: %v", point, err)
					}
				}
				if n := s.sent(); n > 1+rounds || n > len(s.permits) || stops == 0 {
					t.Errorf("%s: %d reports left in %d rounds by %d permits, and %d copies stopped", point, n, 1+rounds, len(s.permits), stops)
				}
				paid := 0.
				for _, dir := range dirs {
					c.Dir = dir
					a, err := device.Open(t.Context(), c)
					if err != nil {
						t.Fatal(err)
					}
					paid = max(paid, spent(t, a))
					tolerate(t, a.Close())
				}
				if paid < float64(s.sent()) {
					t.Errorf("%s: %d reports left, and no wallet paid for more than %v", point, s.sent(), paid)
				}
				for _, u := range s.uploads {
					for _, other := range s.uploads {
						if u.r.GetRound() == other.r.GetRound() && !proto.Equal(u.r, other.r) {
							t.Errorf("%s: two reports in round %d", point, u.r.GetRound())
						}
					}
				}
			})
		}
	}
}

// TestAPermitWhoseAnswerIsLost is asked for again, by the same nonce; one that an earlier process asked for is not: it is paid for, and its
// number is no surprise.
func TestAPermitWhoseAnswerIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, signs, 4, nil)
		c := s.config(t.TempDir())
		a := enrolled(t, s, c)
		lost := 0
		s.ask = func(int) error {
			if lost++; lost <= 3 {
				return connect.NewError(connect.CodeUnavailable, errors.New("lost"))
			}
			return nil
		}
		s.open(time.Minute, 30*time.Minute, nil)
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		if err := a.Run(ctx, s.services(), learner(ones)); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if len(s.permits) != 1 || lost < 4 || s.taken[1] == nil || spent(t, a) != 1 {
			t.Errorf("%d permits, %d requests, spent %v", len(s.permits), lost, spent(t, a))
		}
		for range 3 { // the process ends after the answer, and before it is used
			s.open(time.Minute, time.Minute, nil)
			stopped := errors.New("stopped")
			a.SetCrash(func(at string) error {
				if at == "asked" {
					return stopped
				}
				return nil
			})
			if err := a.Run(t.Context(), s.services(), learner(ones)); !errors.Is(err, stopped) {
				t.Fatal(err)
			}
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
			var err error
			if a, err = device.Open(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			if err := a.Run(ctx, s.services(), learner(ones)); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			cancel()
		}
		if len(s.permits) != 4 || s.sent() != 1 || spent(t, a) != 4 {
			t.Errorf("%d permits, %d reports, spent %v; want 4, 1, 4", len(s.permits), s.sent(), spent(t, a))
		}
		s.open(time.Minute, time.Minute, nil)
		s.end()
		tolerate(t, a.Run(t.Context(), s.services(), learner(ones)))
		if s.sent() != 2 || spent(t, a) != 5 {
			t.Errorf("after that %d reports left, spent %v", s.sent(), spent(t, a))
		}
		tolerate(t, a.Close())
	})
}

// TestWhoGivesNoPermits gets no reports: a server that knows of none, that has given all, that forgot some, or that counts others'.
func TestWhoGivesNoPermits(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*server)
		says    string // of Run; "" where it ends as it should
	}{
		"an older server": {func(s *server) { s.early = true }, "too old for this agent"},
		"one that forgot": {func(s *server) { s.permits = nil }, "gave permit 1, and this copy knows of 1"},
		"another copy":    {func(s *server) { s.permits = append(s.permits, permit{round: 77}) }, "gave permit 3, and this copy knows of 1"},
		"another run's":   {func(s *server) { s.permits = append(s.permits, permit{round: 2}) }, "gave permit 2, and this copy knows of 1"},
		"all are drawn":   {func(s *server) { s.all = true }, ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, signs, 4, nil)
			a := enrolled(t, s, s.config(t.TempDir()))
			defer a.Close()
			s.open(time.Minute, time.Minute, nil)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			if err := a.Run(ctx, s.services(), learner(ones)); !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			c.prepare(s)
			s.open(time.Minute, time.Minute, nil)
			ctx, cancel = context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			err := a.Run(ctx, s.services(), learner(ones))
			if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
				t.Errorf("%s: %v; want %q", name, err, c.says)
			}
			if s.sent() != 1 || spent(t, a) != 1 {
				t.Errorf("%s: %d reports left, spent %v", name, s.sent(), spent(t, a))
			}
		})
	}
}

// TestAStateIsOfOneMachine: on another one it is refused until its owner says that it was moved; then the first machine refuses it.
func TestAStateIsOfOneMachine(t *testing.T) {
	s := newServer(t, signs, 4, nil)
	c := s.config(t.TempDir())
	try := func(machine string, move bool) error {
		t.Helper()
		c.Machine, c.Move = machine, move
		a, err := device.Open(t.Context(), c)
		if err != nil {
			return err
		}
		return a.Close()
	}
	for i, step := range []struct {
		machine string
		move    bool
		refused bool
	}{{"here", false, false}, {"here", false, false}, {"there", false, true}, {"", false, true}, {"there", true, false}, {"there", false, false}, {"here", false, true}, {"", true, false}, {"", false, false}} {
		if err := try(step.machine, step.move); errors.Is(err, device.ErrMachine) != step.refused || err != nil && !step.refused {
			t.Errorf("step %d: %v", i, err)
		}
	}
}

// TestAServerThatWasPutBack counts anew, above all that it ever gave: a device goes on, whatever it had drawn, but of two copies one at most.
func TestAServerThatWasPutBack(t *testing.T) {
	for _, copies := range []int{1, 2} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, signs, 4, nil)
			c := s.config(t.TempDir())
			a := enrolled(t, s, c)
			for range 2 {
				s.open(time.Minute, time.Minute, nil)
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
				if err := a.Run(ctx, s.services(), learner(ones)); !errors.Is(err, context.DeadlineExceeded) {
					t.Fatal(err)
				}
				cancel()
			}
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
			other := filepath.Join(t.TempDir(), "copy")
			if err := os.CopyFS(other, os.DirFS(c.Dir)); err != nil {
				t.Fatal(err)
			}
			s.lost, s.era = len(s.permits), 1_900_000_000<<fleet.EraBits
			go func() {
				for range 3 {
					s.open(time.Minute, time.Minute, nil)
					time.Sleep(3 * time.Minute)
				}
				s.end()
			}()
			ended := make(chan error, copies)
			for _, dir := range []string{c.Dir, other}[:copies] {
				go func() {
					c := c
					c.Dir = dir
					a, err := device.Open(t.Context(), c)
					if err == nil {
						err = errors.Join(a.Run(t.Context(), s.services(), learner(ones)), a.Close())
					}
					ended <- err
				}()
			}
			stops := 0
			for range copies {
				if err := <-ended; errors.Is(err, device.ErrCopied) {
					stops++
				} else if err != nil {
					t.Error(err)
				}
			}
			if n := s.sent(); copies == 1 && (stops != 0 || n != 5) || copies == 2 && (stops == 0 || n > 5) {
				t.Errorf("%d copies: %d stopped, %d reports left", copies, stops, n)
			}
		})
	}
}
