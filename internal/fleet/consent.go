package fleet

import (
	"crypto/sha256"
	"fmt"

	"github.com/discreet-rl/discreet/train"
)

// Consent is what the owner of a device agreed to. A run is taken part in only if it is equal.
type Consent struct {
	// Purpose, Randomizer, Reports and Dim are those of the run.
	Purpose    string
	Randomizer train.Randomizer
	Reports    int
	Dim        int
	// Local is the SHA-256 of the run's local_json; nil where the owner leaves it open what is learned on the device: it does not
	// change what a report tells.
	Local *Hash
}

// Validate tells what the owner left open and may not, wrapping [ErrConfig].
func (c Consent) Validate() error {
	if c.Purpose == "" || c.Reports < 1 || c.Dim < 1 || !c.Randomizer.Private() {
		return fmt.Errorf("%w: consent to purpose %q, %d reports of %d weights, randomizer %+v; want all of them, and a private one", ErrConfig, c.Purpose, c.Reports, c.Dim, c.Randomizer)
	}
	_, err := train.NewCodec(c.Randomizer, c.Dim)
	if err != nil {
		return fmt.Errorf("%w: consent: %w", ErrConfig, err)
	}
	return nil
}

// Check holds a run against the consent. The error wraps [ErrConsent].
func (c Consent) Check(r *Run) error {
	differs := func(what string, run, agreed any) error {
		return fmt.Errorf("%w: the run's %s is %v; the consent says %v", ErrConsent, what, run, agreed)
	}
	switch {
	case r.Purpose != c.Purpose:
		return differs("purpose", fmt.Sprintf("%q", r.Purpose), fmt.Sprintf("%q", c.Purpose))
	case r.Randomizer != c.Randomizer:
		return differs("randomizer", fmt.Sprintf("%+v", r.Randomizer), fmt.Sprintf("%+v", c.Randomizer))
	case r.Reports != c.Reports:
		return differs("number of reports a device", r.Reports, c.Reports)
	case r.Dim != c.Dim:
		return differs("number of weights", r.Dim, c.Dim)
	case c.Local != nil && Hash(sha256.Sum256(r.Local)) != *c.Local:
		return differs("SHA-256 of local_json", fmt.Sprintf("%x", sha256.Sum256(r.Local)), fmt.Sprintf("%x", *c.Local))
	}
	return nil
}
