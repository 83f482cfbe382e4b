package signature

import (
	"crypto/ed25519"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/discreet-rl/discreet/internal/jcs"
)

var (
	// ErrSignature marks a document that its signature does not fit: something in
	// it was changed, or the signature is malformed.
	ErrSignature = errors.New("signature does not fit")
	// ErrUnsigned marks a document without a signature.
	ErrUnsigned = errors.New("not signed")
	// ErrForeign marks a document that another key signed.
	ErrForeign = errors.New("signed by another key")
)

// Algorithm is the only one there is.
const Algorithm = "ed25519"

// member is where a document holds its signature.
const member = "signature"

// Signature is the member "signature" of a document.
type Signature struct {
	Algorithm string `json:"algorithm"`
	// KeyID is the [KeyID] of the public key: a hint which key to check with. It
	// is not signed and proves nothing.
	KeyID string `json:"key_id"`
	// Value is the signature of 64 bytes in base64.
	Value string `json:"value"`
}

// KeyID names a public key: "sha256:" and the SHA-256 of its
// SubjectPublicKeyInfo in hexadecimal.
func KeyID(key ed25519.PublicKey) string {
	der, err := x509.MarshalPKIXPublicKey(key)
	if err != nil {
		panic(fmt.Sprintf("signature: an Ed25519 key cannot be written: %v", err)) // its type is fixed
	}
	sum := sha256.Sum256(der)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// Make signs a document. A signature that it holds already is not part of what
// is signed.
func Make(document []byte, key ed25519.PrivateKey) (*Signature, error) {
	signed, err := jcs.Without(document, member)
	if err != nil {
		return nil, err
	}
	return &Signature{
		Algorithm: Algorithm,
		KeyID:     KeyID(key.Public().(ed25519.PublicKey)),
		Value:     base64.StdEncoding.EncodeToString(ed25519.Sign(key, signed)),
	}, nil
}

// Of returns the signature that stands in a document; errors wrap [ErrUnsigned]
// where there is none and [ErrSignature] where it is malformed.
func Of(document []byte) (*Signature, error) {
	// Maps, because encoding/json matches the fields of a struct in any case.
	var holder map[string]json.RawMessage
	if err := json.Unmarshal(document, &holder); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	text, ok := holder[member]
	if !ok {
		return nil, fmt.Errorf("%w: the document has no member %q", ErrUnsigned, member)
	}
	var fields map[string]string
	if err := json.Unmarshal(text, &fields); err != nil || len(fields) != 3 {
		return nil, fmt.Errorf("%w: member %q is not of the form {algorithm, key_id, value}", ErrSignature, member)
	}
	s := &Signature{fields["algorithm"], fields["key_id"], fields["value"]}
	if s.Algorithm != Algorithm {
		return nil, fmt.Errorf("%w: algorithm %q; want %s", ErrSignature, s.Algorithm, Algorithm)
	}
	return s, nil
}

// Verify checks that the holder of the private half of key signed the document
// as it stands. Errors wrap [ErrUnsigned], [ErrForeign], [ErrSignature] or
// [jcs.ErrForm].
func Verify(document []byte, key ed25519.PublicKey) error {
	s, err := Of(document)
	if err != nil {
		return err
	}
	if id := KeyID(key); s.KeyID != id {
		return fmt.Errorf("%w: it names %s and the key at hand is %s; ask the signer for the public key", ErrForeign, s.KeyID, id)
	}
	value, err := base64.StdEncoding.Strict().DecodeString(s.Value)
	if err != nil {
		return fmt.Errorf("%w: its value is not base64", ErrSignature)
	}
	signed, err := jcs.Without(document, member)
	if err != nil {
		return err
	}
	if !ed25519.Verify(key, signed, value) {
		return fmt.Errorf("%w: the document was changed after %s signed it", ErrSignature, s.KeyID)
	}
	return nil
}

// ReleaseType is the payload type of a release in a DSSE envelope.
const ReleaseType = "application/vnd.discreet.release.v1+json"
