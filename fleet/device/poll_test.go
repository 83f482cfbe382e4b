package device_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/discreet-rl/discreet/fleet/device"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/service"
)

// TestPollsFollowTheRounds: where the configuration says nothing, a device is asked often enough for rounds of two seconds, and
// seldom where they are long.
func TestPollsFollowTheRounds(t *testing.T) {
	for _, c := range []struct {
		window      time.Duration
		poll        time.Duration
		most, least int // rounds taken part in, of 20 after the first
	}{{2 * time.Second, 0, 20, 20}, {time.Hour, 0, 20, 20}, {2 * time.Second, time.Minute, 19, 0}} {
		synctest.Test(t, func(t *testing.T) {
			s := newServer(t, signs, 4, nil)
			cfg := s.config(t.TempDir())
			cfg.Poll = c.poll
			var log bytes.Buffer
			cfg.Log = service.NewLog(&log, slog.LevelInfo, fleet.DeviceLogKeys())
			a := enrolled(t, s, cfg)
			defer a.Close()
			asked := 0
			services := s.services()
			services.Runs = counted{s, &asked}
			go func() {
				for range 21 {
					s.open(c.window, time.Second, nil)
					time.Sleep(c.window + 2*time.Second)
				}
				s.end()
			}()
			tolerate(t, a.Run(t.Context(), services, learner(ones)))
			n := 0
			for round := range s.taken {
				if round > 1 {
					n++
				}
			}
			if n > c.most || n < c.least || asked > int(21*(c.window+4*time.Second)/(5*time.Second))+60 && c.window > time.Minute {
				t.Errorf("rounds of %v: took part in %d of 20, asked %d times", c.window, n, asked)
			}
			if warned := strings.Contains(log.String(), "less time for training"); warned != (c.poll > 0) {
				t.Errorf("rounds of %v at polls of %v: warned is %v", c.window, c.poll, warned)
			}
		})
	}
}

// counted counts polls.
type counted struct {
	*server
	n *int
}

func (c counted) GetRound(ctx context.Context, r *fleetv1.GetRoundRequest) (*fleetv1.GetRoundResponse, error) {
	*c.n++
	return c.server.GetRound(ctx, r)
}

// TestWhatABudgetPaysForIsSaidBefore anything is spent, and the wallet's word counts.
func TestWhatABudgetPaysForIsSaidBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newServer(t, signs, 4, nil)
		cfg := s.config(t.TempDir())
		cfg.Epsilon = 2
		var log bytes.Buffer
		cfg.Log = service.NewLog(&log, slog.LevelInfo, fleet.DeviceLogKeys())
		a := enrolled(t, s, cfg)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := a.Run(ctx, s.services(), learner(ones)); !errors.Is(err, context.DeadlineExceeded) {
			t.Fatal(err)
		}
		if !strings.Contains(log.String(), `"level":"WARN","msg":"what is left of the lifetime budget pays for so many of the reports that the run may still ask for","reports":2,"asked":1048576,"epsilon":2`) || spent(t, a) != 0 {
			t.Errorf("the log is\n%s", log.String())
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
		cfg.Epsilon = 16 // the wallet keeps to what it was made with
		log.Reset()
		a, err := device.Open(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Close()
		for range 3 {
			s.open(time.Minute, time.Minute, nil)
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			if err := a.Run(ctx, s.services(), learner(ones)); err != nil && !errors.Is(err, context.DeadlineExceeded) {
				t.Fatal(err)
			}
			cancel()
		}
		budget, err := a.Budget(t.Context())
		if err != nil || budget.Epsilon != 2 || spent(t, a) != 2 || len(s.uploads) != 2 {
			t.Errorf("a budget of %v, %v: spent %v in %d reports; want 2", budget, err, spent(t, a), len(s.uploads))
		}
		if !strings.Contains(log.String(), `"msg":"the wallet allows less than the configuration says, and keeps to it","epsilon":2`) || !strings.Contains(log.String(), `"reports":2,`) {
			t.Errorf("the log is\n%s", log.String())
		}
	})
}
