package device

import "github.com/discreet-rl/discreet/train"

// Bounds of the rule by which [Recommended] chooses.
const (
	// PairsEpsilon is the largest epsilon of a report, and PairsWeights the largest number of
	// weights, at which pairs are recommended.
	PairsEpsilon = 2
	PairsWeights = 128
	// SignsEpsilon is the largest epsilon of a report at which gradients are sent by projected signs.
	SignsEpsilon = 2
)

// Recommended is the method, with its mechanism, for reports at epsilon on so many weights: antithetic
// pairs up to PairsEpsilon and PairsWeights, the policy gradient beyond either. It is a public rule of
// two public numbers, made from the tables of docs/results/training.md, which say where it is wrong:
// where rewards come at once gradients do better, and where they come late pairs do, at any epsilon.
func Recommended(epsilon float64, weights int) (Method, train.Mechanism) {
	if epsilon <= PairsEpsilon && weights <= PairsWeights {
		return Antithetic, train.OneBit
	}
	return PolicyGradient, Signal(epsilon)
}

// Signal is the mechanism for vectors whose reports at epsilon tell most: sign-PRS up to SignsEpsilon,
// PrivUnit above (docs/results/local.md).
func Signal(epsilon float64) train.Mechanism {
	if epsilon <= SignsEpsilon {
		return train.SignPRS
	}
	return train.PrivUnit
}
