package evaluate

import (
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/rl/policy"
)

// Values of the parameter clip.
const (
	clipPublic = "public"
	clipAuto   = "auto"
)

// weightCap is the public cap on a trajectory's importance weight.
func weightCap(method string, p Public, configured float64) (float64, error) {
	switch {
	case configured != 0 && !(configured >= 1e-30 && configured <= 1e30):
		return 0, fmt.Errorf("%w: %s: max_weight is %v; want a number from 1e-30 to 1e30", ErrMethod, method, configured)
	case policy.OnPolicy(p.Target):
		return 1, nil
	case configured == 0:
		return defaultMaxWeight, nil
	}
	return configured, nil
}

// meanInNoise is m mu: the number of persons times the budget's parameter of Gaussian
// differential privacy, that is the size of a mean in units of its noise. Of several
// answers each has an equal share of mu^2.
func meanInNoise(p Public) (float64, error) {
	mu, err := account.GaussianMu(p.Privacy.Budget)
	return float64(p.Persons) * mu.Lower / math.Sqrt(float64(max(p.answers, 1))) / p.share.dilution(), err
}

// affordableWeight is a public cap on weights that suits the budget. A cap c puts
// noise 2c/(m mu), in half ranges, on the mean, and cuts at most E[w^2]/(4c) of
// the weight, since w - c <= w^2/(4c); at E[w^2] = 4 the two are equal for
// c^2 = m mu/2.
func affordableWeight(p Public) (float64, error) {
	r, err := meanInNoise(p)
	return max(1, min(defaultMaxWeight, math.Sqrt(r/2))), err
}

// clipShare turns the parameters clip and clip_share into a share of the budget:
// 0 where the public clip is kept. A histogram that cannot tell a tenth of the
// persons from nobody is not paid for.
func clipShare(method string, p Public, clip string, share float64, steps int) (float64, error) {
	share, err := askedShare(method, clip, share)
	if share == 0 || err != nil {
		return 0, err
	}
	r, err := meanInNoise(p)
	if err != nil {
		return 0, err
	}
	// sqrt 2/mu is the noise of one bin, and steps of them may be added up.
	if math.Sqrt(2*float64(steps)/share) > r/10 {
		return 0, nil
	}
	return share, nil
}

// askedShare is the share of the budget that the parameters ask for.
func askedShare(method, clip string, share float64) (float64, error) {
	if !(share >= 0 && share < 1) {
		return 0, fmt.Errorf("%w: %s: clip_share is %v; want between 0 and 1", ErrMethod, method, share)
	}
	switch clip {
	case clipPublic:
		return 0, nil
	case clipAuto:
	default:
		return 0, fmt.Errorf("%w: %s: clip is %q; want public or auto", ErrMethod, method, clip)
	}
	if share == 0 {
		share = defaultClipShare
	}
	return share, nil
}
