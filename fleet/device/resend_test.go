package device_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/device"
)

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

// TestAnAgentThatIsStoppedAnywhere goes on, and whatever happens: one body a round at most, each paid for, and nothing forfeited but
// between debit and keeping.
func TestAnAgentThatIsStoppedAnywhere(t *testing.T) {
	points := []string{"seen", "trained", "asking", "asked", "paying", "debited", "encoded", "recorded", "kept", "sent", "uploaded", "acknowledged"}
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
			wantSent := !slices.Contains([]string{"asking", "asked", "paying", "debited", "encoded"}, point)
			if got := len(s.uploads) > 0; got != wantSent || got != (s.taken[1] != nil) || spent(t, a) != 1 { // a permit that may have been drawn is paid for
				t.Errorf("stopped at %s: sent %v, spent %v; want %v, 1", point, got, spent(t, a), wantSent)
			}
		})
	}
}
