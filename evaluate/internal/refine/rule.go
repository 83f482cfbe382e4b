package refine

import (
	"math"

	"github.com/discreet-rl/discreet/dp"
)

// Rule holds the numbers of dp-refine's public rule. There is one rule for
// all, [StandardRule]; experiments try others.
type Rule struct {
	// LevelShare, CountShare and MatrixShare are shares of mu^2: for the overall level,
	// and for the visit counts with their first residuals, or the matrix of the forms
	// that have one. The rounds share the rest equally.
	LevelShare, CountShare, MatrixShare float64
	// FirstClip times the spread of persons' means is the typical residual to which
	// the first ones are clipped, but at least FirstFloor and at most half of the
	// range of returns: where persons are alike their states' values still differ.
	FirstClip, FirstFloor float64
	// Clip is the factor of clipFactor at m mu = 300, of the forms with a matrix.
	Clip float64
	// Offset is how far, in standard deviations of a residual, what residuals are
	// measured from is moved at most: see offsets.
	Offset float64
	// Weight is the power of a state's share of visitors by whose inverse residuals
	// are scaled.
	Weight float64
	// Level, Slope and State are the prior of V(s) = a + b (p_s - mean p) + d_s, p_s
	// being the share of persons who visit s: standard deviations in units of the
	// range of returns.
	Level, Slope, State float64
}

// StandardRule was fixed on simulated chains (docs/results/estimators.md).
// It is applied to public facts alone: the budget, the number of persons, the
// number of coordinates and the range of returns.
func StandardRule() Rule {
	return Rule{
		LevelShare: 0.04, CountShare: 0.22, MatrixShare: 0.36,
		FirstClip: 3.5, FirstFloor: 0.4, Clip: 1.5, Offset: 0.75, Weight: 0.5,
		Level: 0.2, Slope: 0.7, State: 0.1,
	}
}

// clipFactor is the rule for the clip of a round with a matrix, in units of the predicted root
// mean square norm of a person's residual. Noise grows with the clip and falls
// with m mu, while the bias of a tight clip does not fall; so the clip widens
// with the fourth root of m mu, from 1 where noise rules to 8.
func (r Rule) clipFactor(mMu float64) float64 {
	return min(max(r.Clip*math.Sqrt(math.Sqrt(mMu/300)), 1), 8)
}

// Shares splits mu^2 among the level, the counts or the matrix, and so many rounds.
func (r Rule) Shares(matrix bool, rounds int) []float64 {
	second := r.CountShare
	if matrix {
		second = r.MatrixShare
	}
	shares := []float64{r.LevelShare, second}
	for range rounds {
		shares = append(shares, (1-r.LevelShare-second)/float64(rounds))
	}
	return shares
}

// Schedule is what the rule makes of the public facts. Gaussian releases whose
// multipliers are fixed beforehand compose exactly, whatever the later ones ask
// (Dong, Roth and Su 2022).
type Schedule struct {
	Multipliers []float64 // noise over clip, by release
	ClipFactor  float64
}

// Schedule fixes the clips' factor for noise multipliers, one for each share.
func (r Rule) Schedule(persons int64, multipliers []float64) Schedule {
	// mu of the whole budget, as it stands for one unit of a replaced person.
	all := 0.0
	for _, x := range multipliers {
		all += 1 / (x * x)
	}
	return Schedule{Multipliers: multipliers, ClipFactor: r.clipFactor(float64(persons) * 2 * math.Sqrt(all))}
}

// visitNorm is how a person's visits enter the counts: state by state as
// 1 - centre where visited and -centre where not, a vector whose norm is at most
// norm when at most visits of dim coordinates are visited. Under AddRemoveOne
// the number of persons, which would undo a centre, is private, so it is 0.
func visitNorm(adjacency dp.Adjacency, dim, visits int) (centre, norm float64) {
	n, k := float64(dim), float64(min(dim, visits))
	if adjacency == dp.AddRemoveOne {
		return 0, math.Sqrt(k)
	}
	centre = min(0.5, k/n)
	return centre, math.Sqrt(max(n*centre*centre, k*(1-centre)*(1-centre)+(n-k)*centre*centre))
}

// tailRate and tailPower are the law that the clip of a round supposes of residuals:
// a clip at c root mean squares moves the values by exp(-tailRate c^tailPower) of a
// standard deviation. It is slower than an exponential: residuals are skewed, and
// persons who visit many cells have long ones.
const (
	tailRate  = 2.5
	tailPower = 0.5
)

// tailBias is the law of clipping, in standard deviations of a residual.
func tailBias(c float64) float64 { return math.Exp(-tailRate * math.Pow(c, tailPower)) }

// tailClip is the c in [least, most] at which bias and noise together are least:
// noise is the standard deviation that the noise makes at a clip of 1.
func tailClip(noise, least, most float64) float64 {
	low, high := least, most
	for range 60 {
		c := (low + high) / 2
		bias := tailBias(c)
		// The derivative of bias^2 + (c noise)^2.
		if bias*bias*tailRate*tailPower*math.Pow(c, tailPower-1) > c*noise*noise {
			low = c
		} else {
			high = c
		}
	}
	return low
}

// unclipped guesses the mean square of norms from that of norms clipped to clip, as
// if norms were exponential: for these it is
//
//	clip^2 (2/a^2) (1 - (1 + a) exp(-a)),  a = clip sqrt 2 / (root mean square).
//
// Without it every round would take what the round before left of the tails for all
// there is, and clip ever more.
func unclipped(square, clip float64) float64 {
	share := min(max(square/(clip*clip), 0), 0.9)
	if share < 1e-3 {
		return share * clip * clip
	}
	low, high := 1e-2, 1e2
	for range 60 {
		a := math.Sqrt(low * high)
		if 2/(a*a)*(1-math.Exp(-a)*(1+a)) > share {
			low = a
		} else {
			high = a
		}
	}
	return 2 * clip * clip / (low * low)
}
