package truthbench_test

import (
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// withheld are the finite problems of the benchmark; linear-Gaussian ones have no cells.
func withheld() (out []truthbench.Problem) {
	for _, p := range truthbench.Problems() {
		if p.States > 0 {
			out = append(out, p)
		}
	}
	return out
}

// withhold takes the probabilities of logged actions out of a log.
func withhold(d *trajectory.Dataset) *trajectory.Dataset {
	bare := *d
	bare.BehaviorProb = nil
	return &bare
}

// estimating asks for them to be estimated, in the states of the problem.
func estimating(p truthbench.Problem, public evaluate.Public) evaluate.Public {
	public.Behavior = &evaluate.EstimatedBehavior{States: p.States, Column: "obs_state", Actions: p.Target.Actions()}
	return public
}
