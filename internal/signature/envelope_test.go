package signature_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/internal/signature"
)

const (
	releaseType = "application/vnd.discreet.release.v1+json"
	helloType   = "http://example.com/HelloWorld"
)

// TestEnvelopeSignsTheSpecificationsBytes holds the signature against the example of
// the specification's pre-authentication encoding
// (github.com/secure-systems-lab/dsse, protocol.md).
func TestEnvelopeSignsTheSpecificationsBytes(t *testing.T) {
	k := key(t)
	e := signature.Seal(helloType, []byte("hello world"), k)
	value, err := base64.StdEncoding.DecodeString(e.Signatures[0].Sig)
	if err != nil {
		t.Fatal(err)
	}
	if !ed25519.Verify(k.Public().(ed25519.PublicKey), []byte("DSSEv1 29 http://example.com/HelloWorld 11 hello world"), value) {
		t.Error("the signed bytes are not those of the specification")
	}
	if e.Payload != "aGVsbG8gd29ybGQ=" || e.PayloadType != helloType {
		t.Errorf("the envelope holds %q of type %q", e.Payload, e.PayloadType)
	}
}

// TestEnvelopeOfAPeer opens what securesystemslib 1.6.0 signed (testdata/dsse.py),
// and signs the same to the same bytes: Ed25519 is deterministic.
func TestEnvelopeOfAPeer(t *testing.T) {
	text, err := os.ReadFile("testdata/peer.dsse.json")
	if err != nil {
		t.Fatal(err)
	}
	k := key(t)
	payload, err := signature.VerifyEnvelope(text, releaseType, k.Public().(ed25519.PublicKey))
	if err != nil || string(payload) != `{"schema":"discreet/release/v1"}` {
		t.Fatalf("%q, %v", payload, err)
	}
	var theirs signature.Envelope
	if err := json.Unmarshal(text, &theirs); err != nil {
		t.Fatal(err)
	}
	if ours := signature.Seal(releaseType, payload, k); ours.Signatures[0] != theirs.Signatures[0] {
		t.Errorf("we sign %v, they %v", ours.Signatures[0], theirs.Signatures[0])
	}
}

// envelope is a sealed document, changed.
func envelope(t *testing.T, change func(m map[string]any)) []byte {
	t.Helper()
	text, err := json.Marshal(signature.Seal(releaseType, []byte(document), key(t)))
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	change(m)
	if text, err = json.Marshal(m); err != nil {
		t.Fatal(err)
	}
	return text
}

func TestEnvelopesThatAreRefused(t *testing.T) {
	k := key(t)
	public := k.Public().(ed25519.PublicKey)
	stranger, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	first := func(m map[string]any) map[string]any { return m["signatures"].([]any)[0].(map[string]any) }
	url := func(text any) string {
		return strings.NewReplacer("+", "-", "/", "_").Replace(text.(string))
	}
	for name, c := range map[string]struct {
		text []byte
		key  ed25519.PublicKey
		want error
	}{
		"as it is":              {envelope(t, func(map[string]any) {}), public, nil},
		"base64 of URLs":        {envelope(t, func(m map[string]any) { m["payload"] = url(m["payload"]); first(m)["sig"] = url(first(m)["sig"]) }), public, nil},
		"a member nobody knows": {envelope(t, func(m map[string]any) { m["x"] = 1 }), public, nil},
		"no key id":             {envelope(t, func(m map[string]any) { delete(first(m), "keyid") }), public, nil},
		"another's key id":      {envelope(t, func(m map[string]any) { first(m)["keyid"] = signature.KeyID(stranger) }), public, nil},
		"second of two":         {envelope(t, func(m map[string]any) { m["signatures"] = []any{map[string]any{"sig": "AAAA"}, first(m)} }), public, nil},
		"another key":           {envelope(t, func(map[string]any) {}), stranger, signature.ErrForeign},
		"another type":          {envelope(t, func(m map[string]any) { m["payloadType"] = "application/json" }), public, signature.ErrEnvelope},
		"another payload":       {envelope(t, func(m map[string]any) { m["payload"] = "e30=" }), public, signature.ErrSignature},
		"payload no base64":     {envelope(t, func(m map[string]any) { m["payload"] = "*" }), public, signature.ErrEnvelope},
		"no signatures":         {envelope(t, func(m map[string]any) { m["signatures"] = []any{} }), public, signature.ErrEnvelope},
		"too many":              {envelope(t, func(m map[string]any) { m["signatures"] = make([]any, 17) }), public, signature.ErrEnvelope},
		"no sig":                {envelope(t, func(m map[string]any) { delete(first(m), "sig") }), public, signature.ErrEnvelope},
		"in another case":       {envelope(t, func(m map[string]any) { m["Payload"] = m["payload"]; delete(m, "payload") }), public, signature.ErrEnvelope},
		"payload twice":         {bytes.Replace(envelope(t, func(map[string]any) {}), []byte(`{"payload"`), []byte(`{"payload":"e30=","payload"`), 1), public, signature.ErrEnvelope},
		"not JSON":              {[]byte("{"), public, signature.ErrEnvelope},
	} {
		payload, err := signature.VerifyEnvelope(c.text, releaseType, c.key)
		if !errors.Is(err, c.want) || (err == nil) != (string(payload) == document) {
			t.Errorf("%s: %q, %v; want %v", name, payload, err, c.want)
		}
	}
}

// The signature over one kind of document is none over another: of a release's own
// signature nothing can be made that passes for an envelope's.
func TestTypesAreDomains(t *testing.T) {
	k := key(t)
	plain, err := signature.Make([]byte(document), k)
	if err != nil {
		t.Fatal(err)
	}
	text := envelope(t, func(m map[string]any) { m["signatures"] = []any{map[string]any{"sig": plain.Value}} })
	if _, err := signature.VerifyEnvelope(text, releaseType, k.Public().(ed25519.PublicKey)); !errors.Is(err, signature.ErrSignature) {
		t.Errorf("a signature without a type passes for one with: %v", err)
	}
}

func FuzzEnvelope(f *testing.F) {
	peer, err := os.ReadFile("testdata/peer.dsse.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(peer)
	f.Add([]byte(`{"payload":"e30=","payloadType":"application/vnd.discreet.release.v1+json","signatures":[{"sig":""}]}`))
	public, _, err := ed25519.GenerateKey(bytes.NewReader(make([]byte, 64)))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := signature.VerifyEnvelope(text, releaseType, public); err == nil {
			t.Error("a key that signed nothing verifies")
		}
		payload, err := signature.Open(text, releaseType)
		if err == nil && !signature.IsEnvelope(text) {
			t.Errorf("%q is opened and is no envelope", payload)
		}
	})
}
