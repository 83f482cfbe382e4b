package evaluation

import (
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"strings"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/buildinfo"
	"github.com/discreet-rl/discreet/internal/charging"
	"github.com/discreet-rl/discreet/internal/signature"
	"github.com/discreet-rl/discreet/internal/spec"
)

// complete adds to a release what its method does not know: who made it, why, and
// what paid for it; e is nil where no ledger was charged.
func complete(r *evaluate.Release, s *spec.Spec, e *evaluate.LedgerEntry) {
	if d := r.Disclosure; d != nil {
		d.ConfigHash = s.Hash
		d.CodeVersion = buildinfo.Version()
		d.Justification = strings.TrimSpace(s.Config.Justification)
	}
	if e == nil {
		return
	}
	r.Ledger = e
	r.Disclosure.Composition = charging.Composition(r)
	r.Disclosure.Series = charging.SharedSeries
}

// encode writes the release as JSON, signed where there is a key.
func encode(r *evaluate.Release, signer ed25519.PrivateKey) ([]byte, error) {
	text, err := indented(r)
	if err != nil || signer == nil {
		return text, err
	}
	signed, err := signature.Make(text, signer)
	if err != nil {
		return nil, err
	}
	r.Signature = (*evaluate.Signature)(signed)
	return indented(r)
}

func indented(v any) ([]byte, error) {
	text, err := json.MarshalIndent(v, "", "  ")
	return append(text, '\n'), err
}

// ErrNotWritten marks a release that is recorded in its ledger and could not be
// written to its file. Asking again with the same key writes it.
var ErrNotWritten = errors.New("release is recorded and could not be written")
