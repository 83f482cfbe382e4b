package device

import (
	"fmt"
	"math/rand/v2"

	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
)

// try plays with perturbed weights; what is reported is the score.
func (d *Device) try(t *train.Task, theta []float64, p *learn.Player, x learn.Explore, rng *rand.Rand) (Rollout, error) {
	out, err := d.side(t, theta, d.local.Perturbation, p, x, rng)
	d.vector[0] = out.Score - d.local.ScoreLow
	return out, err
}

// compare plays with the weights on either side; what is reported is which did better. The
// randomiser makes of it randomised response, and of a tie, or of scores that cannot be
// compared, a fair coin (antithetic pairs: Salimans et al. 2017, section 2.1).
func (d *Device) compare(t *train.Task, theta []float64, p *learn.Player, x learn.Explore, rng *rand.Rand) (Rollout, error) {
	plus, err := d.side(t, theta, d.local.Perturbation, p, x, rng)
	if err != nil {
		return plus, err
	}
	minus, err := d.side(t, theta, -d.local.Perturbation, p, x, rng)
	if err != nil {
		return minus, err
	}
	switch d.vector[0] = d.clip / 2; {
	case plus.Score > minus.Score:
		d.vector[0] = d.clip
	case plus.Score < minus.Score:
		d.vector[0] = 0
	}
	return Rollout{Score: (plus.Score + minus.Score) / 2, Steps: plus.Steps + minus.Steps}, nil
}

// side plays episodes with weights that the task's seed perturbs by the weight.
func (d *Device) side(t *train.Task, theta []float64, weight float64, p *learn.Player, x learn.Explore, rng *rand.Rand) (Rollout, error) {
	train.Perturb(d.theta, t.Seed, weight)
	for i, v := range theta {
		d.theta[i] += v
	}
	var out Rollout
	for i := range d.episodes {
		e := &d.episodes[i]
		if err := p.Play(e, d.theta, x, rng); err != nil {
			return out, fmt.Errorf("episode %d: %w", i, err)
		}
		out.Score += e.Score / float64(len(d.episodes))
		out.Steps += e.Steps()
	}
	return out, nil
}
