package device_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/fleet"
	"github.com/discreet-rl/discreet/fleet/device"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/train"
)

var signs = train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}

// tolerate is what Run may return in the end.
func tolerate(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func spent(t *testing.T, a *device.Agent) float64 {
	t.Helper()
	b, err := a.Spent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b.Epsilon
}

// What the server takes is the report that the codec of package train makes of the learner's vector with the seed of the
// round and the noise at hand: nothing else happens to it.
func TestTheReportIsThatOfTheCodec(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, signs, 8, nil)
		s.pseudonym = [32]byte{5}
		c := s.config(t.TempDir())
		c.Noise = func(round uint64) *noise.Source { return noise.NewSeeded(round) }
		a := enrolled(t, s, c)
		defer a.Close()
		var got []device.Work
		for range 3 {
			s.open(time.Minute, time.Minute, nil)
			go func() { time.Sleep(2 * time.Minute); s.end() }()
			tolerate(t, a.Run(t.Context(), s.services(), learner(func(_ context.Context, w device.Work) ([]float64, error) {
				got = append(got, w)
				return []float64{1, -2, 3, 0, 0, 1e300, -1e-300, 4}, nil
			})))
			s.ended = false
		}
		for _, round := range s.rounds {
			seed := round.Seed(fleet.Nullifier(s.pseudonym, s.run.ID, round.Number))
			want, err := round.Codec().Encode(nil, []float64{1, -2, 3, 0, 0, 1e300, -1e-300, 4}, seed, receipt.None(), noise.NewSeeded(round.Number))
			if err != nil {
				t.Fatal(err)
			}
			if body := s.body(round.Number); !slices.Equal(body, want) {
				t.Errorf("round %d: body %x; want %x", round.Number, body, want)
			}
			if w := got[round.Number-1]; w.Round != round.Number || w.Len != 8 || w.Seed != seed || !w.Until.Equal(round.TrainBy) {
				t.Errorf("the learner of round %d was given %+v", round.Number, w)
			}
		}
		if got := spent(t, a); got != 3 {
			t.Errorf("three reports cost epsilon %v", got)
		}
	})
}

// TestSilenceTellsNothing: whatever the learner does, the report has the same size and goes when it was drawn to go, long
// after the training; and what cannot be used is the zero vector.
func TestSilenceTellsNothing(t *testing.T) {
	for name, l := range map[string]learner{
		"at once": ones,
		"NaN": func(_ context.Context, w device.Work) ([]float64, error) {
			return slices.Repeat([]float64{math.NaN()}, w.Len), nil
		},
		"infinite": func(context.Context, device.Work) ([]float64, error) { return []float64{math.Inf(1)}, nil },
		"long":     func(context.Context, device.Work) ([]float64, error) { return []float64{1, 1}, nil },
		"nothing":  func(context.Context, device.Work) ([]float64, error) { return nil, nil },
		"an error": func(context.Context, device.Work) ([]float64, error) { return nil, errors.New("fell over") },
		"a panic":  func(context.Context, device.Work) ([]float64, error) { panic("fell over") },
		"late":     func(ctx context.Context, w device.Work) ([]float64, error) { <-ctx.Done(); return ones(ctx, w) },
		"very late": func(ctx context.Context, w device.Work) ([]float64, error) {
			time.Sleep(time.Hour)
			return ones(ctx, w)
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			plain := train.Randomizer{Mechanism: train.Laplace, Epsilon: 64, Clip: 2} // so little noise that the vector shows
			s := newServer(t, plain, 1, nil)
			c := s.config(t.TempDir())
			c.Epsilon = 1e6
			a := enrolled(t, s, c)
			defer a.Close()
			given := make(chan time.Time, 1)
			r := s.open(time.Minute, time.Minute, nil)
			go func() { time.Sleep(150 * time.Second); s.end() }()
			tolerate(t, a.Run(t.Context(), s.services(), learner(func(ctx context.Context, w device.Work) ([]float64, error) {
				given <- w.SendAt
				return l(ctx, w)
			})))
			sendAt := <-given
			if len(s.uploads) != 1 || s.uploads[0].size != s.run.SealedSize() || !s.uploads[0].at.Equal(sendAt) || sendAt.Before(r.UploadFrom) || !sendAt.Before(r.UploadUntil) {
				t.Fatalf("%s: sent %+v; want once, %d bytes, at %v", name, s.uploads, s.run.SealedSize(), sendAt)
			}
			got := make([]float64, 1)
			if err := r.Codec().Decode(got, s.body(1), r.Seed(fleet.Nullifier(s.pseudonym, s.run.ID, 1))); err != nil {
				t.Fatal(err)
			}
			want := 0.
			if name == "at once" {
				want = 1
			}
			if math.Abs(got[0]-want) > .5 { // noise of scale 1/32: with probability e^-16
				t.Errorf("%s: reported %v; want %v", name, got, want)
			}
			time.Sleep(2 * time.Hour) // the learner that is late ends
		})
	}
}

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

// The same bytes are sent until there is an answer, with waits that are drawn, and no later than the round ends.
func TestTheSameBytesAreSentAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, signs, 4, nil)
		a := enrolled(t, s, s.config(t.TempDir()))
		defer a.Close()
		s.before = func(n int) error {
			if n < 3 {
				err := connect.NewError(connect.CodeResourceExhausted, errors.New("queue is full"))
				err.Meta().Set("Retry-After", "7")
				return err
			}
			return nil
		}
		s.after = func(n int) error {
			if n < 6 {
				return connect.NewError(connect.CodeUnavailable, errors.New("connection lost"))
			}
			return nil
		}
		s.open(time.Minute, time.Hour, nil)
		go func() { time.Sleep(2 * time.Hour); s.end() }()
		tolerate(t, a.Run(t.Context(), s.services(), learner(ones)))
		if len(s.uploads) != 7 {
			t.Fatalf("sent %d times; want until it was answered, the 7th time", len(s.uploads))
		}
		for i, u := range s.uploads {
			if !proto.Equal(u.r, s.uploads[0].r) {
				t.Errorf("attempt %d sends other bytes", i)
			}
			if i > 0 && i <= 3 && u.at.Sub(s.uploads[i-1].at) < 7*time.Second {
				t.Errorf("attempt %d came %v after the one before; the server asked for 7 s", i, u.at.Sub(s.uploads[i-1].at))
			}
		}
		if spent(t, a) != 1 {
			t.Errorf("spent %v", spent(t, a))
		}
	})
}

// Full jitter: uniform up to a bound that doubles. The means of 2000 draws are within 6 standard errors, which goes wrong once in 5e8.
func TestBackOffDoublesItsBound(t *testing.T) {
	for n, most := range []time.Duration{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
		most *= time.Second
		sum := 0.
		for range 2000 {
			d := device.BackOff(n, time.Second, 5*time.Minute, nil)
			if d < 0 || d >= most {
				t.Fatalf("failure %d: %v; want below %v", n, d, most)
			}
			sum += d.Seconds()
		}
		if mean, se := sum/2000, most.Seconds()/math.Sqrt(12*2000); math.Abs(mean-most.Seconds()/2) > 6*se {
			t.Errorf("failure %d: %v s on average; want %v", n, mean, most.Seconds()/2)
		}
	}
}

// The coin falls with the round's sample rate: 40 rounds of rate one half, 3 to 37 of which take part but for a chance of 2e-8.
func TestTheCoinDecidesWhoTakesPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, signs, 4, nil)
		a := enrolled(t, s, s.config(t.TempDir()))
		defer a.Close()
		go func() {
			for range 40 {
				s.open(time.Minute, time.Minute, func(r *fleetv1.RoundSpec) { r.SampleRate = .5 })
				time.Sleep(3 * time.Minute)
			}
			s.end()
		}()
		time.Sleep(time.Second)
		tolerate(t, a.Run(t.Context(), s.services(), learner(ones)))
		n := len(s.taken)
		if n < 3 || n > 37 || spent(t, a) != float64(n) {
			t.Errorf("took part in %d of 40 rounds and spent %v", n, spent(t, a))
		}
	})
}

// The budget is over the device's life, the number of reports the run's.
func TestADeviceDoesItsPartAndNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, signs, 4, nil)
		c := s.config(t.TempDir())
		c.Epsilon = 3.5
		a := enrolled(t, s, c)
		defer a.Close()
		stop := make(chan struct{})
		go func() {
			for range 5 {
				s.open(time.Minute, time.Minute, nil)
				time.Sleep(3 * time.Minute)
			}
			close(stop)
		}()
		time.Sleep(time.Second)
		tolerate(t, a.Run(t.Context(), s.services(), learner(ones)))
		<-stop
		if len(s.taken) != 3 || spent(t, a) != 3 {
			t.Errorf("%d reports, epsilon %v; want 3 of budget 3.5", len(s.taken), spent(t, a))
		}
	})
}

// An evaluation reports whether the score reaches the threshold, and costs what a report costs.
func TestEvaluationsReportOneBit(t *testing.T) {
	for _, c := range []struct {
		score float64
		want  bool
	}{{200, true}, {195, true}, {194.9, false}, {math.NaN(), false}} {
		synctest.Test(t, func(t *testing.T) {
			bit := train.Randomizer{Mechanism: train.SignPRS, Epsilon: 30} // so much that the answer is true but for a chance of e^-30
			s := newServer(t, bit, 4, nil)
			a := enrolled(t, s, s.config(t.TempDir()))
			defer a.Close()
			r := s.open(time.Minute, time.Minute, func(r *fleetv1.RoundSpec) {
				r.Kind, r.Threshold, r.Randomizer = fleetv1.Kind_KIND_EVALUATE, 195, &fleetv1.Randomizer{Mechanism: "one-bit", Epsilon: 30, Clip: 1}
			})
			go func() { time.Sleep(3 * time.Minute); s.end() }()
			tolerate(t, a.Run(t.Context(), s.services(), learner(func(_ context.Context, w device.Work) ([]float64, error) {
				if !w.Evaluate || w.Len != 1 || w.Threshold != 195 {
					t.Errorf("the learner was given %+v", w)
				}
				return []float64{c.score}, nil
			})))
			got := make([]float64, 4)
			if err := r.Codec().Decode(got, s.body(1), [32]byte{}); err != nil {
				t.Fatal(err)
			}
			if reached := got[0] > 0; reached != c.want || spent(t, a) != 30 {
				t.Errorf("score %v is reported as %v at epsilon %v", c.score, reached, spent(t, a))
			}
		})
	}
}

func TestAWalletThatIsGoneOrOldIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, signs, 4, nil)
		c := s.config(t.TempDir())
		path := filepath.Join(c.Dir, "wallet.db")
		a := enrolled(t, s, c)
		old, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s.open(time.Minute, time.Minute, nil)
		go func() { time.Sleep(3 * time.Minute); s.end() }()
		tolerate(t, a.Run(t.Context(), s.services(), learner(ones)))
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, old, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := device.Open(t.Context(), c); !errors.Is(err, device.ErrWallet) {
			t.Errorf("an older copy of the wallet: %v", err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		if _, err := device.Open(t.Context(), c); !errors.Is(err, device.ErrWallet) {
			t.Errorf("no wallet: %v", err)
		}
	})
}

func TestCertificatesAreRenewed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, signs, 4, nil)
		s.valid = time.Hour
		c := s.config(t.TempDir())
		a, err := device.Open(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { a.Close() }()
		if err := a.Run(t.Context(), s.services(), learner(ones)); !errors.Is(err, device.ErrIdentity) {
			t.Errorf("a device that is not enrolled: %v", err)
		}
		if err := a.Enrol(t.Context(), s, "wrong"); !errors.Is(err, device.ErrIdentity) {
			t.Errorf("a wrong code: %v", err)
		}
		if err := a.Enrol(t.Context(), s, "right"); err != nil {
			t.Fatal(err)
		}
		first, err := a.Certificate()
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 45*time.Minute)
		defer cancel()
		if err := a.Run(ctx, s.services(), learner(ones)); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		second, err := a.Certificate()
		if err != nil || second.Leaf.SerialNumber.Cmp(first.Leaf.SerialNumber) == 0 || s.issued != 2 {
			t.Errorf("after two thirds of its time the certificate is still the first, or was renewed %d times (%v)", s.issued-1, err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		if a, err = device.Open(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		if again, err := a.Certificate(); err != nil || !again.Leaf.Equal(second.Leaf) {
			t.Errorf("the certificate is not kept: %v", err)
		}
	})
}

func TestSettingsOfADevice(t *testing.T) {
	s := newServer(t, signs, 4, nil)
	for name, change := range map[string]func(*device.Config){
		"no directory": func(c *device.Config) { c.Dir = "" },
		"no root":      func(c *device.Config) { c.Root = nil },
		"no budget":    func(c *device.Config) { c.Epsilon = 0 },
		"NaN":          func(c *device.Config) { c.Epsilon = math.NaN() },
		"infinite":     func(c *device.Config) { c.Epsilon = math.Inf(1) },
		"poll":         func(c *device.Config) { c.Poll = -1 },
		"waits":        func(c *device.Config) { c.BackOff, c.MostBackOff = 2, 1 },
	} {
		c := s.config(t.TempDir())
		change(&c)
		if _, err := device.Open(t.Context(), c); !errors.Is(err, device.ErrConfig) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for least, want := range map[string]error{"": nil, "0.9.9": nil, device.Version: nil, "1.0.1": device.ErrClient, "2.0.0": device.ErrClient, "1": device.ErrClient, "x.0.0": device.ErrClient} {
		if err := device.Enough(least); !errors.Is(err, want) {
			t.Errorf("min_client %q: %v; want %v", least, err, want)
		}
	}
	if _, err := device.Dial("http://localhost", nil, nil); !errors.Is(err, device.ErrConfig) {
		t.Errorf("a server without TLS: %v", err)
	}
}

// TestAnAgentThatIsStoppedAnywhere goes on, and whatever happens: one body a round at most, each paid for, and nothing forfeited but
// between debit and keeping.
func TestAnAgentThatIsStoppedAnywhere(t *testing.T) {
	points := []string{"seen", "trained", "paying", "debited", "encoded", "recorded", "kept", "sent", "uploaded", "acknowledged"}
	for _, point := range points {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, signs, 4, nil)
			c := s.config(t.TempDir())
			a := enrolled(t, s, c)
			s.open(time.Minute, 10*time.Minute, nil)
			stopped := errors.New("stopped")
			a.SetCrash(func(at string) error {
				if at == point {
					return fmt.Errorf("%w at %s", stopped, at)
				}
				return nil
			})
			if err := a.Run(t.Context(), s.services(), learner(ones)); !errors.Is(err, stopped) {
				t.Errorf("%s: %v", point, err)
			}
			if err := a.Close(); err != nil {
				t.Fatal(err)
			}
			a, err := device.Open(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			go func() { time.Sleep(12 * time.Minute); s.end() }()
			tolerate(t, a.Run(t.Context(), s.services(), learner(ones)))
			for _, u := range s.uploads {
				if !proto.Equal(u.r, s.uploads[0].r) {
					t.Errorf("%s: two bodies", point)
				}
			}
			wantSent := point != "debited" && point != "encoded"
			if got := s.taken[1] != nil; got != wantSent || spent(t, a) != 1 {
				t.Errorf("stopped at %s: sent %v, spent %v; want %v, 1", point, got, spent(t, a), wantSent)
			}
		})
	}
}
