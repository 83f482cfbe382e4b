package learn

import (
	"context"
	"slices"
)

// QLearning learns the action values of the best policy while it explores, by
// Watkins's Q(lambda): traces are cut when an action was not a best one (Sutton
// and Barto 2018, section 12.10). Weights start at 0.
func QLearning(ctx context.Context, o Options) (Q, Progress, error) {
	return learn(ctx, o, (*learner).qLearning)
}

// qLearning plays one episode.
func (l *learner) qLearning() (steps int, total float64, err error) {
	l.begin()
	for {
		action := l.explore()
		value := l.values[action]
		if value < slices.Max(l.values) {
			l.decay(0)
		}
		l.mark(action)
		out, err := l.step(action)
		if err != nil {
			return steps, total, err
		}
		steps, total = steps+1, total+out.Reward
		delta := out.Reward - value
		if !out.Terminated {
			delta += l.o.Gamma * slices.Max(l.values)
		}
		l.update(delta)
		if done(out) {
			return steps, total, nil
		}
		l.evaluate() // the weights have moved
		l.decay(l.o.Gamma * l.o.Lambda)
	}
}
