// Package xie19 is the noise of the accountant of Xie, Thomas and Miklau (2019), and what it gives: for the
// reproduction of their figures alone.
package xie19

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
)

// Sigma returns the noise multiplier that the accountant of Xie, Thomas and
// Miklau (Privacy Preserving Off-Policy Evaluation, 2019) asks for, with m
// trajectories and the given number of iterations, and the log-moment order at
// which it is reached. It is here for the reproduction of their figures only:
// the accountant is not sound, and the noise does not give (epsilon,
// delta)-privacy. [Events] says what it does give.
//
// Their log-moment is N l(l+1)/(2 m^2) min(4 (e^(1/sigma^2)-1), 2 e^(1/sigma^2))
// and delta = min over real l of exp(moment - l epsilon). With c the moment's
// factor of l(l+1) the minimum is -(epsilon-c)^2/(4c), at l = (epsilon-c)/(2c),
// so sqrt(c) = epsilon / (sqrt(L) + sqrt(L + epsilon)), L = ln(1/delta).
func Sigma(m, iterations int64, epsilon, delta float64) (sigma, lambda float64, err error) {
	if err := check(m, iterations); err != nil {
		return 0, 0, err
	}
	if err := (dp.Budget{Epsilon: epsilon, Delta: delta}).Validate(); err != nil {
		return 0, 0, err
	}
	if delta == 0 {
		return 0, 0, fmt.Errorf("%w: delta is 0; this accountant needs delta above 0", dp.ErrBudget)
	}
	log := -math.Log(delta)
	root := epsilon / (math.Sqrt(log) + math.Sqrt(log+epsilon))
	c := root * root
	lambda = (epsilon - c) / (2 * c)
	moment := 2 * float64(m) * float64(m) * c / float64(iterations)
	// The smaller of 4(y-1) and 2y, y = e^(1/sigma^2), is the first up to y = 2.
	var inverseSquare float64
	if moment <= 4 {
		inverseSquare = math.Log1p(moment / 4)
	} else {
		inverseSquare = math.Log(moment / 2)
	}
	return 1 / math.Sqrt(inverseSquare), lambda, nil
}

// Events describes their algorithm to a sound accountant, for the noise
// multiplier sigma: with one trajectory drawn a step, as it is written and to be
// accounted for under replace_one; and with every trajectory drawn
// independently with probability 1/m, as their analysis has it, under
// add_remove_one.
func Events(m, iterations int64, sigma float64) (replaceOne, poissonAddRemove dp.Event, err error) {
	if err := check(m, iterations); err != nil {
		return nil, nil, err
	}
	noise := dp.Gaussian{NoiseMultiplier: sigma}
	if err := noise.Validate(); err != nil {
		return nil, nil, err
	}
	replaceOne = dp.SelfComposed{Count: iterations, Event: dp.SampledWithoutReplacement{Population: m, Sample: 1, Event: noise}}
	poissonAddRemove = dp.SelfComposed{Count: iterations, Event: dp.PoissonSampled{Rate: 1 / float64(m), Event: noise}}
	return replaceOne, poissonAddRemove, nil
}

func check(m, iterations int64) error {
	if m < 1 || iterations < 1 {
		return fmt.Errorf("%w: %d trajectories, %d iterations; want at least 1 of each", dp.ErrEvent, m, iterations)
	}
	return nil
}
