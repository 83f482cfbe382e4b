package hook

// Sum is the exact value of one private sum, over the persons of one process or of all processes.
// It is private.
type Sum struct {
	// Step is the lattice step of what is released, and Sigma the standard deviation of
	// the noise in steps. Both are public. Values are in this step as well, unless there
	// are Outputs.
	Step, Sigma float64
	// Values are the sum, coordinate by coordinate.
	Values []int64
	// Persons is the number of persons that were added, and Capacity, which is public, the number
	// that can be. For the sum over all persons, Persons must be exact if their number is public;
	// otherwise it is only compared with the capacity.
	Persons, Capacity int64
	// Outputs is 0 if the noisy sum itself is released. If a function of the sum is released, with
	// noise of a private scale, Outputs is the number of values of that function, and Sigma is 0.
	Outputs int
}

// Released is the number of values that the release of the sum has.
func (s Sum) Released() int {
	if s.Outputs > 0 {
		return s.Outputs
	}
	return len(s.Values)
}

// Sums combines a private sum over several processes before noise is added. A mechanism gives it
// the sum over the persons of this process and continues with what it returns: the sum over all
// persons, to which noise is then added, or the noisy sum of an earlier draw, which is used as it
// is. docs/proofs/distributed.md has the argument.
type Sums interface {
	// Gather is called once per release with the sum over the persons of this process. It returns
	// either the sum over all persons or, in noisy, what was drawn for this release before. It must
	// keep no slice of own.
	Gather(own Sum) (all Sum, noisy []int64, err error)
	// Keep is called with the noisy sum that was just drawn for the result of Gather, and returns
	// the values to release: the same, once they are durable, or those that another process made
	// durable for this release earlier.
	Keep(noisy []int64) ([]int64, error)
}
