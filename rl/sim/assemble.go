package sim

import "github.com/discreet-rl/discreet/rl/trajectory"

// assemble puts the chunks one after another into a dataset.
func assemble(p *player, chunks []episodes, perPerson int) *trajectory.Dataset {
	rows, n := 0, 0
	for i := range chunks {
		rows += len(chunks[i].reward)
		n += len(chunks[i].length)
	}
	width, actions := len(p.spec.Columns), p.spec.Actions
	d := &trajectory.Dataset{
		Columns:      p.spec.Columns,
		EpisodeStart: make([]int, 1, n+1),
		Obs:          make([]float64, 0, rows*width),
		Action:       make([]int32, 0, rows),
		Reward:       make([]float64, 0, rows),
		BehaviorProb: make([]float64, 0, rows),
		ActionProbs:  make([]float64, 0, rows*actions),
		Actions:      actions,
		Terminated:   make([]bool, 0, n),
		Origin:       make([]string, n),
		FirstRow:     make([]int, n),
	}
	final := make([]float64, 0, n*width)
	for i := range chunks {
		c := &chunks[i]
		d.Obs = append(d.Obs, c.obs...)
		d.Action = append(d.Action, c.action...)
		d.Reward = append(d.Reward, c.reward...)
		d.BehaviorProb = append(d.BehaviorProb, c.behavior...)
		d.ActionProbs = append(d.ActionProbs, c.probs...)
		d.Terminated = append(d.Terminated, c.terminated...)
		final = append(final, c.final...)
		for _, steps := range c.length {
			d.EpisodeStart = append(d.EpisodeStart, d.EpisodeStart[len(d.EpisodeStart)-1]+steps)
		}
		*c = episodes{} // its memory may be used again
	}
	for e := 0; e < n; e += perPerson {
		d.PersonStart = append(d.PersonStart, e)
	}
	d.PersonStart = append(d.PersonStart, n)
	for e := range n {
		d.Origin[e], d.FirstRow[e] = p.spec.Name, d.EpisodeStart[e]+1
	}
	keepTruncated(d, final)
	return d
}

// keepTruncated records the observation after the last step of the episodes that
// did not terminate; zeros stand for the others.
func keepTruncated(d *trajectory.Dataset, final []float64) {
	width := len(d.Columns)
	has := make([]bool, len(d.Terminated))
	anyTruncated := false
	for e, terminated := range d.Terminated {
		has[e] = !terminated
		anyTruncated = anyTruncated || has[e]
		if terminated {
			clear(final[e*width : (e+1)*width])
		}
	}
	if anyTruncated {
		d.Final, d.HasFinal = final, has
	}
}
