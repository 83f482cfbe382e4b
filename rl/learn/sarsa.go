package learn

import (
	"context"

	"github.com/discreet-rl/discreet/rl/sim"
)

// Sarsa learns the action values of the policy that it follows, by
// Sarsa(lambda) with accumulating traces (Sutton and Barto 2018, section 12.7).
// Weights start at 0.
func Sarsa(ctx context.Context, o Options) (Q, Progress, error) {
	return learn(ctx, o, (*learner).sarsa)
}

// sarsa plays one episode.
func (l *learner) sarsa() (steps int, total float64, err error) {
	l.begin()
	action := l.explore()
	for {
		value := l.values[action]
		l.mark(action)
		out, err := l.step(action)
		if err != nil {
			return steps, total, err
		}
		steps, total = steps+1, total+out.Reward
		delta := out.Reward - value
		if !out.Terminated {
			action = l.explore()
			delta += l.o.Gamma * l.values[action]
		}
		l.update(delta)
		if done(out) {
			return steps, total, nil
		}
		l.evaluate() // the weights have moved
		l.decay(l.o.Gamma * l.o.Lambda)
	}
}

func done(o sim.Outcome) bool { return o.Terminated || o.Truncated }
