//go:build slow && measure

package simulate_test

import (
	"fmt"
	"testing"

	"github.com/discreet-rl/discreet/internal/rl/sim/mountaincar"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
	"github.com/discreet-rl/discreet/train/simulate"
)

// cars are runs on mountain car: a linear policy of scaled observations (6 weights), ten episodes a report.
func cars(seed uint64, epsilon float64, greedy bool) simulate.Config {
	c := sides(seed, epsilon, 5, 4000)
	c.Environments = []simulate.Environment{{Name: "mountain-car", New: func() (sim.Env, error) { return mountaincar.New(mountaincar.Options{}) }}}
	c.Local.Network, c.Local.Scale, c.Local.Greedy = learn.Network{Inputs: 2, Actions: 3}, true, greedy
	c.Local.Perturbation, c.Terms.Buffer, c.Terms.Growth = 2, 20, 0
	return c
}

// steep is the same by the policy gradient.
func steep(seed uint64, r train.Randomizer) simulate.Config {
	c := cars(seed, 1, false)
	c.Terms.Randomizer = r
	c.Local.Method, c.Local.Episodes, c.Local.Perturbation, c.Local.PolicyGradient = device.PolicyGradient, 10, 0, learn.PolicyGradient{Gamma: .99}
	return c
}

// TestMountainCarTable prints what 4000 reports come to on mountain car, in 20 trials of seeds 1 to 20.
func TestMountainCarTable(t *testing.T) {
	fmt.Println("| learning | epsilon | trials at -130 or above | trials above -200 | mean score (standard error) |\n|---|---|---|---|---|")
	row := func(name, epsilon string, configure func(seed uint64) simulate.Config) {
		t.Run(name+" "+epsilon, func(t *testing.T) {
			means := finals(t, 20, configure)
			mean, se := meanOf(means)
			good, some := 0, 0
			for _, m := range means {
				if m >= -130 {
					good++
				}
				if m > -200 {
					some++
				}
			}
			fmt.Printf("| %s | %s | %d | %d | %.1f (%.1f) |\n", name, epsilon, good, some, mean, se)
		})
	}
	for _, epsilon := range []float64{.5, 1, 2} {
		row("pairs, most probable action", fmt.Sprint(epsilon), func(seed uint64) simulate.Config { return cars(seed, epsilon, true) })
	}
	row("pairs, actions drawn", "1", func(seed uint64) simulate.Config { return cars(seed, 1, false) })
	row("policy gradient, sign-PRS", "1", func(seed uint64) simulate.Config {
		return steep(seed, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1})
	})
	row("pairs, most probable action, the bit as it is", "20", func(seed uint64) simulate.Config { return cars(seed, 20, true) })
	row("policy gradient", "not private", func(seed uint64) simulate.Config {
		return steep(seed, train.Randomizer{Mechanism: train.NotPrivate})
	})
	row("control: pairs that report a fair coin", "1", func(seed uint64) simulate.Config {
		c := cars(seed, 1, true)
		c.Local.ZeroGradient = true
		return c
	})
}
