//go:build slow && measure

package evaluate

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/refine"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
)

// monteCarloError is the error of first-visit Monte Carlo without privacy.
func monteCarloError(persons int64, trials int) float64 {
	total := 0.0
	for trial := range trials {
		s := must(sampleFor(chainData(int(persons), 100+uint64(trial)), chainPublic(persons, 1, policy.Logged{})))
		v, _, err := value.MonteCarlo(s)
		if err != nil {
			panic(err)
		}
		total += rmseOf(v, chain.Values(0.5, 0.99))
	}
	return total / float64(trials)
}

// constantError is the error of answering with c in every state.
func constantError(c float64) float64 {
	v := make([]float64, chain.States)
	for i := range v {
		v[i] = c
	}
	return rmseOf(v, chain.Values(0.5, 0.99))
}

// chainMean is the constant with the least error, the mean of the values.
func chainMean() float64 {
	sum := 0.0
	for _, v := range chain.Values(0.5, 0.99) {
		sum += v / chain.States
	}
	return sum
}

// TestRefineTable prints the table of docs/results/estimators.md.
func TestRefineTable(t *testing.T) {
	fmt.Printf("constants: middle of the range 0.5: %.4f; 1: %.4f; the best there is, %.3f: %.4f\n",
		constantError(0.5), constantError(1), chainMean(), constantError(chainMean()))
	fmt.Println("| target | persons | epsilon | form | RMSE | s.e. | expected | non-private MC |")
	fmt.Println("|---|---|---|---|---|---|---|---|")
	for _, advance := range []float64{0.5, 0.6} {
		for _, epsilon := range []float64{0.1, 1} {
			for _, persons := range []int64{1e3, 1e4, 1e5} {
				refineTableRow(t, advance, epsilon, persons)
			}
		}
	}
	refineTableRow(t, 0.5, 1, 3e5)
	fmt.Println("| target | persons | epsilon | cosines | regression | lstd |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, advance := range []float64{0.5, 0.6} {
		for _, persons := range []int64{1e3, 1e4} {
			for _, epsilon := range []float64{0.1, 1} {
				for _, n := range []int{2, 4} {
					fmt.Printf("| %g | %d | %g | %d | %.4f | %.4f |\n", advance, persons, epsilon, n,
						cosineError(t, refine.Regression, n, persons, epsilon, advance, 10), cosineError(t, refine.LSTD, n, persons, epsilon, advance, 10))
				}
			}
		}
	}
}

func refineTableRow(t *testing.T, advance, epsilon float64, persons int64) {
	for _, form := range refineForms {
		trials := 20
		if form != refine.MonteCarlo {
			// The matrix of 40 states has 1600 entries a person.
			if persons > 1e4 {
				continue
			}
			trials = 5
		}
		p := chainPublic(persons, epsilon, advancing(advance))
		reference := "-"
		if advance == 0.5 {
			p.Target = policy.Logged{}
			if form == refine.MonteCarlo {
				reference = fmt.Sprintf("%.5f", monteCarloError(persons, 5))
			}
		}
		e := DPRefine{Form: form}
		mean, stderr := refineError(t, e, p, advance, trials)
		if advance == 0.5 && form == refine.MonteCarlo && mean >= min(constantError(0.5), constantError(chainMean())) {
			t.Errorf("persons %d, epsilon %v: a constant beats dp-refine", persons, epsilon)
		}
		expected := "-"
		if x := must(e.Plan(p)).Expected.RMSE; x > 0 && !math.IsNaN(x) {
			expected = fmt.Sprintf("%.5f", x)
		}
		fmt.Printf("| %g | %d | %g | %s | %.5f | %.5f | %s | %s |\n", advance, persons, epsilon, form, mean, stderr, expected, reference)
	}
}

// TestRefineCutOff prints the error on a line of 40 states whose episodes are cut
// off.
func TestRefineCutOff(t *testing.T) {
	const persons, trials = 10000, 5
	fmt.Println("| cut off after | rounds | epsilon 0.3 | epsilon 1 | epsilon 3 |")
	fmt.Println("|---|---|---|---|---|")
	for _, horizon := range []int{40, 80, 120} {
		for _, rounds := range []int{3, 10, 20} {
			fmt.Printf("| %d | %d |", horizon, rounds)
			for _, epsilon := range []float64{0.3, 1, 3} {
				p := chainPublic(persons, epsilon, policy.Logged{})
				p.Horizon = int64(horizon)
				total := 0.0
				for trial := range trials {
					d := line(persons, chain.States, horizon, uint64(trial))
					total += rmseOf(perform(t, DPRefine{Rounds: rounds}, p, d, noise.NewSeeded(uint64(trial))).Values, lineValues(chain.States, p.Gamma))
				}
				fmt.Printf(" %.4f |", total/trials)
			}
			fmt.Println()
		}
	}
}

// TestRefineAblations prints what the rule's numbers do, one at a time.
func TestRefineAblations(t *testing.T) {
	cells := []struct {
		persons int64
		epsilon float64
	}{{1e3, 1}, {1e4, 0.1}, {1e4, 1}, {1e5, 0.1}}
	fmt.Print("| rule |")
	for _, c := range cells {
		fmt.Printf(" (%g, %g) |", float64(c.persons), c.epsilon)
	}
	fmt.Println("\n|---|---|---|---|---|")
	row := func(name string, rounds int, change func(*refine.Rule)) {
		rule := refine.StandardRule()
		change(&rule)
		fmt.Printf("| %s |", name)
		for _, c := range cells {
			mean, _ := refineError(t, DPRefine{Rounds: rounds, rule: &rule}, chainPublic(c.persons, c.epsilon, policy.Logged{}), 0.5, min(10, int(200000/c.persons)))
			fmt.Printf(" %.5f |", mean)
		}
		fmt.Println()
	}
	row("standard", 0, func(*refine.Rule) {})
	row("no line in the share of visitors (slope 0, state 0.2)", 0, func(r *refine.Rule) { r.Slope, r.State = 1e-6, 0.2 })
	row("state 0.2", 0, func(r *refine.Rule) { r.State = 0.2 })
	row("1 round", 1, func(*refine.Rule) {})
	row("2 rounds", 2, func(*refine.Rule) {})
	row("5 rounds", 5, func(*refine.Rule) {})
	row("clip x 2/3", 0, func(r *refine.Rule) { r.Clip = 1 })
	row("clip x 2", 0, func(r *refine.Rule) { r.Clip = 3 })
	row("first clip 2", 0, func(r *refine.Rule) { r.FirstClip = 2 })
	row("weight 0", 0, func(r *refine.Rule) { r.Weight = 0 })
	row("weight 0.75", 0, func(r *refine.Rule) { r.Weight = 0.75 })
	row("counts 0.2 of the budget", 0, func(r *refine.Rule) { r.CountShare = 0.2 })
	row("counts 0.5 of the budget", 0, func(r *refine.Rule) { r.CountShare = 0.5 })
	row("level 0.1 of the budget", 0, func(r *refine.Rule) { r.LevelShare = 0.1 })
}
