package dp

import "fmt"

// Shuffled is one report from each of Count persons, made by randomisers that are
// LocalEpsilon-locally private, where who reports in which slot is a uniform secret permutation.
// Each randomiser may depend on the reports in earlier slots. Who sees all reports, but not the
// permutation, learns less of a person than from a report whose sender is known.
//
// UniformSlots declares that permutation: a party that does not collude with the server
// draws it over all Count slots, before the first report and without regard to the
// persons' data, and nothing about a person shows in when or how a report arrives.
// Batches that persons join as they come, one after the other, are not that, and an
// event without the declaration is invalid.
type Shuffled struct {
	Count        int64   `json:"count"`
	LocalEpsilon float64 `json:"local_epsilon"`
	UniformSlots bool    `json:"uniform_slots"`
}

func (Shuffled) sealed() {}

// Kind returns "shuffled".
func (Shuffled) Kind() string { return "shuffled" }

// Validate checks that the count is at least 1, that the local epsilon is positive and
// finite, and that the permutation is declared.
func (e Shuffled) Validate() error {
	if e.Count < 1 {
		return invalid(e, "count", e.Count, "at least 1")
	}
	if err := positive(e, "local_epsilon", e.LocalEpsilon); err != nil {
		return err
	}
	if !e.UniformSlots {
		return fmt.Errorf("%w: shuffled: uniform_slots is false; declare that a trusted party permutes the persons over all slots, or charge approximate_dp with the local epsilon", ErrEvent)
	}
	return nil
}

// MarshalJSON implements [json.Marshaler].
func (e Shuffled) MarshalJSON() ([]byte, error) {
	type plain Shuffled
	return tagged(e.Kind(), plain(e))
}
