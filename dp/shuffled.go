package dp

import "fmt"

// Shuffled is one report from each of Count persons, made by a randomiser that is
// LocalEpsilon-locally private. A uniform secret permutation assigns persons to slots. The
// randomiser of a slot may depend on the slot and on the reports in earlier slots. An observer who
// sees all reports but not the permutation learns less about a person than from a report whose
// sender is known.
//
// UniformSlots declares that permutation: a party that does not collude with the server draws it
// over all Count slots, before the first report and without regard to the persons' data, and
// neither the time nor the way in which a report arrives reveals anything about a person. Batches
// that persons join one after the other do not qualify. An event without the declaration is
// invalid.
//
// OneRandomizer declares that in any slot every person would use the same randomiser: the same
// distribution of reports for the same data. A person is hidden among reports that others might
// have sent; if person i answers in {2i, 2i+1}, shuffling hides nobody, however private each answer
// is. Persons with different budgets, or with different sets of answers, are shuffled in separate
// groups with one randomiser each. An event without the declaration, such as one stored before the
// field existed, can be read, but no accountant accepts it.
type Shuffled struct {
	Count         int64   `json:"count"`
	LocalEpsilon  float64 `json:"local_epsilon"`
	UniformSlots  bool    `json:"uniform_slots"`
	OneRandomizer bool    `json:"one_randomizer,omitempty"`
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
