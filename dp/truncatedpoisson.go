package dp

// TruncatedPoissonSampled runs Event on a Poisson sample that is truncated to a largest size: each
// of Population persons is in the sample independently with probability Rate, and of a sample of
// more than Batch persons a uniform subset of Batch is kept (Ganesh 2025). Poisson sampling becomes
// this when memory is fixed. A truncated sample costs more than a complete one, because each person
// in it displaces another.
//
// Population is the number of persons in the dataset, of the larger of two neighbours under
// [AddRemoveOne]. The price holds for just that number: it neither rises nor falls with it throughout.
type TruncatedPoissonSampled struct {
	Population int64   `json:"population"`
	Rate       float64 `json:"rate"`
	Batch      int64   `json:"batch"`
	Event      Event   `json:"event"`
}

func (TruncatedPoissonSampled) sealed() {}

// Kind returns "truncated_poisson_sampled".
func (TruncatedPoissonSampled) Kind() string { return "truncated_poisson_sampled" }

// Validate checks that there are at least one person and one place, the rate, in (0, 1], and the event
// below.
func (e TruncatedPoissonSampled) Validate() error {
	if e.Population < 1 {
		return invalid(e, "population", e.Population, "at least 1")
	}
	if e.Batch < 1 {
		return invalid(e, "batch", e.Batch, "at least 1")
	}
	if !(e.Rate > 0 && e.Rate <= 1) {
		return invalid(e, "rate", e.Rate, "0 < rate <= 1")
	}
	return below(e, e.Event)
}

// MarshalJSON implements [json.Marshaler].
func (e TruncatedPoissonSampled) MarshalJSON() ([]byte, error) {
	type plain TruncatedPoissonSampled
	return tagged(e.Kind(), plain(e))
}
