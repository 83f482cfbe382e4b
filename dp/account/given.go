package account

import (
	"math"
	"sort"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account/internal/lossdist"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// Events that bring their own Renyi bounds or their own distribution of the loss.

// givenLaw is the pair that a privacy_loss event states.
func givenLaw(e dp.PrivacyLoss) lossdist.Atoms { return lossdist.Given(e.Losses, e.Masses, e.Infinity) }

// givenProfile sums up delta(eps) = P(infinite) + sum of mass (1 - e^(eps-loss))+.
func givenProfile(e dp.PrivacyLoss) *eventProfile {
	law := givenLaw(e)
	last := law[len(law)-1]
	p := &eventProfile{event: e, most: max(e.Losses[len(e.Losses)-1], 0)}
	if math.IsInf(last.Loss.Value, 1) {
		p.floor = min(last.P, 1)
	}
	rel := singleError + float64(len(law))*0x1p-53
	p.delta = func(epsilon float64) Bracket {
		sum := 0.0
		for _, a := range law {
			if a.Loss.Value > epsilon {
				sum += a.P * -math.Expm1(epsilon-a.Loss.Value)
			}
		}
		if sum == 0 {
			return Bracket{}
		}
		b := outside(sum, rel)
		return Bracket{max(b.Lower, min(p.floor, b.Upper)), min(max(b.Upper, p.floor)+0x1p-1000, 1)}
	}
	return p
}

// givenRenyi is ln of the mean of e^((order-1) loss) over order - 1, rounded up, of
// losses that are all finite.
func givenRenyi(e dp.PrivacyLoss, order float64) float64 {
	logs, size := make([]float64, len(e.Losses)), 0.0
	for i, loss := range e.Losses {
		logs[i] = math.Log(e.Masses[i]) + (order-1)*loss
		size = max(size, math.Abs(math.Log(e.Masses[i]))+(order-1)*math.Abs(loss))
	}
	log := xmath.LogSumExp(logs)
	slack := (16 + 4*size + float64(len(logs))) * 0x1p-52
	return xmath.Up((max(log, 0)+slack)/(order-1), 4)
}

// knownRenyi bounds the divergence at an order from those at the orders that the
// event states. The cumulant (order-1) D is convex and 0 at order 1, so it lies below the chords of its
// bounds; beyond the last order nothing is known.
func knownRenyi(e dp.RenyiCurve, order float64) float64 {
	i := sort.SearchFloat64s(e.Orders, order)
	switch {
	case i == len(e.Orders):
		return math.Inf(1)
	case i == 0 || e.Orders[i] == order:
		return e.Values[i]
	}
	low, high := e.Orders[i-1], e.Orders[i]
	share := (order - low) / (high - low)
	chord := (1-share)*(low-1)*e.Values[i-1] + share*(high-1)*e.Values[i]
	// A divergence does not fall with its order, so the higher one's bound holds too.
	return min(xmath.MulUp(chord/(order-1), 1+0x1p-48), e.Values[i])
}
