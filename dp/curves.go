package dp

// GaussianDP is a mechanism known only to be Mu-Gaussian-differentially private: its
// neighbours are no easier to tell apart than N(0, 1) and N(Mu, 1) (Dong, Roth, Su
// 2022). Mu holds under the adjacency that the event is accounted with, and is not
// doubled.
type GaussianDP struct {
	Mu float64 `json:"mu"`
}

// ZeroConcentratedDP is a mechanism known only to be Rho-zCDP: its Renyi divergence
// of every order a > 1 is at most a Rho (Bun and Steinke 2016). Rho holds under the
// adjacency that the event is accounted with.
type ZeroConcentratedDP struct {
	Rho float64 `json:"rho"`
}

func (GaussianDP) sealed()         {}
func (ZeroConcentratedDP) sealed() {}

// Kind returns "gdp".
func (GaussianDP) Kind() string { return "gdp" }

// Kind returns "zcdp".
func (ZeroConcentratedDP) Kind() string { return "zcdp" }

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
