package config

import (
	"fmt"
)

// Privacy is the guarantee to give. In YAML it may be the word none, which asks
// for a non-private reference.
type Privacy struct {
	// None asks for no guarantee.
	None bool `yaml:"-"`
	// Unit is what is protected: a person (the default), identified by the column
	// unit_id; an episode; or a row, in logs of one-row episodes.
	Unit string `yaml:"unit"`
	// Adjacency is replace_one or add_remove_one; there is no default.
	Adjacency string `yaml:"adjacency"`
	// Epsilon is the privacy loss that the release may cost; smaller is more private.
	Epsilon float64 `yaml:"epsilon"`
	// Delta is the probability with which Epsilon may be exceeded; it must be below 1/persons.
	Delta float64 `yaml:"delta"`
	// Noise is exact (the default) or fast, which does not rule out floating-point attacks.
	Noise string `yaml:"noise"`
	// NoiseFamily is gaussian, laplace or auto (the default): for methods that have both, the
	// one with the narrower forecast without a ledger and gaussian with one, where its cost adds up more slowly.
	NoiseFamily string `yaml:"noise_family" json:",omitempty"`
	// LargeDelta accepts a delta of 1/persons or more, for comparisons with papers.
	LargeDelta bool `yaml:"large_delta"`
}

// UnmarshalYAML accepts the word none or a mapping.
func (p *Privacy) UnmarshalYAML(decode func(any) error) error {
	var word string
	if decode(&word) == nil {
		if word != "none" {
			return fmt.Errorf("privacy: %q; want a mapping with adjacency, epsilon and delta, or the word none", word)
		}
		*p = Privacy{None: true}
		return nil
	}
	type plain Privacy
	return decode((*plain)(p))
}
