package dp

import (
	"fmt"
	"math"
	"slices"
)

// PrivacyLoss is a mechanism given by its own discrete privacy-loss distribution: that of a pair of
// distributions (P, Q) whose hockey-stick divergences, at every factor 0 or above, are at least
// those of all pairs of neighbours, in either order, under the adjacency that the event is
// accounted with. Under P the loss ln dP/dQ is Losses[i] with probability Masses[i], and infinite
// with probability Infinity. Q then has mass Masses[i] e^-Losses[i] there, and the rest of its mass
// where P has none.
//
// Discretised losses must have been rounded up, and mass that was cut off at the upper end added to
// Infinity. Losses are finite and increasing. Masses are positive, and with Infinity they sum to 1:
// a deficit of at most 1e-9 is accounted for as part of Infinity, unless it is only the rounding of
// the masses.
type PrivacyLoss struct {
	Losses   []float64 `json:"losses"`
	Masses   []float64 `json:"masses"`
	Infinity float64   `json:"infinity"`
}

const (
	// mostLosses bounds the work of a composition.
	mostLosses = 1 << 14
	// massTolerance is the largest deviation from 1 of the sum of the masses of either
	// distribution.
	massTolerance = 1e-9
)

func (PrivacyLoss) sealed() {}

// Kind returns "privacy_loss".
func (PrivacyLoss) Kind() string { return "privacy_loss" }

// Validate checks that there are 1 to 16384 finite, increasing losses with a positive mass each,
// that infinity is a probability, that all masses sum to 1 within 1e-9, and that those of the
// second distribution sum to at most 1.
func (e PrivacyLoss) Validate() error {
	if n := len(e.Losses); n < 1 || n > mostLosses {
		return invalid(e, "number of losses", n, fmt.Sprintf("1 to %d; merge neighbouring losses, each into the larger", mostLosses))
	}
	if len(e.Masses) != len(e.Losses) {
		return invalid(e, "number of masses", len(e.Masses), fmt.Sprintf("one for each of %d losses", len(e.Losses)))
	}
	if !(e.Infinity >= 0 && e.Infinity <= 1) {
		return invalid(e, "infinity", e.Infinity, "0 <= infinity <= 1")
	}
	sum, second, last := e.Infinity, 0.0, math.Inf(-1)
	for i, loss := range e.Losses {
		if !(loss > last) || math.IsInf(loss, 1) {
			return invalid(e, fmt.Sprintf("losses[%d]", i), loss, "a finite number above the one before")
		}
		if m := e.Masses[i]; !(m > 0 && m <= 1) {
			return invalid(e, fmt.Sprintf("masses[%d]", i), m, "0 < mass <= 1")
		}
		sum += e.Masses[i]
		second += e.Masses[i] * math.Exp(-loss)
		last = loss
	}
	if !(math.Abs(sum-1) <= massTolerance) {
		return invalid(e, "sum of masses and infinity", sum, "1; put what was cut off at the upper end into infinity")
	}
	if !(second <= 1+massTolerance) {
		return invalid(e, "sum of masses e^-loss", second, "at most 1, being the mass of the second law; a loss is the logarithm of the first law's probability over the second's")
	}
	return nil
}

// MarshalJSON implements [json.Marshaler].
func (e PrivacyLoss) MarshalJSON() ([]byte, error) {
	type plain PrivacyLoss
	return tagged(e.Kind(), plain(e))
}

// privacyLoss reads an event whose fields are lists of numbers.
func privacyLoss(text []byte, kind string) (builder, error) {
	fields, err := object(text, kind, "losses", "masses", "infinity")
	if err != nil {
		return nil, err
	}
	var e PrivacyLoss
	if e.Losses, err = numbers(fields, kind, "losses"); err != nil {
		return nil, err
	}
	if e.Masses, err = numbers(fields, kind, "masses"); err != nil {
		return nil, err
	}
	if err := value(fields, kind, "infinity", &e.Infinity); err != nil {
		return nil, err
	}
	return func(float64) Event {
		return PrivacyLoss{slices.Clone(e.Losses), slices.Clone(e.Masses), e.Infinity}
	}, nil
}
