package device_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/fleet/device"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/train"
)

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
