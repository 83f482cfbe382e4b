package experiment

import (
	"math"

	"github.com/discreet-rl/discreet/internal/dp/mechanism"
)

// Reading is what the noisy sums of arms are read with.
type Reading struct {
	// SD is the standard deviation of the noise in a sum of parts, ProductSD in that of products.
	SD, ProductSD float64
	// Whole says that nothing is missing: what is left of 1 is 0, and is not looked at.
	Whole bool
	// Absent is the noisy number of persons whose arm is not known, AbsentSD that of its noise. Any
	// of them may be of any arm.
	Absent, AbsentSD float64
	// Z is how many standard deviations an end allows for, and Unseen how many persons whom the
	// data happen not to show.
	Z, Unseen float64
}

// Arm is an arm: noisy sums over its persons of what their outcomes are known to reach, and to
// miss, of the public range. Persons is their public number; 0 where it is not public.
type Arm struct {
	Sums    mechanism.NoisySplit
	Persons float64
}

// End is a limit of a mean: at Mean, of what is vouched for, less Margin.
type End struct{ Mean, Margin, absent float64 }

// Level is the mean of an arm, in shares of the range.
type Level struct {
	Value                   float64
	StdSampling, StdPrivacy float64
	// Low bounds the mean from below, and High what it lacks to 1.
	Low, High End
	// Missing is the share of outcomes that is not known, with its standard error.
	Missing, MissingSD float64
	// Count is the number of persons of the arm, CountSD that of its noise.
	Count, CountSD float64
}

// parts is how many parts of 1 are looked at.
func (q Reading) parts() float64 {
	if q.Whole {
		return 2
	}
	return 3
}

// Price is the variance of the noise in the limit of a sum whose mean is about the middle.
func (q Reading) Price() float64 { return (q.parts()*q.SD*q.SD + q.AbsentSD*q.AbsentSD) / 4 }

// Level reads an arm.
func (q Reading) Level(a Arm) Level {
	d := q.parts()
	x, z, rest := a.Sums.X, a.Sums.Z, a.Sums.Rest
	if q.Whole {
		rest = 0
	}
	l := Level{Count: x + z + rest, CountSD: q.SD * math.Sqrt(d)}
	if a.Persons > 0 { // all parts together are that many
		over := (l.Count - a.Persons) / d
		x, z, rest = x-over, z-over, rest-over
		if q.Whole {
			rest = 0
		}
		l.Count, l.CountSD = a.Persons, 0
	}
	absent := max(q.Absent, 0)
	all := max(l.Count+absent, 1)
	l.Low, l.High = q.end(x, a, all), q.end(z, a, all)
	l.Missing = min(max((rest+absent)/all, 0), 1)
	if !q.Whole {
		l.MissingSD = math.Hypot(math.Hypot(q.SD, q.AbsentSD)/all, math.Sqrt(l.Missing*(1-l.Missing)/all))
	}
	l.Value = 0.5 + (x-z)/all/2
	if l.Missing > 4*l.MissingSD && x+z > 4*q.SD {
		l.Value = x / (x + z) // as if what is missing were like the rest
	}
	l.Value = min(max(l.Value, 0), 1)
	v := l.Value
	l.StdPrivacy = q.SD * math.Sqrt((1-v)*(1-v)+v*v+(d-2)*(0.5-v)*(0.5-v)) / all
	if a.Persons > 0 {
		l.StdPrivacy = q.SD / math.Sqrt2 / all
	}
	l.StdSampling = math.Sqrt(max(v*(1-v)-a.Sums.Product/all, 0) / all)
	return l
}

// end is the limit of the mean over all persons of one of the parts, whose noisy sum is x. It
// solves (x - J n)^2 = z^2 (noise at J + sampling) for J (Fieller 1954), n the noisy number of persons.
func (q Reading) end(x float64, a Arm, all float64) End {
	mean := min(max(x/all, 0), 1)
	// Noise in x - J n is constant + linear J + square J^2.
	d, noise := q.parts(), q.SD*q.SD
	constant, linear, square := noise, -2*noise, d*noise+q.AbsentSD*q.AbsentSD
	if a.Persons > 0 {
		constant, linear, square = noise*(1-1/d), 0, 0
	}
	private := math.Sqrt(constant+linear*mean+square*mean*mean) / all
	near := min(mean+private, 1)
	// x^2 = x - x z - x rest, the last of which is left out: an upper limit.
	variance, sd := mean*(1-mean)-a.Sums.Product/all, math.Hypot(q.ProductSD, (1-2*mean)*q.SD)/all
	variance = max(variance, 0) + allowance(q.Z, variance, private*private*all, sd)
	// Numbers in [0, 1] vary by no more than their mean times what it lacks to 1 (Bhatia and Davis 2000).
	variance = min(variance, 0.25, near*min(1-mean+private, 1))
	e := End{Mean: x / all, absent: q.AbsentSD * mean / all}
	z2 := q.Z * q.Z
	// all^2 J^2 - 2 x all J + x^2 - z2 (constant + linear J + square J^2 + variance all) = 0
	p, r := all*all-z2*square, 2*x*all+z2*linear
	c := x*x - z2*(constant+variance*all)
	if !(p > 0) {
		return End{Mean: e.Mean, Margin: max(e.Mean, 1), absent: e.absent}
	}
	least := (r - math.Sqrt(max(r*r-4*p*c, 0))) / (2 * p)
	e.Margin = math.Hypot(max(e.Mean-least, q.Z*math.Hypot(private, math.Sqrt(variance/all))), q.Unseen*near/all)
	return e
}

// Interval is that of a level.
func (l Level) Interval() (lower, upper float64) {
	lower, upper = l.Low.Mean-l.Low.Margin, 1-l.High.Mean+l.High.Margin
	return min(max(lower, 0), l.Value), max(min(upper, 1), l.Value)
}

// allowance is added to a variance that noise of standard deviation sd was added to, so that an
// interval of z standard deviations, other the variance of what else is in it, covers as often
// as with the true variance: to second order (1 + z^2)/4 sd^2 over the sum, and sd where that is more.
func allowance(z, variance, other, sd float64) float64 {
	all := max(variance, 0) + other
	if !(all > 0) {
		return sd
	}
	return min(sd, (1+z*z)/4*sd*sd/all)
}
