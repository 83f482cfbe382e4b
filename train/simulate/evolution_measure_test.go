//go:build slow && measure

package simulate_test

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"

	"github.com/discreet-rl/discreet/dp/local"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/simulate"
)

// TestEvolutionTable prints what the policy scores after so many reports, without a perturbation, by antithetic evolution and by
// gradients at equal numbers of episodes: means of trials with their standard errors, of which noise and worlds differ. The last
// row is what gradients learn without privacy.
func TestEvolutionTable(t *testing.T) {
	gradient := func(seed uint64, epsilon float64, episodes int, n uint64) simulate.Config {
		c := ours(seed, train.SignPRS, epsilon, n)
		c.Local.Episodes = episodes
		return c
	}
	open := func(seed uint64, _ float64, episodes int, n uint64) simulate.Config {
		c := gradient(seed, 0, episodes, n)
		c.Terms.Randomizer.Mechanism = train.NotPrivate
		return c
	}
	fmt.Println("method                epsilon  episodes  500 reports  1000 reports")
	row := func(name string, configure func(seed uint64, epsilon float64, episodes int, n uint64) simulate.Config, epsilon float64, episodes, all int) {
		fmt.Printf("%-21s %7g  %8d", name, epsilon, all)
		for _, n := range []uint64{500, 1000} {
			mean, se := scored(t, func(seed uint64) simulate.Config { return configure(seed, epsilon, episodes, n) })
			fmt.Printf("  %5.1f (%4.1f)", mean, se)
		}
		fmt.Println()
	}
	for _, epsilon := range []float64{.5, 1, 2} {
		row("gradient, sign-prs", gradient, epsilon, 2, 2)
		row("antithetic, one-bit", sides, epsilon, 1, 2)
		row("gradient, sign-prs", gradient, epsilon, 10, 10)
		row("antithetic, one-bit", sides, epsilon, 5, 10)
	}
	row("gradient, not private", open, 0, 2, 2)
}

// TestPoisonedPairs prints the same where a share of the agents plays, and sends the opposite of what it found without randomising it.
func TestPoisonedPairs(t *testing.T) {
	fmt.Println("epsilon  dishonest  1000 reports")
	for _, epsilon := range []float64{1, 2} {
		for _, percent := range []uint64{0, 2, 5, 10, 20} {
			mean, se := scored(t, func(seed uint64) simulate.Config {
				c := sides(seed, epsilon, 1, 1000)
				one := must2(local.NewOneBit(0, 1, epsilon))(t)
				c.Attack = func(t *train.Task, vector []float64, body []byte) {
					if t.Slot*2654435761%100 >= percent || vector[0] == .5 {
						return
					}
					if v, err := one.Estimate(body); err == nil && (v > .5) == (vector[0] > .5) {
						body[1] ^= 1
					}
				}
				return c
			})
			fmt.Printf("%7g  %8d%%  %5.1f (%4.1f)\n", epsilon, percent, mean, se)
		}
	}
}

// scored is the mean of the finals of eight trials, with its standard error.
func scored(t *testing.T, configure func(seed uint64) simulate.Config) (mean, se float64) {
	t.Helper()
	return meanOf(finals(t, 8, configure))
}

// finals are the mean scores of the policies in the end, in 100 episodes without a perturbation, of as many trials from seed 1.
func finals(t *testing.T, trials int, configure func(seed uint64) simulate.Config) []float64 {
	t.Helper()
	means := make([]float64, trials)
	var wg sync.WaitGroup
	slots := make(chan struct{}, 2)
	for trial := range trials {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			c := configure(uint64(trial + 1))
			c.Threads = 1
			r, err := simulate.Run(context.Background(), c)
			if err != nil {
				t.Error(err)
				return
			}
			scores, err := simulate.Scores(context.Background(), c, r.Theta, 100, learn.Explore{Greedy: c.Local.Greedy}, 99)
			if err != nil {
				t.Error(err)
				return
			}
			for _, s := range scores {
				means[trial] += s / float64(len(scores))
			}
		})
	}
	wg.Wait()
	return means
}

// meanOf is the mean, with its standard error.
func meanOf(x []float64) (mean, se float64) {
	n := float64(len(x))
	for _, m := range x {
		mean += m / n
	}
	for _, m := range x {
		se += (m - mean) * (m - mean)
	}
	return mean, math.Sqrt(se / (n - 1) / n)
}
