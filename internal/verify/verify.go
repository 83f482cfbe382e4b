// Package verify holds a release against its form, its accounting, its signature, and the plan
// that follows from its public facts.
package verify

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

func (e unsound) Unwrap() error { return e.error }

func (e unsound) Is(target error) bool { return target == ErrRelease }

// Verification is what was found right of a release; package discreet documents its fields.
type Verification struct {
	Release    *evaluate.Release
	Epsilon    *account.Bracket
	SignedBy   string
	JSON       []byte
	Replanned  bool
	Envelope   bool
	NotChecked []string
	Notes      []string
}

// Verify checks what can be checked of a release with nothing else at hand. What does not
// hold is an error that wraps [ErrRelease], beside what held up to there.
func Verify(release []byte, signer ed25519.PublicKey) (*Verification, error) {
	v := &Verification{Envelope: signature.IsEnvelope(release)}
	whole := release
	if v.Envelope {
		var err error
		if release, err = signature.Open(whole, signature.ReleaseType); err != nil {
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
		_, err = signature.VerifyEnvelope(text, signature.ReleaseType, signer)
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
