package device_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/device"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
)

func TestNothingIsPaidForWhatIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		prepare func(*server, *device.Config)
		change  func(*fleetv1.RoundSpec)
		end     error // of Run
	}{
		"another epsilon":             {change: func(s *fleetv1.RoundSpec) { s.Epsilon, s.Randomizer.Epsilon = 2, 2 }},
		"another randomizer":          {change: func(s *fleetv1.RoundSpec) { s.Randomizer.Mechanism = "privunit" }},
		"late":                        {change: func(s *fleetv1.RoundSpec) { s.Opens -= 60_000; s.TrainBy = s.Opens }},
		"other weights":               {change: func(s *fleetv1.RoundSpec) { s.WeightsSha256[0] ^= 1 }},
		"a server whose clock is off": {prepare: func(s *server, _ *device.Config) { s.skew = 6 * time.Minute }, end: context.DeadlineExceeded},
		"another purpose":             {prepare: func(_ *server, c *device.Config) { c.Consent.Purpose = "mine" }, end: fleet.ErrConsent},
		"fewer reports":               {prepare: func(_ *server, c *device.Config) { c.Consent.Reports = 3 }, end: fleet.ErrConsent},
		"another root":                {prepare: func(s *server, c *device.Config) { c.Root = append([]byte(nil), c.Root...); c.Root[0] ^= 1 }, end: context.DeadlineExceeded},
		"a flipped bit":               {prepare: func(s *server, _ *device.Config) { s.specs[0].Spec[40] ^= 4 }, end: context.DeadlineExceeded},
		"little budget":               {prepare: func(_ *server, c *device.Config) { c.Epsilon = .5 }},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, signs, 4, nil)
			s.open(time.Minute, time.Minute, c.change)
			cfg := s.config(t.TempDir())
			if c.prepare != nil {
				c.prepare(s, &cfg)
			}
			a := enrolled(t, s, cfg)
			defer a.Close()
			s.end()
			ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
			defer cancel()
			err := a.Run(ctx, s.services(), learner(ones))
			if !errors.Is(err, c.end) {
				t.Errorf("%s: ended with %v; want %v", name, err, c.end)
			}
			if n := len(s.uploads); n != 0 || spent(t, a) != 0 {
				t.Errorf("%s: %d reports left and epsilon %v was spent; want none", name, n, spent(t, a))
			}
		})
	}
}

// A device that has followed one chain takes part in no other, and says so.
func TestAForkIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, signs, 4, nil)
		a := enrolled(t, s, s.config(t.TempDir()))
		defer a.Close()
		s.open(time.Minute, time.Minute, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
		defer cancel()
		if err := a.Run(ctx, s.services(), learner(ones)); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		s.rounds, s.specs = nil, nil // the server begins again
		s.open(time.Minute, time.Minute, func(r *fleetv1.RoundSpec) { r.Beacon[0]++ })
		s.open(time.Minute, time.Minute, nil)
		if err := a.Run(t.Context(), s.services(), learner(ones)); !errors.Is(err, device.ErrRunLost) || !errors.Is(err, fleet.ErrFork) {
			t.Fatal(err)
		}
		if len(s.uploads) != 1 || spent(t, a) != 1 {
			t.Errorf("%d reports left, epsilon %v was spent; want those of the first chain", len(s.uploads), spent(t, a))
		}
	})
}

// flipping shows a device the run, or its round, with one bit after the other flipped.
type flipping struct {
	*server
	run  bool // else the round
	next int  // bit
	all  bool // were shown
}

// flip changes the next bit of a spec's bytes and its signature.
func (f *flipping) flip(g *fleetv1.SignedSpec) *fleetv1.SignedSpec {
	g = proto.CloneOf(g)
	at := f.next
	for _, b := range [][]byte{g.Spec, g.Signature} {
		if at < 8*len(b) {
			b[at/8] ^= 1 << (at % 8)
			f.next++
			return g
		}
		at -= 8 * len(b)
	}
	f.all = true
	return g // as it is
}

func (f *flipping) GetRun(ctx context.Context, r *fleetv1.GetRunRequest) (*fleetv1.GetRunResponse, error) {
	a, err := f.server.GetRun(ctx, r)
	if f.run && err == nil {
		a.Specs[0] = f.flip(a.Specs[0])
	}
	return a, err
}

func (f *flipping) GetRound(ctx context.Context, r *fleetv1.GetRoundRequest) (*fleetv1.GetRoundResponse, error) {
	a, err := f.server.GetRound(ctx, r)
	if !f.run && err == nil && len(a.GetSpecs()) > 0 {
		a.Specs = []*fleetv1.SignedSpec{f.flip(a.Specs[0])}
	}
	return a, err
}

// TestAnyFlippedBitIsRefused of a run, of a round, and of their signatures: nothing is paid and nothing is noted, so that the device takes
// part when it is shown what was signed.
func TestAnyFlippedBitIsRefused(t *testing.T) {
	for name, ofRun := range map[string]bool{"run": true, "round": false} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, signs, 4, nil)
			f := &flipping{server: s, run: ofRun}
			c := s.config(t.TempDir())
			c.BackOff, c.MostBackOff = time.Second, time.Second
			a := enrolled(t, s, c)
			defer a.Close()
			s.open(24*time.Hour, time.Minute, nil)
			go func() { time.Sleep(25 * time.Hour); s.end() }()
			learns := func(ctx context.Context, w device.Work) ([]float64, error) {
				if !f.all || spent(t, a) != 0 {
					t.Errorf("%s: the device learns after %d bits, and has spent %v", name, f.next, spent(t, a))
				}
				return ones(ctx, w)
			}
			tolerate(t, a.Run(t.Context(), device.Services{Enrol: s, Runs: f, Reports: s}, learner(learns)))
			if len(s.taken) != 1 || spent(t, a) != 1 || f.next < 8*len(s.specs[0].GetSignature()) {
				t.Errorf("%s: after %d bits %d reports were taken, and epsilon %v was spent; want one", name, f.next, len(s.taken), spent(t, a))
			}
		})
	}
}
