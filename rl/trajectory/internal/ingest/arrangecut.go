package ingest

import (
	"math"
	"time"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// cut numbers the episodes into which the rows of a person are cut, 1, 2, ... Where the step
// of one cannot be read, it may be anywhere, and so may the cuts: all are then one episode.
func (g *group) cut(o *trajectory.Options) {
	number, before := 1, math.Inf(-1)
	g.ends = g.ends[:0]
	for i, row := range g.order {
		step := g.values[blkStep][row]
		if !finite(step) {
			number = 0
			break
		}
		if i > 0 && begins(o, before, step) {
			number++
			g.ends = append(g.ends, i)
		}
		before = step
		g.numbers = append(g.numbers, number)
	}
	if number > 0 {
		g.ends = append(g.ends, len(g.order))
		return
	}
	g.numbers, g.ends = g.numbers[:0], append(g.ends[:0], len(g.order))
	for range g.order {
		g.numbers = append(g.numbers, 1)
	}
}

// begins tells whether an episode begins with a step after another one.
func begins(o *trajectory.Options, before, step float64) bool {
	if o.Restart {
		return !(step > before)
	}
	return step-before > float64(o.Gap/time.Microsecond)
}
