package discreet

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"strings"

	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/schema"
	"github.com/discreet-rl/discreet/internal/signature"
)

// ErrRelease marks a release that does not hold what it promises: its form, its
// accounting or its signature.
var ErrRelease = errors.New("release does not hold")

// unsound is an error about a release, in the words of whatever found it.
type unsound struct{ error }

// Error implements error. The words may quote a release of anybody's, and stay on
// one line of printable text.
func (e unsound) Error() string {
	return strings.NewReplacer("\n", "\ufffd", "\t", "\ufffd").Replace(fault.Words(e.error))
}

func (e unsound) Unwrap() error        { return e.error }
func (e unsound) Is(target error) bool { return target == ErrRelease }

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
	v := &Verification{Envelope: signature.IsEnvelope(release)}
	whole := release
	if v.Envelope {
		var err error
		if release, err = signature.Open(whole, ReleaseType); err != nil {
			return v, unsound{err}
		}
	}
	v.JSON = release
	if err := schema.Check(schema.Release, release); err != nil {
		return v, unsound{err}
	}
	r := new(evaluate.Release)
	if err := json.Unmarshal(release, r); err != nil {
		return v, unsound{err}
	}
	v.Release = r
	if r.Signature == nil && !v.Envelope {
		v.Notes = append(v.Notes, "UNSIGNED: anybody could have written this file; its value could be anything")
	}
	if err := v.accounting(); err != nil {
		return v, unsound{err}
	}
	if err := checkLedger(r); err != nil {
		return v, unsound{err}
	}
	if signer != nil {
		if err := v.signature(whole, signer); err != nil {
			return v, unsound{err}
		}
	}
	if err := v.plan(); err != nil {
		return v, unsound{err}
	}
	return v, nil
}

// signature checks the signature of the envelope, where there is one, or that in the
// release.
func (v *Verification) signature(text []byte, signer ed25519.PublicKey) error {
	err := error(nil)
	if v.Envelope {
		_, err = signature.VerifyEnvelope(text, ReleaseType, signer)
	} else {
		err = signature.Verify(text, signer)
	}
	if err == nil {
		v.SignedBy = signature.KeyID(signer)
	}
	return err
}

func (v *Verification) accounting() error {
	s := v.Release.Privacy
	if s == nil {
		v.Notes = append(v.Notes, "a reference without privacy: there is no guarantee to check")
		return nil
	}
	b, err := s.Certify()
	if err != nil {
		return err
	}
	v.Epsilon = &b
	if s.Seeded {
		v.Notes = append(v.Notes, "the noise came from a seed: this release protects nobody")
	}
	if v.Release.Ledger == nil {
		v.Notes = append(v.Notes, s.Unit.Words("no ledger was charged: nothing says what else was released from the same persons"))
	}
	return nil
}
