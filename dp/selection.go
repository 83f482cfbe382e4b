package dp

import "fmt"

// Exponential is a choice of bounded range Epsilon: between two neighbours, the
// privacy losses of all outcomes lie within one interval of length Epsilon (Durfee
// and Rogers 2019). The exponential mechanism is that which picks a candidate with probability
// proportional to exp(Epsilon score/(2 sensitivity)), where the sensitivity is the
// most that one score changes between neighbours under the adjacency that the event is
// accounted with; or to exp(Epsilon score/sensitivity), where between any two
// neighbours all scores that change move the same way.
type Exponential struct {
	Epsilon float64 `json:"epsilon"`
}

// PermuteAndFlip visits the candidates in a uniformly random order and picks the first that is
// accepted, each with probability exp(Epsilon (score-best)/(2 sensitivity)) (McKenna and Sheldon
// 2020); the sensitivity is as for [Exponential]. It is (Epsilon, 0)-private and not of bounded
// range, so it is accounted for by its epsilon only.
type PermuteAndFlip struct {
	Epsilon float64 `json:"epsilon"`
}

// ReportNoisyMax adds independent noise to every score and reports which candidate has the
// largest, and nothing else. Noise is "laplace" or "exponential" (of one sign,
// added), of the given Scale; Sensitivity is the most that one score changes between
// neighbours under the adjacency that the event is accounted with. Monotone declares that, when
// a person is added, all scores that change move the same way; an exchange has no such
// property, so it is refused under [ReplaceOne]. The choice is (2 Sensitivity/Scale,
// 0)-private, and (Sensitivity/Scale, 0)-private where it is monotone.
type ReportNoisyMax struct {
	Noise       string  `json:"noise"`
	Scale       float64 `json:"scale"`
	Sensitivity float64 `json:"sensitivity"`
	Monotone    bool    `json:"monotone"`
}

func (Exponential) sealed()    {}
func (PermuteAndFlip) sealed() {}
func (ReportNoisyMax) sealed() {}

// Kind returns "exponential".
func (Exponential) Kind() string { return "exponential" }

// Kind returns "permute_and_flip".
func (PermuteAndFlip) Kind() string { return "permute_and_flip" }

// Kind returns "report_noisy_max".
func (ReportNoisyMax) Kind() string { return "report_noisy_max" }

// Validate checks that epsilon is positive and finite.
func (e Exponential) Validate() error { return positive(e, "epsilon", e.Epsilon) }

// Validate checks that epsilon is positive and finite.
func (e PermuteAndFlip) Validate() error { return positive(e, "epsilon", e.Epsilon) }

// Validate checks the noise's name and that scale and sensitivity are positive and finite.
func (e ReportNoisyMax) Validate() error {
	if e.Noise != "laplace" && e.Noise != "exponential" {
		return fmt.Errorf("%w: report_noisy_max: noise is %q; want laplace or exponential (Gumbel noise is the exponential mechanism)", ErrEvent, e.Noise)
	}
	if err := positive(e, "scale", e.Scale); err != nil {
		return err
	}
	return positive(e, "sensitivity", e.Sensitivity)
}

// MarshalJSON implements [json.Marshaler].
func (e Exponential) MarshalJSON() ([]byte, error) {
	type plain Exponential
	return tagged(e.Kind(), plain(e))
}

// MarshalJSON implements [json.Marshaler].
func (e PermuteAndFlip) MarshalJSON() ([]byte, error) {
	type plain PermuteAndFlip
	return tagged(e.Kind(), plain(e))
}

// MarshalJSON implements [json.Marshaler].
func (e ReportNoisyMax) MarshalJSON() ([]byte, error) {
	type plain ReportNoisyMax
	return tagged(e.Kind(), plain(e))
}
