package yamlfile

import (
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
)

const (
	pairsEpsilon = 2   // the largest epsilon of a report,
	pairsWeights = 128 // and the largest number of weights, at which pairs are recommended
	signsEpsilon = 2   // the largest epsilon at which gradients are sent by projected signs
)

// recommended is the method, with its mechanism, for reports at epsilon on so many weights: antithetic
// pairs up to epsilon 2 and 128 weights, the policy gradient beyond either. It is a public rule of
// two public numbers, made from the tables of docs/results/training.md, which say where it is wrong:
// where rewards come at once gradients do better, and where they come late pairs do, at any epsilon.
func recommended(epsilon float64, weights int) (device.Method, train.Mechanism) {
	if epsilon <= pairsEpsilon && weights <= pairsWeights {
		return device.Antithetic, train.OneBit
	}
	return device.PolicyGradient, signal(epsilon)
}

// signal is the mechanism for vectors whose reports at epsilon tell most: sign-PRS up to epsilon 2,
// PrivUnit above (docs/results/local.md).
func signal(epsilon float64) train.Mechanism {
	if epsilon <= signsEpsilon {
		return train.SignPRS
	}
	return train.PrivUnit
}
