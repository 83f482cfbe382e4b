package ledger

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"strings"
)

// Fingerprint recognises data that were charged before, under whatever name. It
// is a keyed hash: without the store's key nobody can test a guess of the data
// against it. It is for the curator alone and never part of a release. An entry
// holds it sealed: an export does not show which charges read equal data.
//
// What is written decides what is recognised. Package discreet writes the bytes of
// the files, so that the same files are the same data whatever is asked of them;
// a table that was sorted anew or written in another format is not recognised.
type Fingerprint struct {
	mac hash.Hash
	id  string
}

// Fingerprint begins a fingerprint under the store's key.
func (l *Ledger) Fingerprint() *Fingerprint {
	return &Fingerprint{mac: hmac.New(sha256.New, l.key), id: keyName(l.key)}
}

// Write implements [io.Writer]; it never fails.
func (f *Fingerprint) Write(p []byte) (int, error) { return f.mac.Write(p) }

// String returns the fingerprint of what was written so far. It begins with a
// short name of the key: fingerprints under different keys cannot be compared.
func (f *Fingerprint) String() string { return f.id + ":" + hex.EncodeToString(f.mac.Sum(nil)) }

// keyOf is the part of a fingerprint that names its key.
func keyOf(fingerprint string) string {
	id, _, _ := strings.Cut(fingerprint, ":")
	return id + ":"
}

// FingerprintOf reads everything and returns its fingerprint.
func (l *Ledger) FingerprintOf(r io.Reader) (string, error) {
	f := l.Fingerprint()
	if _, err := io.Copy(f, r); err != nil {
		return "", fmt.Errorf("%w: the data could not be read for their fingerprint: %w", ErrCharge, err)
	}
	return f.String(), nil
}

// NewKey returns a random idempotency key.
func NewKey() string { return rand.Text() }
