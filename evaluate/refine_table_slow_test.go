//go:build slow

package evaluate

import (
	"fmt"
	"math"
	"testing"

	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/sim/chain"
	"github.com/discreet-rl/discreet/rl/value"
)

// monteCarloError is the error of first-visit Monte Carlo without privacy.
func monteCarloError(persons int64, trials int) float64 {
	total := 0.0
	for trial := range trials {
		s := chainSample(chainData(int(persons), 100+uint64(trial)), policy.Logged{})
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

// TestRefineTable prints the table of docs/results/refine-experiments.md.
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
						cosineError(t, formRegression, n, persons, epsilon, advance, 10), cosineError(t, formLSTD, n, persons, epsilon, advance, 10))
				}
			}
		}
	}
}

func refineTableRow(t *testing.T, advance, epsilon float64, persons int64) {
	for _, form := range refineForms {
		trials := 20
		if form != formMonteCarlo {
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
			if form == formMonteCarlo {
				reference = fmt.Sprintf("%.5f", monteCarloError(persons, 5))
			}
		}
		e := DPRefine{Form: form}
		mean, stderr := refineError(t, e, p, advance, trials)
		if advance == 0.5 && form == formMonteCarlo && mean >= min(constantError(0.5), constantError(chainMean())) {
			t.Errorf("persons %d, epsilon %v: a constant beats dp-refine", persons, epsilon)
		}
		expected := "-"
		if x := must(e.Plan(p)).Expected.RMSE; x > 0 && !math.IsNaN(x) {
			expected = fmt.Sprintf("%.5f", x)
		}
		fmt.Printf("| %g | %d | %g | %s | %.5f | %.5f | %s | %s |\n", advance, persons, epsilon, form, mean, stderr, expected, reference)
	}
}
