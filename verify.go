package discreet

import (
	"crypto/ed25519"

	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/verify"
)

// ErrRelease marks a release that does not hold what it promises: its form, its
// accounting or its signature.
var ErrRelease = verify.ErrRelease

// Verification is what was found right of a release.
type Verification struct {
	Release *evaluate.Release
	// Epsilon brackets what the event of the release costs at its delta, accounted
	// anew; nil for a reference without privacy.
	Epsilon *account.Bracket
	// SignedBy names the key whose holder signed the release as it stands. It is empty
	// where no key was given: a signature in the release was then not checked, and
	// anybody can write one.
	SignedBy string
	// JSON is the release itself, out of its envelope.
	JSON []byte
	// Replanned tells that the plan that follows from the public facts was made again,
	// and that all fields that it, or other fields, determine agree.
	Replanned bool
	// Envelope tells that the release came in a DSSE envelope, whose signature counts.
	Envelope bool
	// NotChecked names every field that could be written otherwise without being noticed,
	// but by the signature where SignedBy is set, in lines of the form "PATH, PATH: why". A
	// path stands for all that is below it, and [] in it for every element of a list. Of a
	// release that was not planned again it names all of it.
	NotChecked []string
	// Notes are what a reader should know of a release that holds; where nobody signed
	// it, that is the first.
	Notes []string
}

// Verify checks what can be checked of a release, the bytes of its JSON or of a DSSE
// envelope around them, with nothing else at hand: that it follows the schema, that its event costs no more than it
// promises, that its fields agree with the plan that follows from the public facts in
// it and with each other, and, where signer is not nil, that the holder of that key
// signed it as it stands. The release may come from anybody. What does not hold is an
// error that wraps [ErrRelease], beside what held up to there. Whether the noisy
// numbers are those that were drawn only a signature tells, and whether the budget was
// charged only the ledger (ledger.Ledger.VerifyRelease). Where a release names another
// version of the program, and this one would write it otherwise, nothing but its form, its
// accounting and its signature is checked: then, and for methods that are not of this
// library, Replanned is false, and a caller who relies on the other fields must refuse it.
func Verify(release []byte, signer ed25519.PublicKey) (*Verification, error) {
	v, err := verify.Verify(release, signer)
	return (*Verification)(v), err
}
