package device_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/device"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
)

// TestADeviceThatWasAwayComesBack with a new code, as who it was: its wallet, the rounds that it paid for, and the report that was
// made before it went, with the same bytes.
func TestADeviceThatWasAwayComesBack(t *testing.T) {
	for _, point := range []string{"trained", "kept", "uploaded"} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, signs, 4, nil)
			s.pseudonym, s.valid = [32]byte{5}, 59*24*time.Hour
			c := s.config(t.TempDir())
			a := enrolled(t, s, c)
			defer func() { a.Close() }()
			s.open(time.Minute, 60*24*time.Hour, nil)
			s.valid = time.Second // where it is renewed before the report goes
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
			reports, before := len(s.uploads), spent(t, a)
			s.valid = 59 * 24 * time.Hour
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Until(s.rounds[0].UploadUntil) - 6*time.Hour)
			var err error
			if a, err = device.Open(t.Context(), c); err != nil {
				t.Fatal(err)
			}
			if c, err := a.Certificate(); err != nil || time.Now().Before(c.Leaf.NotAfter) {
				t.Fatalf("the test is wrong: the certificate is good, %v", err)
			}
			if err := a.Run(t.Context(), s.services(), learner(ones)); !errors.Is(err, device.ErrExpired) {
				t.Errorf("%s: a device whose certificate has ended: %v", point, err)
			}
			for _, code := range []string{"", "right", "wrong"} {
				if err := a.Enrol(t.Context(), s, code); !errors.Is(err, device.ErrExpired) {
					t.Errorf("%s: by the code %q: %v", point, code, err)
				}
			}
			if err := a.Enrol(t.Context(), s, "again"); err != nil || s.returned != 1 {
				t.Fatalf("%s: %v; %d came back", point, err, s.returned)
			}
			if err := a.Enrol(t.Context(), s, "again"); err != nil || s.returned != 1 {
				t.Errorf("%s: one that is back enrols: %v; %d came back", point, err, s.returned)
			}
			s.end()
			tolerate(t, a.Run(t.Context(), s.services(), learner(ones)))
			paid := map[string]float64{"trained": 0, "kept": 1, "uploaded": 1}[point]
			if got := spent(t, a); got != 1 || before != paid || (reports == 1) != (point == "uploaded") {
				t.Errorf("%s: epsilon %v was spent before and %v in the end, with %d reports before; want one report", point, before, got, reports)
			}
			for _, u := range s.uploads {
				if !proto.Equal(u.r, s.uploads[0].r) {
					t.Errorf("%s: two bodies in one round", point)
				}
			}
			if s.taken[1] == nil {
				t.Errorf("%s: the report was not taken", point)
			}
		})
	}
}

// TestAServerThatTakesADeviceForAnother is refused: it could report twice in a round.
func TestAServerThatTakesADeviceForAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, signs, 4, nil)
		s.valid = time.Hour
		a := enrolled(t, s, s.config(t.TempDir()))
		defer a.Close()
		first, err := a.Certificate()
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Hour)
		s.pseudonym[0]++
		if err := a.Enrol(t.Context(), s, "again"); !errors.Is(err, device.ErrIdentity) {
			t.Errorf("another pseudonym: %v", err)
		}
		if c, err := a.Certificate(); err != nil || c != first {
			t.Errorf("the device took its certificate: %v", err)
		}
	})
}

// TestAServerThatForgot: whatever a store that was put back has lost, the device stops, says so, and sends nothing more.
func TestAServerThatForgot(t *testing.T) {
	for name, c := range map[string]struct {
		forget func(*server)
		// later is how it goes on after some seconds; then nothing was lost.
		later func(s *server, before []*fleetv1.SignedSpec)
		older bool
		lost  bool
	}{
		"rounds":           {forget: func(s *server) { s.rounds, s.specs = s.rounds[:1], s.specs[:1] }, lost: true},
		"all rounds":       {forget: func(s *server) { s.rounds, s.specs = nil, nil }, lost: true},
		"the run":          {forget: func(s *server) { s.gone = true }, lost: true},
		"another last one": {forget: func(s *server) { s.rounds, s.specs = s.rounds[:1], s.specs[:1]; s.openOther() }, lost: true},
		"and went on":      {forget: func(s *server) { s.rounds, s.specs = s.rounds[:1], s.specs[:1]; s.openOther(); s.openOther() }, lost: true},
		"and went on, old": {forget: func(s *server) { s.rounds, s.specs = s.rounds[:1], s.specs[:1]; s.openOther(); s.openOther() }, lost: true, older: true},
		"nothing":          {forget: func(*server) {}},
		"nothing, old":     {forget: func(*server) {}, older: true},
		"a replica's second": {
			forget: func(s *server) { s.specs = s.specs[:1] },
			later:  func(s *server, before []*fleetv1.SignedSpec) { s.specs = before },
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, signs, 4, nil)
			s.older = c.older
			cfg := s.config(t.TempDir())
			cfg.Run = &s.run.ID
			a := enrolled(t, s, cfg)
			defer func() { a.Close() }()
			for range 2 {
				s.open(time.Minute, time.Minute, nil)
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
				if err := a.Run(ctx, s.services(), learner(ones)); !errors.Is(err, context.DeadlineExceeded) {
					t.Fatal(err)
				}
				cancel()
			}
			before := s.specs
			c.forget(s)
			if c.later != nil {
				go func() {
					time.Sleep(20 * time.Second)
					s.mu.Lock()
					defer s.mu.Unlock()
					c.later(s, before)
				}()
			}
			for again := range 2 { // the second time in a new process
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				begun := time.Now()
				err := a.Run(ctx, s.services(), learner(ones))
				cancel()
				want := context.DeadlineExceeded
				if c.lost {
					want = device.ErrRunLost
				}
				if !errors.Is(err, want) || c.lost && (!errors.Is(err, fleet.ErrFork) || time.Since(begun) > 10*time.Minute) {
					t.Errorf("%s, %d: after %v %v; want %v", name, again, time.Since(begun), err, want)
				}
				if err := a.Close(); err != nil {
					t.Fatal(err)
				}
				if a, err = device.Open(t.Context(), cfg); err != nil {
					t.Fatal(err)
				}
			}
			if len(s.uploads) != 2 || spent(t, a) != 2 {
				t.Errorf("%s: %d reports left, epsilon %v was spent; want those of the first chain", name, len(s.uploads), spent(t, a))
			}
		})
	}
}

// openOther announces a round that differs from what it would have been.
func (s *server) openOther() {
	s.open(time.Hour, time.Hour, func(r *fleetv1.RoundSpec) { copy(r.Beacon, fmt.Sprint(len(s.rounds), "other")) })
}
