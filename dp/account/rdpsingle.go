package account

import (
	"math"

	"github.com/discreet-rl/discreet/internal/xmath"
)

// Renyi divergences of events that have them in closed form. With A the mean of e^((order-1) loss),
// the divergence is ln A / (order-1). A is near 1 if the loss is small, so its excess over 1 is
// summed.

// renyiOf turns the excess A - 1 and the size of the terms that it was summed
// from into a divergence, rounded up.
func renyiOf(order, excess, size float64) float64 {
	excess += size * 0x1p-47
	return xmath.Up(math.Log1p(max(excess, 0))/(order-1), 4)
}

// laplaceRenyi: Mironov 2017, Proposition 6. loss is the largest privacy loss.
func laplaceRenyi(order, loss float64) float64 {
	if (order-1)*loss > 30 {
		// The first term alone, in logarithms, and the second is at most 1.
		log := (order-1)*loss + math.Log(order/(2*order-1))
		return xmath.Up(xmath.LogAdd(log, 0)/(order-1), 16)
	}
	up := order / (2*order - 1) * math.Expm1((order-1)*loss)
	down := (order - 1) / (2*order - 1) * math.Expm1(-order*loss)
	return renyiOf(order, up+down, up-down)
}

// responseRenyi is the divergence of two answers whose probabilities are in the
// ratio e^loss and sum to share, all others being equal.
func responseRenyi(order, loss, share float64) float64 {
	// share/(1+e^loss) (e^(order loss) + e^(loss - order loss) - e^loss - 1)
	//   = share/(1+e^-loss) (e^((order-1) loss) - 1) (1 - e^(-order loss))
	if (order-1)*loss > 30 {
		log := (order-1)*loss + math.Log(share) - math.Log1p(math.Exp(-loss))
		return xmath.Up(xmath.LogAdd(log, 0)/(order-1), 16)
	}
	excess := share / (1 + math.Exp(-loss)) * math.Expm1((order-1)*loss) * -math.Expm1(-order*loss)
	return renyiOf(order, excess, excess)
}

// discreteLaplaceRenyi sums the geometric series of a shift by gap steps: the
// loss is gap/scale on x <= 0, falls by 2/scale a step, and is -gap/scale from
// x = gap on.
func discreteLaplaceRenyi(order, gap, scale float64) float64 {
	if gap == 0 {
		return 0
	}
	a := xmath.DivUp(1, scale)
	top := (order - 1) * a * gap
	q := math.Exp(-a)
	rho := -a * (2*order - 1) // ln of the ratio of neighbouring terms
	// ln of the sum of e^(rho x) over 0 < x < gap, and of the three parts of A.
	middle := rho + xmath.Log1mExp(rho*(gap-1)) - xmath.Log1mExp(rho)
	if gap == 1 {
		middle = math.Inf(-1)
	}
	body := -math.Log1p(q)
	log := xmath.LogSumExp([]float64{
		body + top,
		body + xmath.Log1mExp(-a) + top + middle,
		body - a*gap - top,
	})
	slack := (16 + 2*top + 2*a*gap) * 0x1p-50
	return xmath.Up((max(log, 0)+slack)/(order-1), 4)
}
