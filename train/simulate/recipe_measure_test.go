//go:build slow && measure

package simulate_test

import (
	"fmt"
	"testing"

	"github.com/discreet-rl/discreet/internal/rl/sim/acrobot"
	"github.com/discreet-rl/discreet/internal/rl/sim/bandit"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
	"github.com/discreet-rl/discreet/train/simulate"
)

// task is a problem with a network, and numbers of reports at which policies are looked at: up to epsilon 2, and above.
type task struct {
	name         string
	environments []simulate.Environment
	network      learn.Network
	scale        bool
	gamma        float64
	below, above uint64
	epsilons     []float64
}

func tasks() []task {
	all := []float64{.5, 1, 2, 5, 10}
	bound := []simulate.Environment{{Name: "acrobot", New: func() (sim.Env, error) { return acrobot.New(acrobot.Options{}) }}}
	var persons []simulate.Environment
	for taste := 0.; taste < 360; taste += 45 {
		persons = append(persons, simulate.Environment{Name: fmt.Sprint("taste ", taste), New: func() (sim.Env, error) { return bandit.New(bandit.Options{Taste: taste}) }})
	}
	return []task{
		{"contextual bandit", persons, learn.Network{Inputs: 2, Actions: 4}, true, 0, 500, 150, all},
		{"cart-pole", poles(), learn.Network{Inputs: 4, Actions: 2}, false, .99, 500, 150, all},
		{"cart-pole", poles(), learn.Network{Inputs: 4, Actions: 2, Hidden: []int{16}}, false, .99, 500, 150, all},
		{"cart-pole", poles(), learn.Network{Inputs: 4, Actions: 2, Hidden: []int{16}}, false, .99, 1000, 300, []float64{1, 5}},
		{"acrobot", bound, learn.Network{Inputs: 6, Actions: 3}, true, .99, 300, 100, []float64{.5, 1, 5}},
		{"cart-pole", poles(), learn.Network{Inputs: 4, Actions: 2, Hidden: []int{64}}, false, .99, 500, 150, []float64{1, 2, 5}},
	}
}

// with is the task by pairs ([train.OneBit]) or gradients, with so many episodes on either side, or twice as many; what the
// server does are the defaults of the configuration.
func (k task) with(seed uint64, m train.Mechanism, epsilon float64, episodes int) simulate.Config {
	n := k.below
	if epsilon > 2 {
		n = k.above
	}
	c := sides(seed, epsilon, episodes, n)
	c.Environments, c.Local.Network, c.Local.Scale, c.Terms.Growth = k.environments, k.network, k.scale, 0
	if m != train.OneBit {
		c.Terms.Randomizer = train.Randomizer{Mechanism: m, Epsilon: epsilon}
		c.Local.Method, c.Local.Episodes, c.Local.Perturbation, c.Local.PolicyGradient = device.PolicyGradient, 2*episodes, 0, learn.PolicyGradient{Gamma: k.gamma}
	}
	return c
}

// TestRecipeTable prints what pairs and gradients come to at an epsilon and a number of weights, in ten episodes a report: mean
// scores of 20 trials of seeds 1 to 20, with standard errors.
func TestRecipeTable(t *testing.T) {
	fmt.Println("| problem | weights | epsilon | reports | pairs, one bit | gradient, sign-PRS | gradient, PrivUnitG |\n|---|---|---|---|---|---|---|")
	for _, k := range tasks() {
		net, err := learn.NewMLP(k.network)
		if err != nil {
			t.Fatal(err)
		}
		for _, epsilon := range k.epsilons {
			reports := k.with(1, train.OneBit, epsilon, 5).Terms.Submissions
			t.Run(fmt.Sprintf("%s %d weights epsilon %g %d", k.name, net.Dim(), epsilon, reports), func(t *testing.T) {
				line := fmt.Sprintf("| %s | %d | %g | %d |", k.name, net.Dim(), epsilon, reports)
				for _, m := range []train.Mechanism{train.OneBit, train.SignPRS, train.PrivUnit} {
					mean, se := meanOf(finals(t, 20, func(seed uint64) simulate.Config { return k.with(seed, m, epsilon, 5) }))
					line += fmt.Sprintf(" %.1f (%.1f) |", mean, se)
				}
				fmt.Println(line)
			})
		}
	}
}

// TestEpisodesTable prints the same at epsilon 1 for one, two, five and ten episodes on either side, and twice as many for a gradient.
func TestEpisodesTable(t *testing.T) {
	fmt.Println("| problem | weights | learning | 2 | 4 | 10 | 20 |\n|---|---|---|---|---|---|---|")
	for _, k := range tasks()[:3] {
		net, err := learn.NewMLP(k.network)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range []train.Mechanism{train.OneBit, train.SignPRS} {
			t.Run(fmt.Sprintf("%s %d %s", k.name, net.Dim(), m), func(t *testing.T) {
				line := fmt.Sprintf("| %s | %d | %s |", k.name, net.Dim(), m)
				for _, episodes := range []int{1, 2, 5, 10} {
					mean, se := meanOf(finals(t, 20, func(seed uint64) simulate.Config { return k.with(seed, m, 1, episodes) }))
					line += fmt.Sprintf(" %.1f (%.1f) |", mean, se)
				}
				fmt.Println(line)
			})
		}
	}
}
