package truthbench

import (
	"math"
	"math/rand/v2"

	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

// Regressed is a problem in which logged actions follow a number x that is uniform on
// [-1, 1]: their log-odds are linear in Features of x. Decisions are alike and
// independent. Action a pays 1 with probability .3 + .2 a/(K-1) + .2 x (2a/(K-1) - 1), and
// the target takes the last of K actions with probability .7 whatever x is, so that its
// value is .3 + .14 + .06 m a decision, m the mean of a/(K-1) over the other actions.
type Regressed struct {
	Problem
	Features feature.Map
	Actions  int
}

// RegressedProblems are such problems.
func RegressedProblems() []Regressed {
	line, curve := []float64{1, 1}, []float64{1, 1, 1}
	return []Regressed{
		regressed("x, two actions", 1, line, [][]float64{{0.4, 1.2}}),
		regressed("x far, two actions", 1, line, [][]float64{{-1, 2.5}}),
		regressed("x and square, two actions", 1, curve, [][]float64{{0.2, 1, -1.5}}),
		regressed("x, three actions", 1, line, [][]float64{{0.3, 0.8}, {-0.2, -0.9}}),
		regressed("x, four decisions", 4, line, [][]float64{{0.2, 1}}),
	}
}

func regressed(name string, horizon int, shape []float64, odds [][]float64) Regressed {
	actions := len(odds) + 1
	var f feature.Map
	var err error
	ranges := []feature.Range{{Low: -1, High: 1}}
	if len(shape) == 2 {
		f, err = feature.NewColumns([]string{column}, ranges, feature.ColumnsOptions{Symmetric: true, Intercept: true})
	} else {
		f, err = feature.NewPolynomial(2, []string{column}, ranges, true)
	}
	if err != nil {
		panic(err)
	}
	wanted := make([]float64, actions)
	for a := range wanted {
		wanted[a] = 0.3 / float64(actions-1)
	}
	wanted[actions-1] = 0.7
	place := func(a int) float64 { return float64(a) / float64(actions-1) }
	j := 0.0
	for a, p := range wanted {
		j += p * (0.3 + 0.2*place(a))
	}
	return Regressed{Features: f, Actions: actions, Problem: Problem{
		Name: name, J: float64(horizon) * j, Horizon: horizon, Gamma: 1, Target: policy.ProbColumn{},
		simulate: func(rng *rand.Rand, w *writer) {
			b := make([]float64, actions)
			for range horizon {
				x, sum := 2*rng.Float64()-1, 1.0
				b[0] = 1
				for a, of := range odds {
					eta, power := 0.0, 1.0
					for _, c := range of {
						eta += c * power
						power *= x
					}
					b[a+1] = math.Exp(eta)
					sum += b[a+1]
				}
				for a := range b {
					b[a] /= sum
				}
				a, reward := choose(rng, b), 0.0
				if rng.Float64() < 0.3+0.2*place(a)+0.2*x*(2*place(a)-1) {
					reward = 1
				}
				w.decision(x, a, reward, b[a], wanted[a])
			}
			w.end(true)
		},
	}}
}
