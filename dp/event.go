package dp

import (
	"fmt"
	"math"
)

// Event is one node of the tree that describes what was released. The set of
// kinds is closed: only this package can add one.
type Event interface {
	// Kind is the name of the event in JSON, such as "gaussian".
	Kind() string
	// Validate checks the parameters of the event and of all events below it.
	Validate() error

	sealed()
}

// Gaussian is the Gaussian mechanism on an l2-clipped sum: its noise has
// standard deviation NoiseMultiplier times the per-person clip norm.
type Gaussian struct {
	NoiseMultiplier float64 `json:"noise_multiplier"`
}

// Laplace is the Laplace mechanism on an l1-clipped sum: its noise has scale
// NoiseMultiplier times the per-person clip norm.
type Laplace struct {
	NoiseMultiplier float64 `json:"noise_multiplier"`
}

// DiscreteGaussian adds an integer with probability proportional to
// exp(-k^2/(2 Sigma^2)) to each coordinate of a sum of integer vectors of l2 norm
// at most Norm (Canonne, Kamath, Steinke 2020). The vectors have Dimension
// coordinates. The privacy loss depends on how a difference is spread over them,
// so a dimension of 0, which is left out of the JSON, says that it is not known:
// the event is then accounted for as one of any dimension.
type DiscreteGaussian struct {
	Sigma     float64 `json:"sigma"`
	Norm      float64 `json:"norm"`
	Dimension int     `json:"dimension,omitempty"`
}

// DiscreteLaplace adds integers with probability proportional to
// exp(-|k|/Scale) to a sum of integer vectors of l1 norm at most Norm.
type DiscreteLaplace struct {
	Scale float64 `json:"scale"`
	Norm  float64 `json:"norm"`
}

// RandomizedResponse reports a uniform one of Buckets values with probability
// NoiseParameter, and the truth otherwise.
type RandomizedResponse struct {
	Buckets        int     `json:"buckets"`
	NoiseParameter float64 `json:"noise_parameter"`
}

// SmoothGaussian is Gaussian noise in Dimension coordinates whose standard
// deviation is at least Alpha times the local sensitivity and whose variance
// changes by a factor of at most e^Beta between neighbours (Nissim,
// Raskhodnikova, Smith 2007; Balle et al. 2016, Lemma 1). Beta is about
// variances: a b-smooth bound on the sensitivity itself has Beta = 2b. The
// sensitivity is taken under the adjacency that the event is accounted with.
type SmoothGaussian struct {
	Alpha     float64 `json:"alpha"`
	Beta      float64 `json:"beta"`
	Dimension int     `json:"dimension"`
}

// ApproximateDP is a mechanism known only to be (Epsilon, Delta)-private.
type ApproximateDP struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// PoissonSampled runs Event on a sample that holds each person independently
// with probability Rate.
type PoissonSampled struct {
	Rate  float64 `json:"rate"`
	Event Event   `json:"event"`
}

// SampledWithoutReplacement runs Event on Sample persons drawn uniformly,
// without replacement, from Population.
type SampledWithoutReplacement struct {
	Population int64 `json:"population"`
	Sample     int64 `json:"sample"`
	Event      Event `json:"event"`
}

// SelfComposed runs Event Count times on the same persons.
type SelfComposed struct {
	Count int64 `json:"count"`
	Event Event `json:"event"`
}

// Composed runs each of Events once on the same persons.
type Composed struct {
	Events []Event `json:"events"`
}

func (Gaussian) sealed()                  {}
func (Laplace) sealed()                   {}
func (DiscreteGaussian) sealed()          {}
func (DiscreteLaplace) sealed()           {}
func (RandomizedResponse) sealed()        {}
func (SmoothGaussian) sealed()            {}
func (ApproximateDP) sealed()             {}
func (PoissonSampled) sealed()            {}
func (SampledWithoutReplacement) sealed() {}
func (SelfComposed) sealed()              {}
func (Composed) sealed()                  {}

// Kind returns "gaussian".
func (Gaussian) Kind() string { return "gaussian" }

// Kind returns "laplace".
func (Laplace) Kind() string { return "laplace" }

// Kind returns "discrete_gaussian".
func (DiscreteGaussian) Kind() string { return "discrete_gaussian" }

// Kind returns "discrete_laplace".
func (DiscreteLaplace) Kind() string { return "discrete_laplace" }

// Kind returns "randomized_response".
func (RandomizedResponse) Kind() string { return "randomized_response" }

// Kind returns "smooth_gaussian".
func (SmoothGaussian) Kind() string { return "smooth_gaussian" }

// Kind returns "approximate_dp".
func (ApproximateDP) Kind() string { return "approximate_dp" }

// Kind returns "poisson_sampled".
func (PoissonSampled) Kind() string { return "poisson_sampled" }

// Kind returns "sampled_without_replacement".
func (SampledWithoutReplacement) Kind() string { return "sampled_without_replacement" }

// Kind returns "self_composed".
func (SelfComposed) Kind() string { return "self_composed" }

// Kind returns "composed".
func (Composed) Kind() string { return "composed" }

// Validate checks that the noise multiplier is positive and finite.
func (e Gaussian) Validate() error { return positive(e, "noise_multiplier", e.NoiseMultiplier) }

// Validate checks that the noise multiplier is positive and finite.
func (e Laplace) Validate() error { return positive(e, "noise_multiplier", e.NoiseMultiplier) }

// Validate checks that sigma and norm are positive and finite and that the
// dimension is not negative.
func (e DiscreteGaussian) Validate() error {
	if err := positive(e, "sigma", e.Sigma); err != nil {
		return err
	}
	if e.Dimension < 0 {
		return invalid(e, "dimension", e.Dimension, "at least 1, or none where it is not known")
	}
	return positive(e, "norm", e.Norm)
}

// Validate checks that scale and norm are positive and finite.
func (e DiscreteLaplace) Validate() error {
	if err := positive(e, "scale", e.Scale); err != nil {
		return err
	}
	return positive(e, "norm", e.Norm)
}

// Validate checks for at least two buckets and a noise parameter in (0, 1].
func (e RandomizedResponse) Validate() error {
	if e.Buckets < 2 {
		return invalid(e, "buckets", e.Buckets, "at least 2")
	}
	if !(e.NoiseParameter > 0 && e.NoiseParameter <= 1) {
		return invalid(e, "noise_parameter", e.NoiseParameter, "0 < noise_parameter <= 1")
	}
	return nil
}

// Validate checks that alpha and beta are positive and finite and that the
// dimension is at least 1.
func (e SmoothGaussian) Validate() error {
	if err := positive(e, "alpha", e.Alpha); err != nil {
		return err
	}
	if err := positive(e, "beta", e.Beta); err != nil {
		return err
	}
	if e.Dimension < 1 {
		return invalid(e, "dimension", e.Dimension, "at least 1")
	}
	return nil
}

// Validate checks that epsilon is finite and not negative and that
// 0 <= delta <= 1.
func (e ApproximateDP) Validate() error {
	if !(e.Epsilon >= 0) || math.IsInf(e.Epsilon, 0) {
		return invalid(e, "epsilon", e.Epsilon, "a finite number, 0 or above")
	}
	if !(e.Delta >= 0 && e.Delta <= 1) {
		return invalid(e, "delta", e.Delta, "0 <= delta <= 1")
	}
	return nil
}

// Validate checks the rate, in (0, 1], and the event below.
func (e PoissonSampled) Validate() error {
	if !(e.Rate > 0 && e.Rate <= 1) {
		return invalid(e, "rate", e.Rate, "0 < rate <= 1")
	}
	return below(e, e.Event)
}

// Validate checks 1 <= sample <= population and the event below.
func (e SampledWithoutReplacement) Validate() error {
	if e.Population < 1 {
		return invalid(e, "population", e.Population, "at least 1")
	}
	if e.Sample < 1 || e.Sample > e.Population {
		return invalid(e, "sample", e.Sample, "1 <= sample <= population")
	}
	return below(e, e.Event)
}

// Validate checks that the count is at least 1, and the event below.
func (e SelfComposed) Validate() error {
	if e.Count < 1 {
		return invalid(e, "count", e.Count, "at least 1")
	}
	return below(e, e.Event)
}

// Validate checks that there is at least one event, and each of them.
func (e Composed) Validate() error {
	if len(e.Events) == 0 {
		return fmt.Errorf("%w: composed: events is empty; want at least one", ErrEvent)
	}
	for _, child := range e.Events {
		if err := below(e, child); err != nil {
			return err
		}
	}
	return nil
}

func below(parent, child Event) error {
	if child == nil {
		return fmt.Errorf("%w: %s: event is missing", ErrEvent, parent.Kind())
	}
	return child.Validate()
}

func positive(e Event, field string, x float64) error {
	if !(x > 0) || math.IsInf(x, 0) {
		return invalid(e, field, x, "a finite number above 0")
	}
	return nil
}

func invalid(e Event, field string, got any, want string) error {
	return fmt.Errorf("%w: %s: %s is %v; want %s", ErrEvent, e.Kind(), field, got, want)
}
