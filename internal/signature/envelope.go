package signature

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/discreet-rl/discreet/internal/jcs"
)

// ErrEnvelope marks a text that is no DSSE envelope of the wanted type.
var ErrEnvelope = errors.New("not an envelope")

// Envelope is a payload with signatures in the form of DSSE
// (github.com/secure-systems-lab/dsse, version 1): the signed bytes name the type
// of the payload, so a signature of one kind of document is none of another.
type Envelope struct {
	Payload     string              `json:"payload"` // base64
	PayloadType string              `json:"payloadType"`
	Signatures  []EnvelopeSignature `json:"signatures"`
}

// EnvelopeSignature is one signature of an envelope.
type EnvelopeSignature struct {
	// KeyID is the [KeyID] of the public key: a hint, not signed.
	KeyID string `json:"keyid,omitempty"`
	Sig   string `json:"sig"` // base64
}

// mostSignatures bounds how many signatures of an envelope are tried.
const mostSignatures = 16

// encodePAE is the pre-authentication encoding: the bytes that are signed.
func encodePAE(payloadType string, payload []byte) []byte {
	return fmt.Appendf(nil, "DSSEv1 %d %s %d %s", len(payloadType), payloadType, len(payload), payload)
}

// Seal puts a payload, byte for byte, into an envelope that key signs.
func Seal(payloadType string, payload []byte, key ed25519.PrivateKey) *Envelope {
	return &Envelope{
		Payload:     base64.StdEncoding.EncodeToString(payload),
		PayloadType: payloadType,
		Signatures: []EnvelopeSignature{{
			KeyID: KeyID(key.Public().(ed25519.PublicKey)),
			Sig:   base64.StdEncoding.EncodeToString(ed25519.Sign(key, encodePAE(payloadType, payload))),
		}},
	}
}

// IsEnvelope tells whether a JSON text is meant as an envelope, sound or not.
func IsEnvelope(text []byte) bool {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return false
	}
	_, there := members["payloadType"]
	return there
}

// Open returns the payload of an envelope. Its signatures are not checked. Errors
// wrap [ErrEnvelope].
func Open(text []byte, payloadType string) ([]byte, error) {
	e, err := parseEnvelope(text)
	if err != nil {
		return nil, err
	}
	return e.open(payloadType)
}

func (e *Envelope) open(payloadType string) ([]byte, error) {
	if e.PayloadType != payloadType {
		return nil, fmt.Errorf("%w: payloadType is %.100q; want %s", ErrEnvelope, e.PayloadType, payloadType)
	}
	if n := len(e.Signatures); n == 0 || n > mostSignatures {
		return nil, fmt.Errorf("%w: it holds %d signatures; want 1 to %d", ErrEnvelope, n, mostSignatures)
	}
	payload, err := decodeBase64(e.Payload)
	if err != nil {
		return nil, fmt.Errorf("%w: its payload is not base64", ErrEnvelope)
	}
	return payload, nil
}

// VerifyEnvelope checks that the holder of the private half of key signed the
// payload as one of this type, and returns it. Key ids are hints: every signature is
// tried. Errors wrap [ErrEnvelope], [ErrForeign] or [ErrSignature].
func VerifyEnvelope(text []byte, payloadType string, key ed25519.PublicKey) ([]byte, error) {
	e, err := parseEnvelope(text)
	if err != nil {
		return nil, err
	}
	payload, err := e.open(payloadType)
	if err != nil {
		return nil, err
	}
	signed, ours := encodePAE(payloadType, payload), false
	for _, s := range e.Signatures {
		value, err := decodeBase64(s.Sig)
		if err == nil && ed25519.Verify(key, signed, value) {
			return payload, nil
		}
		ours = ours || s.KeyID == KeyID(key) || s.KeyID == ""
	}
	if !ours {
		return nil, fmt.Errorf("%w: it names %.100q and the key at hand is %s; ask the signer for the public key", ErrForeign, e.Signatures[0].KeyID, KeyID(key))
	}
	return nil, fmt.Errorf("%w: the envelope was changed after %s signed it", ErrSignature, KeyID(key))
}

// parseEnvelope reads an envelope. Members that it does not know are ignored, as
// the specification wants; one that is there twice is refused, because readers differ
// in which they take.
func parseEnvelope(text []byte) (*Envelope, error) {
	if _, err := jcs.Canonical(text); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrEnvelope, err)
	}
	// Maps, because encoding/json matches the fields of a struct in any case.
	var members map[string]json.RawMessage
	var signatures []map[string]json.RawMessage
	e := new(Envelope)
	err := errors.Join(json.Unmarshal(text, &members),
		field(members, "payload", &e.Payload), field(members, "payloadType", &e.PayloadType), field(members, "signatures", &signatures))
	for _, m := range signatures {
		var s EnvelopeSignature
		err = errors.Join(err, field(m, "sig", &s.Sig))
		if m["keyid"] != nil {
			err = errors.Join(err, field(m, "keyid", &s.KeyID))
		}
		e.Signatures = append(e.Signatures, s)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: it is not of the form {payload, payloadType, signatures: [{keyid, sig}]}", ErrEnvelope)
	}
	return e, nil
}

// field reads one member.
func field(m map[string]json.RawMessage, name string, into any) error {
	text, ok := m[name]
	if !ok {
		return fmt.Errorf("no member %q", name)
	}
	return json.Unmarshal(text, into)
}

// decodeBase64 reads base64 in the standard or the URL alphabet: signers may use
// either.
func decodeBase64(text string) ([]byte, error) {
	if strings.ContainsAny(text, "-_") {
		return base64.URLEncoding.Strict().DecodeString(text)
	}
	return base64.StdEncoding.Strict().DecodeString(text)
}
