package hook

// Sum is what the persons of one process, or of all of them, add up to in one private
// sum: exact and private.
type Sum struct {
	// Step is the lattice step of what is released, and Sigma the standard deviation of
	// the noise in steps. Both are public. Values are in this step as well, unless there
	// are Outputs.
	Step, Sigma float64
	// Values are the sum, coordinate by coordinate.
	Values []int64
	// Persons is how many were added, and Capacity, which is public, how many can be. Of
	// all persons of a sum it must be right where their number is public; otherwise it is
	// held against the capacity and nothing else is made of it.
	Persons, Capacity int64
	// Outputs is 0 where the noisy sum is what is released. Where a function of the sum
	// is, with noise whose scale is private, it is how many numbers that has, and Sigma is 0.
	Outputs int
}

// Released is how many numbers the release of the sum has.
func (s Sum) Released() int {
	if s.Outputs > 0 {
		return s.Outputs
	}
	return len(s.Values)
}

// Sums stands between a private sum and its noise where the persons are not all in this
// process. A mechanism hands it what was added here and goes on with what it gives back:
// the sum of all, to be noised, or the noisy sum of an earlier draw, to be used as it is.
// docs/proofs/distributed.md has the argument.
type Sums interface {
	// Gather is called once a release, with what was added here. It returns either the
	// sum over all persons, or, in noisy, what was drawn for this release before. It
	// keeps no slice of own.
	Gather(own Sum) (all Sum, noisy []int64, err error)
	// Keep is called with what was just drawn for the sum that Gather gave, and returns
	// what is released in its place: the same, once it is durable, or what another
	// process had made durable for this release before.
	Keep(noisy []int64) ([]int64, error)
}
