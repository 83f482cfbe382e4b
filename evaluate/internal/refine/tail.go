package refine

import "math"

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
