package evaluate

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// contributions are what every person adds to the value of each policy.
type contributions struct {
	targets *Targets
	xz      []scalar.Numbers // x and z of every policy, and then of some contrasts
	apart   map[int]int      // the place of x, by answer, of contrasts that are not anchored
	rows    *value.Samples   // for those that are
	// practice is the place of how often the first policy does otherwise than was done; 0 where it is not kept.
	practice int
}

// bindable makes sure that nothing of a contrast fails once noise is drawn.
func (c contributions) bindable(quantities []quantity, d *trajectory.Dataset) error {
	for _, q := range quantities {
		if q.apart == nil {
			continue
		}
		for _, x := range q.of {
			if _, err := c.targets.drawing(x.policy).Bind(d); err != nil {
				return fmt.Errorf("targets: %s: %w", q.name, err)
			}
		}
	}
	return nil
}

// each writes what every person of a part adds.
func (c contributions) each(xz [][]float64, part []*value.Sample, of vouched, quantities []quantity) error {
	if err := of.weigh(xz, part); err != nil { // which lowers the ratios
		return err
	}
	if at := c.practice; at > 0 {
		scalar.Unlike(xz[at], xz[at+1], part[0])
	}
	for i, q := range quantities {
		if at, ok := c.apart[i]; ok {
			if err := c.differ(xz[at], xz[at+1], part, q, scalar.Full); err != nil {
				return err
			}
		}
	}
	return nil
}

// differ writes what every person of a part adds to a contrast by the difference of weights.
func (c contributions) differ(x, z []float64, part []*value.Sample, q quantity, s scalar.Span) error {
	k, l := q.of[0].policy, q.of[1].policy
	distance, err := scalar.Distances(part[k].Data, c.targets.drawing(k), c.targets.drawing(l), q.apart.Distance)
	if err == nil {
		q.apart.From(s).Contributions(x, z, part[k], part[l], distance)
	}
	return err
}

// from is what everybody adds to a quantity where outcomes are shares of a span.
func (c contributions) from(i int, q quantity, s scalar.Span) (x, z scalar.Numbers) {
	if at, ok := c.apart[i]; ok && s == scalar.Full {
		return c.xz[at], c.xz[at+1]
	}
	if q.apart == nil {
		return c.combined(q.of, s)
	}
	return eachPart(c.rows, func(x, z []float64, part []*value.Sample) {
		if err := c.differ(x, z, part, q, s); err != nil {
			panic(err) // the policies were bound to these columns
		}
	})
}

// eachPart is what everybody adds, written part by part.
func eachPart(rows *value.Samples, write func(x, z []float64, part []*value.Sample)) (x, z scalar.Numbers) {
	for walk, at := rows.Walk(), 0; at < rows.Persons(); {
		part, _ := walk.Of(at)
		n := part[0].Persons()
		x, z, at = append(x, make([]float64, n)), append(z, make([]float64, n)), at+n
		write(x[len(x)-1], z[len(z)-1], part)
	}
	return x, z
}

// combined is what everybody adds to the values of policies together.
func (c contributions) combined(of []term, s scalar.Span) (x, z scalar.Numbers) {
	terms := make([]scalar.Term, len(of))
	for i, t := range of {
		x, z = c.xz[2*t.policy], c.xz[2*t.policy+1]
		if s != scalar.Full {
			x, z = s.Measured(x, z)
		}
		terms[i] = scalar.Term{X: x, Z: z, Times: t.times}
	}
	if len(of) > 1 {
		return scalar.Combine(terms...)
	}
	return x, z
}

// estimate draws the noise of the i-th quantity.
func (c contributions) estimate(i int, q quantity, src *noise.Source) (*scalar.Estimate, error) {
	var level [2]scalar.Numbers
	if q.anchor > 0 {
		mean := slices.Clone(q.of)
		for k := range mean {
			mean[k].times = math.Abs(mean[k].times)
		}
		level[0], level[1] = c.combined(mean, scalar.Full)
	}
	return q.bounds.RunFrom(level, func(s scalar.Span) (x, z scalar.Numbers) { return c.from(i, q, s) }, src)
}
