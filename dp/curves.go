package dp

import (
	"fmt"
	"math"
	"slices"
)

// GaussianDP is a mechanism known only to be Mu-Gaussian-differentially private: its neighbours are
// no easier to distinguish than N(0, 1) and N(Mu, 1) (Dong, Roth, Su 2022). Mu holds under the
// adjacency that the event is accounted with, and is not doubled.
type GaussianDP struct {
	Mu float64 `json:"mu"`
}

// ZeroConcentratedDP is a mechanism known only to be Rho-zCDP: its Renyi divergence
// of every order a > 1 is at most a Rho (Bun and Steinke 2016). Rho holds under the
// adjacency that the event is accounted with.
type ZeroConcentratedDP struct {
	Rho float64 `json:"rho"`
}

// PureDP is a mechanism known only to be (Epsilon, 0)-private under the adjacency
// that the event is accounted with.
type PureDP struct {
	Epsilon float64 `json:"epsilon"`
}

// RenyiCurve is a mechanism known only by upper bounds on its Renyi divergences at some orders:
// Values[i] nats at Orders[i], for all pairs of neighbours, in either order, under the adjacency
// that the event is accounted with (Mironov 2017). Orders are above 1 and increasing; Values do not
// decrease, because no Renyi divergence does.
type RenyiCurve struct {
	Orders []float64 `json:"orders"`
	Values []float64 `json:"values"`
}

// mostOrders bounds the orders of a curve.
const mostOrders = 1 << 10

func (GaussianDP) sealed()         {}
func (ZeroConcentratedDP) sealed() {}
func (PureDP) sealed()             {}
func (RenyiCurve) sealed()         {}

// Kind returns "gdp".
func (GaussianDP) Kind() string { return "gdp" }

// Kind returns "zcdp".
func (ZeroConcentratedDP) Kind() string { return "zcdp" }

// Kind returns "pure_dp".
func (PureDP) Kind() string { return "pure_dp" }

// Kind returns "rdp_curve".
func (RenyiCurve) Kind() string { return "rdp_curve" }

// Validate checks that mu is positive and finite.
func (e GaussianDP) Validate() error { return positive(e, "mu", e.Mu) }

// Validate checks that rho is positive and finite.
func (e ZeroConcentratedDP) Validate() error { return positive(e, "rho", e.Rho) }

// MarshalJSON implements [json.Marshaler].
func (e GaussianDP) MarshalJSON() ([]byte, error) {
	type plain GaussianDP
	return tagged(e.Kind(), plain(e))
}

// MarshalJSON implements [json.Marshaler].
func (e ZeroConcentratedDP) MarshalJSON() ([]byte, error) {
	type plain ZeroConcentratedDP
	return tagged(e.Kind(), plain(e))
}

// Validate checks that epsilon is positive and finite.
func (e PureDP) Validate() error { return positive(e, "epsilon", e.Epsilon) }

// Validate checks that there are 1 to 1024 orders, above 1, finite and increasing, and as many
// finite values, 0 or above, that do not decrease.
func (e RenyiCurve) Validate() error {
	if n := len(e.Orders); n < 1 || n > mostOrders {
		return invalid(e, "number of orders", n, fmt.Sprintf("1 to %d", mostOrders))
	}
	if len(e.Values) != len(e.Orders) {
		return invalid(e, "number of values", len(e.Values), fmt.Sprintf("one for each of %d orders", len(e.Orders)))
	}
	last, least := 1.0, 0.0
	for i, order := range e.Orders {
		if !(order > last) || math.IsInf(order, 1) {
			return invalid(e, fmt.Sprintf("orders[%d]", i), order, "a finite order above 1 and above the one before")
		}
		if v := e.Values[i]; !(v >= least) || math.IsInf(v, 1) {
			return invalid(e, fmt.Sprintf("values[%d]", i), v, "a finite number, not below the one before: a Renyi divergence does not fall with its order")
		}
		last, least = order, e.Values[i]
	}
	return nil
}

// MarshalJSON implements [json.Marshaler].
func (e PureDP) MarshalJSON() ([]byte, error) {
	type plain PureDP
	return tagged(e.Kind(), plain(e))
}

// MarshalJSON implements [json.Marshaler].
func (e RenyiCurve) MarshalJSON() ([]byte, error) {
	type plain RenyiCurve
	return tagged(e.Kind(), plain(e))
}

// renyiCurve reads an event whose fields are lists of numbers.
func renyiCurve(text []byte, kind string) (builder, error) {
	fields, err := object(text, kind, "orders", "values")
	if err != nil {
		return nil, err
	}
	var e RenyiCurve
	if e.Orders, err = numbers(fields, kind, "orders"); err != nil {
		return nil, err
	}
	if e.Values, err = numbers(fields, kind, "values"); err != nil {
		return nil, err
	}
	return func(float64) Event { return RenyiCurve{slices.Clone(e.Orders), slices.Clone(e.Values)} }, nil
}
