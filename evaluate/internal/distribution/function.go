package distribution

import (
	"math"

	"github.com/discreet-rl/discreet/evaluate/internal/band"
)

// miss is the probability with which the limits miss the function somewhere.
const miss = 0.05

// clearly is by how many standard deviations of its noise the sum of all masses must lie above
// 0 to tell how many persons there are.
const clearly = 4

// Question is what is asked of the masses, all of it public.
type Question struct {
	// Ends are the points at which the function is estimated, increasing; the last is the
	// largest return. The first bin starts at Least.
	Ends  []float64
	Least float64
	// Discrete says that a return is one of Ends, and nothing between them.
	Discrete bool
	// Most is the largest mass of a person.
	Most float64
	// Persons is how many there are; 0 where only the noisy sum of all masses tells.
	Persons float64
	// Whole says that everybody's mass is in the bins, and that it is 1.
	Whole bool
	// SD and SquareSD are the standard deviations of the noise of a mass and of a square.
	SD, SquareSD float64
}

// Masses are the noisy sums over persons: of mass in each bin, of what was kept back, and of
// squares in each bin, nil where a square is at most its mass.
type Masses struct {
	In      []float64
	Back    float64
	Squares []float64
}

// Function is a distribution function at the ends of bins.
type Function struct {
	question Question
	// Band holds the function at all ends together.
	Band band.Band
	// alone are the limits as if no mass were missing, critical standard deviations away, and
	// noise the share of the variance that the noise makes.
	alone    band.Band
	noise    []float64
	critical float64
	// Mass is the noisy mean of a person's mass in all bins, and MassSD its standard error, of
	// sampling and of noise; Persons is how many there are, as far as is known.
	Mass, MassSD, Persons float64
}

// side is one sum of masses from an end of the range: of the first bins, or of the last ones.
type side struct {
	q       Question
	persons float64
	share   []float64 // of the first so many bins
	second  []float64 // their second moments, an upper estimate
}

// Estimate computes the function.
func (q Question) Estimate(m Masses) Function {
	f := Function{question: q, Band: empty(len(q.Ends)), alone: empty(len(q.Ends)), noise: make([]float64, len(q.Ends))}
	persons := q.Persons
	known := persons > 0
	if !known {
		persons = q.sum(m) / q.Most
		known = q.sum(m) > clearly*q.SD*math.Sqrt(q.cells())
	}
	last := len(q.Ends) - 1
	if !(persons >= 1 && known) {
		f.Band, f.alone, f.critical = anything(last+1), anything(last+1), 1
		return f
	}
	f.Band.Values[last], f.Band.Lower[last], f.Band.Upper[last] = 1, 1, 1
	f.alone.Values[last], f.alone.Lower[last], f.alone.Upper[last] = 1, 1, 1
	below, above := q.side(m, persons, false), q.side(m, persons, true)
	f.Persons, f.Mass, f.MassSD = persons, below.share[last+1], math.Sqrt(below.covariance(last+1, last+1))
	low, high := below.critical(), above.critical()
	f.critical = max(low, high)
	for j := range last {
		up, down := j+1, last-j
		f.Band.Lower[j] = below.lower(up, low)
		f.Band.Upper[j] = 1 - above.lower(down, high)
		f.Band.Values[j] = below.share[up]
		if !q.Whole {
			f.Band.Values[j] = ratio(below.share[up], above.share[down])
		}
		sampling := (below.sampling(up, up) + above.sampling(down, down)) / 2
		noise := (below.noise(up, up) + above.noise(down, down)) / 2
		if noise > 0 {
			f.noise[j] = noise / (sampling + noise)
		}
		sd := math.Sqrt(sampling + noise)
		f.alone.Values[j] = f.Band.Values[j]
		f.alone.Lower[j], f.alone.Upper[j] = max(f.Band.Values[j]-f.critical*sd, 0), min(f.Band.Values[j]+f.critical*sd, 1)
	}
	f.Band.Rise()
	f.alone.Rise()
	return f
}

// Width is the mean width of the limits, of all ends but the last.
func (f Function) Width() float64 {
	sum, last := 0.0, len(f.Band.Lower)-1
	for j, low := range f.Band.Lower[:last] {
		sum += f.Band.Upper[j] - low
	}
	return sum / float64(last)
}

// Unknown is the function with the limits of any: where the masses are shown to be no weights
// of the policy. The errors stay those of the estimate.
func (f Function) Unknown() Function {
	f.Band = anything(len(f.Band.Values))
	return f
}

// anything has the limits that hold of any function.
func anything(n int) band.Band {
	b := empty(n)
	for j := range n {
		b.Values[j], b.Upper[j] = 0.5, 1
	}
	b.Values[n-1], b.Lower[n-1] = 1, 1
	return b
}

func empty(n int) band.Band {
	return band.Band{Values: make([]float64, n), Lower: make([]float64, n), Upper: make([]float64, n)}
}

// ratio is the share of x in x + y, of noisy numbers.
func ratio(x, y float64) float64 {
	if x, y = max(x, 0), max(y, 0); x+y > 0 {
		return x / (x + y)
	}
	return 0.5
}

// sum is all mass.
func (q Question) sum(m Masses) float64 {
	total := 0.0
	for _, x := range m.In {
		total += x
	}
	if !q.Whole {
		total += m.Back
	}
	return total
}

// cells is the number of noisy masses whose sum is known where that of persons is.
func (q Question) cells() float64 {
	if q.Whole {
		return float64(len(q.Ends))
	}
	return float64(len(q.Ends) + 1)
}

// side adds up masses from below, or from above. Where the sum of all masses is known, what the
// noise added to it is taken from all of them alike.
func (q Question) side(m Masses, persons float64, fromAbove bool) side {
	s := side{q, persons, make([]float64, len(m.In)+1), make([]float64, len(m.In)+1)}
	excess := 0.0
	if q.Persons > 0 {
		excess = (q.sum(m) - q.Most*persons) / q.cells()
	}
	mass, square := 0.0, 0.0
	for j := range m.In {
		bin := j
		if fromAbove {
			bin = len(m.In) - 1 - j
		}
		mass += m.In[bin] - excess
		share := mass / persons
		s.share[j+1] = share
		second := max(share, 0)
		if m.Squares != nil {
			square += m.Squares[bin]
			second = (square + q.SquareSD*math.Sqrt(float64(j+1))) / persons
			second = min(max(second, share*share), q.Most*max(share, 0))
		}
		s.second[j+1] = second
	}
	return s
}

// sampling is the covariance of the shares of the first i and j bins that finitely many persons
// make.
func (s side) sampling(i, j int) float64 {
	i, j = min(i, j), max(i, j)
	return max(s.second[i]-s.share[i]*s.share[j], 0) / s.persons
}

// noise is that which the noise makes.
func (s side) noise(i, j int) float64 {
	i, j = min(i, j), max(i, j)
	from, to, of := float64(i), float64(j), s.q.cells()
	v := s.q.SD * s.q.SD / (s.persons * s.persons)
	if s.q.Persons > 0 {
		return v * from * (1 - to/of)
	}
	p, r := s.share[i]/s.q.Most, s.share[j]/s.q.Most
	return v * (from - r*from - p*to + p*r*of)
}

func (s side) covariance(i, j int) float64 { return s.sampling(i, j) + s.noise(i, j) }

// critical is by how many standard deviations lower limits must lie apart to hold together.
func (s side) critical() float64 {
	return band.PathCritical(len(s.q.Ends)-1, miss, s.covariance)
}

// lower is the lower limit of the share of the first j bins: the share at which the estimate
// lies c standard deviations above it (Wilson 1927), where the second moment is to the share as
// in the estimate.
func (s side) lower(j int, c float64) float64 {
	p, k := s.share[j], c*c/s.persons
	scale := s.q.Most
	if p > 0 {
		scale = min(s.second[j]/p, scale)
	}
	middle := p + k*scale/2
	root := middle*middle - (1+k)*(p*p-c*c*s.noise(j, j))
	return min(max((middle-math.Sqrt(max(root, 0)))/(1+k), 0), 1)
}
