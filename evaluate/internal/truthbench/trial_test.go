package truthbench

import (
	"math/rand/v2"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
)

// Trial is a trial of two arms, drawn once with the probability that is given for arm 1,
// over 16 visits: at each a patient of arm 0 is alive with probability .93, of arm 1
// with .95, and the record ends with the first at which it is not so. A return is the
// number of visits survived. The value of arm 1 is asked for.
func Trial(name string, treated float64) Problem {
	const visits = 16
	alive := []float64{0.93, 0.95}
	worth := func(p float64) float64 {
		sum, still := 0.0, 1.0
		for range visits {
			still *= p
			sum += still
		}
		return sum
	}
	target, err := policy.NewConstant(1)
	if err != nil {
		panic(err) // the problem is a constant of the program
	}
	behavior, err := policy.NewByStep([][]float64{single(treated), {1}})
	if err != nil {
		panic(err)
	}
	return Problem{
		Name: name, J: worth(alive[1]), Logged: (1-treated)*worth(alive[0]) + treated*worth(alive[1]),
		Horizon: visits, Gamma: 1, Return: &evaluate.Range{Min: 0, Max: visits}, Target: target, Behavior: behavior,
		simulate: func(rng *rand.Rand, w *writer) {
			arm, target := 0, 0.0
			if rng.Float64() < treated {
				arm, target = 1, 1
			}
			drawn, ended := single(treated)[arm], false
			for t := 0; t < visits && !ended; t++ {
				reward := 1.0
				if rng.Float64() >= alive[arm] {
					reward, ended = 0, true
				}
				w.decision(0, arm, reward, drawn, target)
				drawn = 1
			}
			w.end(ended)
		},
	}
}
