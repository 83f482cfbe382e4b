package dp

import (
	"encoding/json"
	"fmt"
)

// MarshalEvent writes the JSON form of a valid event: its kind first, then its
// parameters.
func MarshalEvent(e Event) ([]byte, error) {
	if e == nil {
		return nil, fmt.Errorf("%w: no event", ErrEvent)
	}
	if err := e.Validate(); err != nil {
		return nil, err
	}
	return json.Marshal(e)
}

// tagged writes the fields of an event, a struct without methods, behind its kind.
func tagged(kind string, plain any) ([]byte, error) {
	fields, err := json.Marshal(plain)
	if err != nil {
		return nil, err
	}
	return append([]byte(`{"kind":"`+kind+`",`), fields[1:]...), nil
}

// MarshalJSON implements [json.Marshaler].
func (e Gaussian) MarshalJSON() ([]byte, error) {
	type plain Gaussian
	return tagged(e.Kind(), plain(e))
}

// MarshalJSON implements [json.Marshaler].
func (e Laplace) MarshalJSON() ([]byte, error) {
	type plain Laplace
	return tagged(e.Kind(), plain(e))
}

// MarshalJSON implements [json.Marshaler].
func (e DiscreteGaussian) MarshalJSON() ([]byte, error) {
	type plain DiscreteGaussian
	return tagged(e.Kind(), plain(e))
}

// MarshalJSON implements [json.Marshaler].
func (e DiscreteLaplace) MarshalJSON() ([]byte, error) {
	type plain DiscreteLaplace
	return tagged(e.Kind(), plain(e))
}

// MarshalJSON implements [json.Marshaler].
func (e RandomizedResponse) MarshalJSON() ([]byte, error) {
	type plain RandomizedResponse
	return tagged(e.Kind(), plain(e))
}

// MarshalJSON implements [json.Marshaler].
func (e SmoothGaussian) MarshalJSON() ([]byte, error) {
	type plain SmoothGaussian
	return tagged(e.Kind(), plain(e))
}

// MarshalJSON implements [json.Marshaler].
func (e ApproximateDP) MarshalJSON() ([]byte, error) {
	type plain ApproximateDP
	return tagged(e.Kind(), plain(e))
}

// MarshalJSON implements [json.Marshaler].
func (e PoissonSampled) MarshalJSON() ([]byte, error) {
	type plain PoissonSampled
	return tagged(e.Kind(), plain(e))
}

// MarshalJSON implements [json.Marshaler].
func (e SampledWithoutReplacement) MarshalJSON() ([]byte, error) {
	type plain SampledWithoutReplacement
	return tagged(e.Kind(), plain(e))
}

// MarshalJSON implements [json.Marshaler].
func (e SelfComposed) MarshalJSON() ([]byte, error) {
	type plain SelfComposed
	return tagged(e.Kind(), plain(e))
}

// MarshalJSON implements [json.Marshaler].
func (e Composed) MarshalJSON() ([]byte, error) {
	type plain Composed
	return tagged(e.Kind(), plain(e))
}
