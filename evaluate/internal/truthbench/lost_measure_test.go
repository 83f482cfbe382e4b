//go:build slow && measure

package truthbench_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// vouching is what persons add, in shares of the public range: x and z as in
// docs/proofs/overlap.md, and lost the mass that cuts took, for each person.
type vouching struct{ x, z, lost []float64 }

// course walks through episodes of which the probabilities of all actions are known.
type course struct {
	p              truthbench.Problem
	d              *trajectory.Dataset
	target, logged []float64 // of every action, row by row
	actions        int
	total          float64 // discounted decisions up to the horizon
}

func newCourse(t *testing.T, p truthbench.Problem, d *trajectory.Dataset) *course {
	target, err := p.Target.Bind(d)
	check(t, err)
	logged, err := p.Behavior.Bind(d)
	check(t, err)
	c := &course{p: p, d: d, actions: target.Actions()}
	c.target, c.logged = make([]float64, d.Rows()*c.actions), make([]float64, d.Rows()*c.actions)
	for row := range d.Rows() {
		target.Distribution(c.target[row*c.actions:(row+1)*c.actions], row)
		logged.Distribution(c.logged[row*c.actions:(row+1)*c.actions], row)
	}
	for k := range p.Horizon {
		c.total += math.Pow(p.Gamma, float64(k))
	}
	return c
}

// loss is the mass that is lost where the next weight is cut to k: its mean, over the
// logged action, is w - loss.
func (c *course) loss(row int, w, k float64) float64 {
	sum := 0.0
	for i := row * c.actions; i < (row+1)*c.actions; i++ {
		sum += max(w*c.target[i]-k*c.logged[i], 0)
	}
	return sum
}

// largest is the largest cut k with k + loss(k) <= most.
func (c *course) largest(row int, w, most float64) float64 {
	low, high := 0.0, max(most, 0)
	if high+c.loss(row, w, high) <= most {
		return high
	}
	for range 40 {
		if k := (low + high) / 2; k+c.loss(row, w, k) <= most {
			low = k
		} else {
			high = k
		}
	}
	return low
}

// walk lists what everybody adds where weights are cut at each decision so that weight and
// lost mass stay, in the end, below cap together: the sum of both is a martingale with
// mean 1.
func (c *course) walk(cap float64) vouching {
	n := c.d.Persons()
	out := vouching{make([]float64, n), make([]float64, n), make([]float64, n)}
	for i := range n {
		w, lost, used, left, ret, discount := 1.0, 0.0, 0.0, c.total, 0.0, 1.0
		add := func(share, reward float64) {
			out.x[i] += share * w * reward
			out.z[i] += share * w * (1 - reward)
			out.lost[i] += share * lost
		}
		for row := c.d.EpisodeStart[i]; row < c.d.EpisodeStart[i+1]; row++ {
			most := cap
			if c.p.Return == nil {
				most = (cap*c.total - used) / left
			}
			k := c.largest(row, w, most-lost)
			lost += c.loss(row, w, k)
			a := row*c.actions + int(c.d.Action[row])
			w = min(w*c.target[a]/c.logged[a], k)
			used += discount * (w + lost)
			left -= discount
			ret += discount * c.d.Reward[row]
			if c.p.Return == nil {
				add(discount/c.total, c.d.Reward[row])
			}
			discount *= c.p.Gamma
		}
		if c.p.Return != nil {
			within := facts.Range(*c.p.Return)
			add(1, (within.Clamp(ret)-within.Min)/within.Width())
		} else {
			add(max(left, 0)/c.total, 0)
		}
	}
	return out
}

// corner is the noise of a released sum that is told by its values in the corners of the
// regular simplex: four of a tetrahedron, with an edge of 1 and noise of 1.
func corner(values ...float64) float64 {
	mean, sum := 0.0, 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		sum += 2 * (v - mean) * (v - mean)
	}
	return math.Sqrt(sum)
}

// known is the interval that a release of (x, z, lost) would make, drawn as a regular
// tetrahedron, with noise of one edge over mu: each end is that of x, or of z, with the known
// mean 1 of x + z + lost as a control variate. Products of the shares are taken to be free up to the same
// weight as in mechanism.Pair.
func (v vouching) known(cap, mu float64, rng *rand.Rand) (low, high, missing float64) {
	n := float64(len(v.x))
	edge := cap / mu
	u := [3]float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
	m := (u[0] + u[1] + u[2]) / 3
	sums := [3]float64{}
	for k, list := range [][]float64{v.x, v.z, v.lost} {
		for _, x := range list {
			sums[k] += x
		}
		sums[k] += edge * (math.Sqrt2*(u[k]-m) + math.Sqrt(0.5)*m) // variance 3/2, covariance -1/2
	}
	mean := (sums[0] + sums[1] + sums[2]) / n
	square := cap * edge * math.Hypot(corner(1, 0, 0, 0), math.Sqrt(3)*2/2.8)
	end := func(k int, own []float64) float64 {
		of := min(max(sums[k]/n/max(mean, 0.05), 0), 1)
		found, variance := sums[k]/n+of*(1-mean), 0.0
		for i, x := range own {
			r := x - of*(v.x[i]+v.z[i]+v.lost[i])
			variance += r * r / n
		}
		r := sums[k]/n - of*mean
		noise := edge * corner(1-of, -of, -of, 0)
		sd := square * math.Hypot(1-of, of) // of the noisy square of r
		variance += rng.NormFloat64()*sd/n - r*r
		t := max(variance, 0) + noise*noise/n
		variance = max(variance, 0) + min(sd/n, (1+scalar.Z95*scalar.Z95)/4*sd*sd/n/n/t)
		variance = min(variance, cap*((1-of)*(1-of)*max(found, 0)+of*of*max(1-found, 0)))
		return found - math.Hypot(scalar.Z95*math.Hypot(math.Sqrt(variance/n), noise/n), 3*cap*of/n)
	}
	low, high = end(0, v.x), 1-end(1, v.z)
	return max(min(low, high), 0), min(max(low, high), 1), sums[2] / n
}

// TestLostMassTable prints, for problems in which the probabilities of all actions are
// known, the intervals of a release of the mass that cuts lose (simulated; replace-one),
// beside those of overlap.md with a guard and, where the design bounds weights, without
// one. All spend the whole budget at the cap that is best for them. It judges nothing.
func TestLostMassTable(t *testing.T) {
	fmt.Println("problem\tpersons\tepsilon\tlogs\tno guard: cap, covered %, width\tmass known: cap, covered %, width, lost\tguard: cap, covered %, width\tmass known / guard")
	for _, text := range strings.Split(*persons, ",") {
		for _, epsilon := range strings.Split(*epsilons, ",") {
			for _, p := range truthbench.Problems() {
				if p.Behavior != nil && asked(t, p.Name) {
					compareLost(t, p, int(number(t, text)), number(t, epsilon))
				}
			}
		}
	}
}

// held is what the intervals of one cap did.
type held struct {
	cap, width, missing float64
	covered             int
}

func (h held) String() string {
	n := float64(*draws)
	return fmt.Sprintf("%.3g, %.1f, %.4g", h.cap, 100*float64(h.covered)/n, h.width/n)
}

func compareLost(t *testing.T, p truthbench.Problem, n int, epsilon float64) {
	mu, err := account.GaussianMu(dp.Budget{Epsilon: epsilon, Delta: 1e-5})
	check(t, err)
	design := p.Designed(n, epsilon, dp.ReplaceOne)
	largest := bounded(p, design.Design.Ratios[0])
	caps := []float64{1, 2, 4, 8, 16, 32, 64, 128}
	known, guarded := make([]held, len(caps)), make([]held, len(caps))
	none := held{}
	whole := facts.Range{Max: 1}
	within := design.Returns()
	share := (p.J - within.Min) / within.Width()
	bounds := func(cap float64) scalar.Bounds {
		return scalar.Bounds{Public: facts.Public{Persons: int64(n), Adjacency: dp.ReplaceOne, Returns: whole}, Range: whole,
			Caps: scalar.ClipRanges{Above: cap}, Noise: scalar.Stages{Main: 2 / mu.Lower}, SelfNormalised: true}
	}
	tally := func(h *held, cap, low, high, missing float64) {
		h.cap = cap
		h.width += (high - low) * within.Width()
		h.missing += missing
		if low <= share && share <= high {
			h.covered++
		}
	}
	src, rng := noise.NewSeeded(uint64(n)), rand.New(rand.NewPCG(uint64(n), 13))
	for seed := range *draws {
		c := newCourse(t, p, p.Draw(n, uint64(seed)))
		raw := c.walk(1e15)
		release := func(h *held, b scalar.Bounds) {
			e, err := b.Run(scalar.Numbers{raw.x}, scalar.Numbers{raw.z}, src)
			check(t, err)
			tally(h, b.Caps.Above, e.Interval[0], e.Interval[1], e.Missing.Share)
		}
		for k, cap := range caps {
			release(&guarded[k], bounds(cap))
			low, high, missing := c.walk(cap).known(cap, mu.Lower, rng)
			tally(&known[k], cap, low, high, missing)
		}
		if design.Design.Supported && largest < 1000 {
			b := bounds(largest)
			b.Uncut = &scalar.Uncut{} // its square is for forecasts
			release(&none, b)
		}
	}
	best := func(of []held) held {
		out := of[0]
		for _, h := range of {
			if h.width < out.width {
				out = h
			}
		}
		return out
	}
	a, b, bare := best(known), best(guarded), "-"
	if none.width > 0 {
		bare = none.String()
	}
	fmt.Printf("%s\t%d\t%v\t%d\t%s\t%v, %.3f\t%v\t%.2f\n", p.Name, n, epsilon, *draws, bare, a, a.missing/float64(*draws), b, a.width/b.width)
}

// bounded is the largest weight that the design allows for.
func bounded(p truthbench.Problem, ratio float64) float64 {
	sum, total, w := 0.0, 0.0, 1.0
	for k := range p.Horizon {
		w *= ratio
		discount := math.Pow(p.Gamma, float64(k))
		sum, total = sum+discount*w, total+discount
	}
	if p.Return != nil {
		return w
	}
	return sum / total
}
