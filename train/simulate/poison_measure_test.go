//go:build measure

package simulate_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/discreet-rl/discreet/dp/local"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/simulate"
)

// invert makes the report that pulls hardest against what the agent learned. Its
// size is that of honest reports (size 1) or as large as the format admits (size 8).
func invert(m train.Mechanism, epsilon float64, dim int, size float64) func(*train.Task, []float64, []byte) {
	return func(t *train.Task, vector []float64, body []byte) {
		norm := 0.0
		for _, v := range vector {
			norm += v * v
		}
		if norm == 0 && m != train.OneBit {
			return
		}
		switch m {
		case train.PrivUnit: // bytes of 16 steps a standard deviation
			for i, v := range vector {
				k := math.Round(-16 * size * math.Sqrt(float64(dim)) * v / math.Sqrt(norm))
				body[1+i] = byte(int8(min(127, max(-127, k))))
			}
		case train.OneBit: // of pairs: that the worse side did better, or, where they did alike, what the coin said
			r, err := local.NewOneBit(0, 1, epsilon)
			if err != nil {
				panic(err)
			}
			if v, err := r.Estimate(body); err == nil && vector[0] != .5 && (v > .5) == (vector[0] > .5) {
				body[1] ^= 1
			}
		case train.SignPRS: // whichever of the two bodies is nearer: one bit up to epsilon 5
			r, err := local.NewSignPRS(dim, epsilon, t.Seed)
			if err != nil {
				panic(err)
			}
			estimate := make([]float64, dim)
			if err := r.Estimate(estimate, body); err != nil {
				panic(err)
			}
			along := 0.0
			for i, v := range vector {
				along += v * estimate[i]
			}
			if along > 0 {
				body[1] ^= 1
			}
		}
	}
}

// poisonCase is a setting of the table; dim tells the linear policy, of 8 weights,
// from the network with 16 hidden units, of 96.
type poisonCase struct {
	m       train.Mechanism
	epsilon float64
	dim     int
	bound   train.Influence
	sizes   []float64
}

// TestPoisoningTable prints, for shares of dishonest agents, how often training
// reaches success and what it keeps.
func TestPoisoningTable(t *testing.T) {
	fmt.Println("randomiser  epsilon  weights  bound  dishonest  size  success  last tenth (median)")
	free := train.Influence{}
	bounded := func(epsilon float64, dim int) train.Influence {
		codec := must2(train.NewCodec(train.Randomizer{Mechanism: train.PrivUnit, Epsilon: epsilon}, dim))(t)
		return train.Influence{Norm: 1.25 * codec.HonestNorm()}
	}
	for _, k := range []poisonCase{
		{train.SignPRS, 1, 8, free, []float64{1}},
		{train.PrivUnit, 1, 8, free, []float64{1, 8}},
		{train.PrivUnit, 1, 8, bounded(1, 8), []float64{1, 8}},
		{train.SignPRS, 4, 96, free, []float64{1}},
		{train.PrivUnit, 4, 96, free, []float64{1, 8}},
		{train.PrivUnit, 4, 96, bounded(4, 96), []float64{1, 8}},
	} {
		for _, size := range k.sizes {
			for _, percent := range []uint64{0, 2, 5, 10} {
				if percent == 0 && size > 1 {
					continue
				}
				ok, kept := poisoned(t, k, size, percent)
				fmt.Printf("%-10s  %7g  %7d  %-5v  %8d%%  %4g  %7.2f  %.0f\n", k.m, k.epsilon, k.dim, k.bound.Norm > 0, percent, size, ok, kept)
			}
		}
	}
}

// TestPoisonedEvolutionTable prints the same for antithetic pairs of one episode on either side, which have one size
// of report.
func TestPoisonedEvolutionTable(t *testing.T) {
	fmt.Println("randomiser  epsilon  weights  bound  dishonest  size  success  last tenth (median)")
	for _, k := range []poisonCase{{m: train.OneBit, epsilon: 1, dim: 8}, {m: train.OneBit, epsilon: 4, dim: 96}} {
		for _, percent := range []uint64{0, 2, 5, 10, 20} {
			ok, kept := poisoned(t, k, 1, percent)
			fmt.Printf("%-10s  %7g  %7d  none   %8d%%     1  %7.2f  %.0f\n", k.m, k.epsilon, k.dim, percent, ok, kept)
		}
	}
}

func poisoned(t *testing.T, k poisonCase, size float64, percent uint64) (share, kept float64) {
	const trials, submissions = 10, 3000
	var mu sync.Mutex
	var wg sync.WaitGroup
	succeeded, last := 0, make([]float64, 0, trials)
	slots := make(chan struct{}, 2)
	for trial := range trials {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			c := ours(uint64(trial+1), k.m, k.epsilon, submissions)
			if k.m == train.OneBit {
				c = sides(uint64(trial+1), k.epsilon, 1, submissions)
			}
			c.Threads, c.Terms.Influence = 1, k.bound
			if k.dim == 96 {
				c.Local.Network.Hidden, c.Terms.Optimizer.Step = []int{16}, .3
			}
			src := noise.NewSeeded(uint64(trial + 1))
			c.Noise = func(uint64) *noise.Source { return src }
			attack := invert(k.m, k.epsilon, k.dim, size)
			c.Attack = func(t *train.Task, vector []float64, body []byte) {
				if t.Slot*2654435761%100 < percent {
					attack(t, vector, body)
				}
			}
			r, err := simulate.Run(context.Background(), c)
			if err != nil {
				t.Error(err)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			if first(r.Scores) > 0 {
				succeeded++
			}
			last = append(last, simulate.Retention(r.Scores, .1))
		})
	}
	wg.Wait()
	return float64(succeeded) / float64(trials), median(last)
}

func median(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	n := len(x)
	if n == 0 {
		return 0
	}
	return (x[(n-1)/2] + x[n/2]) / 2
}
