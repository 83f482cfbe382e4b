package bandit_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/internal/rl/sim/bandit"
	"github.com/discreet-rl/discreet/rl/sim"
)

func newEnv(t testing.TB, taste float64) *bandit.Env {
	t.Helper()
	env, err := bandit.New(bandit.Options{Taste: taste})
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// nearest is the item whose direction is nearest to the mood that the observation shows.
func nearest(obs []float64) int {
	best, most := 0, math.Inf(-1)
	for k, v := range [][2]float64{{1, 0}, {0, 1}, {-1, 0}, {0, -1}} {
		if along := v[0]*obs[0] + v[1]*obs[1]; along > most {
			best, most = k, along
		}
	}
	return best
}

// TestScoresAreThoseOfTheClosedForm, for policies whose expected clicks an integral gives: means over people lie within six
// standard errors (a false alarm in 5e8 comparisons; sums of 20 clicks vary by less than 2.3, by independence).
func TestScoresAreThoseOfTheClosedForm(t *testing.T) {
	quarter := math.Pi / 4
	// The mean of cos over angles within an eighth of a turn of 0 is sin(pi/4)/(pi/4).
	near := math.Sin(quarter) / quarter
	best := 20 * (.05 + .35*(1+near))
	if math.Abs(best-14.302) > 1e-3 {
		t.Fatalf("the best score is %v", best)
	}
	const people = 4000
	total := 0.0
	for taste := 0.0; taste < 360; taste += 45 {
		env, rng, obs := newEnv(t, taste), rand.New(rand.NewPCG(uint64(taste), 1)), make([]float64, 2)
		for _, c := range []struct {
			name   string
			choose func() int
			want   float64
		}{
			{"uniform", func() int { return rng.IntN(bandit.Actions) }, 8},
			{"the first item", func() int { return 0 }, 20 * (.4 + .35*math.Cos(taste*math.Pi/180)*near)},
			{"the nearest", func() int { return nearest(obs) }, math.NaN()},
		} {
			sum := 0.0
			for range people {
				env.Reset(obs, rng)
				for n := 1; ; n++ {
					out, err := env.Step(obs, c.choose())
					if err != nil || out.Truncated || out.Terminated != (n == bandit.Visits) || out.Reward != 0 && out.Reward != 1 {
						t.Fatalf("visit %d: %+v, %v", n, out, err)
					}
					sum += out.Reward
					if out.Terminated {
						break
					}
				}
			}
			mean := sum / people
			if c.name == "the nearest" {
				total += mean / 8
				continue
			}
			if tolerance := 6 * 2.3 / math.Sqrt(people); math.Abs(mean-c.want) > tolerance {
				t.Errorf("taste %v, %s: %v clicks; want %v within %v", taste, c.name, mean, c.want, tolerance)
			}
		}
	}
	if tolerance := 6 * 2.3 / math.Sqrt(8*people); math.Abs(total-best) > tolerance {
		t.Errorf("the nearest item: %v clicks on average over tastes; want %v within %v", total, best, tolerance)
	}
}

// TestMoodsStayAroundTheTaste, and their angles fill what they may.
func TestMoodsStayAroundTheTaste(t *testing.T) {
	env, obs, rng := newEnv(t, 30), make([]float64, 2), rand.New(rand.NewPCG(1, 1))
	least, most := 360.0, -360.0
	for range 200 {
		env.Reset(obs, rng)
		for range bandit.Visits {
			angle := math.Atan2(obs[1], obs[0]) * 180 / math.Pi
			least, most = min(least, angle), max(most, angle)
			if _, err := env.Step(obs, 0); err != nil {
				t.Fatal(err)
			}
		}
	}
	// 4000 draws all miss a hundredth of the range at an end with probability .99^4000 < 1e-17.
	if least < -15.001 || least > -14 || most > 75.001 || most < 74 {
		t.Errorf("moods from %v to %v degrees; want -15 to 75", least, most)
	}
}

func TestImpossibleSettingsAreRefused(t *testing.T) {
	for _, taste := range []float64{math.NaN(), math.Inf(1), 361, -361} {
		if _, err := bandit.New(bandit.Options{Taste: taste}); !errors.Is(err, sim.ErrOptions) {
			t.Errorf("taste %v: %v; want ErrOptions", taste, err)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("item 4 is taken")
		}
	}()
	env := newEnv(t, 0)
	env.Reset(make([]float64, 2), rand.New(rand.NewPCG(1, 1)))
	_, _ = env.Step(make([]float64, 2), 4)
}
