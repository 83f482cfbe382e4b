package signature_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/internal/jcs"
	"github.com/discreet-rl/discreet/internal/signature"
)

func Example() {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := signature.Make([]byte(`{"value": 1.5}`), private)
	if err != nil {
		fmt.Println(err)
		return
	}
	signed := fmt.Sprintf(`{"value":1.5,"signature":{"algorithm":%q,"key_id":%q,"value":%q}}`, s.Algorithm, s.KeyID, s.Value)
	fmt.Println(signature.Verify([]byte(signed), public))
	forged := strings.Replace(signed, "1.5", "1.6", 1)
	fmt.Println(errors.Is(signature.Verify([]byte(forged), public), signature.ErrSignature))
	// Output:
	// <nil>
	// true
}

// key is the secret key of RFC 8032, section 7.1, TEST 1.
func key(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	seed, err := hex.DecodeString("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
	if err != nil {
		t.Fatal(err)
	}
	return ed25519.NewKeyFromSeed(seed)
}

func signed(t *testing.T, document string, k ed25519.PrivateKey) []byte {
	t.Helper()
	s, err := signature.Make([]byte(document), k)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal([]byte(document), &m); err != nil {
		t.Fatal(err)
	}
	m["signature"] = s
	out, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const document = `{"schema":"discreet/release/v1","estimate":{"value":0.51,"interval":[0.4,0.6]},"notes":["a","b"]}`

// Whatever single byte of the document is changed, the signature breaks: either
// the change shows in the canonical form, or it is white space, which does not.
func TestEveryChangeBreaksTheSignature(t *testing.T) {
	k := key(t)
	public := k.Public().(ed25519.PublicKey)
	whole := signed(t, document, k)
	if err := signature.Verify(whole, public); err != nil {
		t.Fatal(err)
	}
	var before bytes.Buffer
	if err := json.Compact(&before, whole); err != nil {
		t.Fatal(err)
	}
	tried := 0
	for i := range whole {
		for _, flip := range []byte{1, 2, 4, 16, 32} {
			forged := bytes.Clone(whole)
			forged[i] ^= flip
			var after bytes.Buffer
			if json.Compact(&after, forged) == nil && bytes.Equal(before.Bytes(), after.Bytes()) {
				continue // white space for white space
			}
			tried++
			if signature.Verify(forged, public) == nil {
				t.Fatalf("byte %d, %q for %q: the signature still fits", i, forged[i], whole[i])
			}
		}
	}
	if tried < 1000 {
		t.Fatalf("only %d forgeries were tried", tried)
	}
}

func TestLayoutDoesNotMatter(t *testing.T) {
	k := key(t)
	whole := signed(t, document, k)
	var compact bytes.Buffer
	if err := json.Compact(&compact, whole); err != nil {
		t.Fatal(err)
	}
	for _, layout := range []string{compact.String(), strings.ReplaceAll(compact.String(), "0.51", "5.1e-1"), "\n\t " + compact.String() + "\n"} {
		if err := signature.Verify([]byte(layout), k.Public().(ed25519.PublicKey)); err != nil {
			t.Errorf("%v: %s", err, layout)
		}
	}
}

// The signed bytes carry no framing of our own: the standard library alone can
// check a signature.
func TestPlainEd25519(t *testing.T) {
	k := key(t)
	s, err := signature.Make([]byte(document), k)
	if err != nil {
		t.Fatal(err)
	}
	value, err := base64.StdEncoding.DecodeString(s.Value)
	if err != nil {
		t.Fatal(err)
	}
	canonical := `{"estimate":{"interval":[0.4,0.6],"value":0.51},"notes":["a","b"],"schema":"discreet/release/v1"}`
	if !ed25519.Verify(k.Public().(ed25519.PublicKey), []byte(canonical), value) {
		t.Error("the signature is not over the canonical form")
	}
}

func TestWhatIsWrongIsSaid(t *testing.T) {
	k := key(t)
	public := k.Public().(ed25519.PublicKey)
	_, stranger, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	foreign := signed(t, document, stranger)
	renamed := bytes.Replace(foreign, []byte(signature.KeyID(stranger.Public().(ed25519.PublicKey))), []byte(signature.KeyID(public)), 1)
	good := signed(t, document, k)
	for name, c := range map[string]struct {
		text []byte
		want error
	}{
		"unsigned":       {[]byte(document), signature.ErrUnsigned},
		"null":           {[]byte(`{"signature":null}`), signature.ErrSignature},
		"foreign":        {foreign, signature.ErrForeign},
		"foreign as own": {renamed, signature.ErrSignature},
		"algorithm":      {bytes.Replace(good, []byte(`"ed25519"`), []byte(`"none"`), 1), signature.ErrSignature},
		"not base64":     {[]byte(`{"signature":{"algorithm":"ed25519","key_id":"` + signature.KeyID(public) + `","value":"*"}}`), signature.ErrSignature},
		"short":          {[]byte(`{"signature":{"algorithm":"ed25519","key_id":"` + signature.KeyID(public) + `","value":"AAAA"}}`), signature.ErrSignature},
		"not JSON":       {[]byte(`{`), signature.ErrSignature},
		"repeated":       {bytes.Replace(good, []byte(`"notes"`), []byte(`"schema":"x","notes"`), 1), jcs.ErrForm},
	} {
		if err := signature.Verify(c.text, public); !errors.Is(err, c.want) {
			t.Errorf("%s: %v; want %v", name, err, c.want)
		}
	}
	if err := signature.Verify(foreign, public); !strings.Contains(err.Error(), signature.KeyID(public)) {
		t.Errorf("a foreign key is not named: %v", err)
	}
}

func TestKeyFiles(t *testing.T) {
	dir := t.TempDir()
	private, public := filepath.Join(dir, "key.pem"), filepath.Join(dir, "key.pub.pem")
	made, err := signature.Generate(private, public)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(private); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the private key has mode %v, %v", info.Mode(), err)
	}
	secret, err := signature.LoadPrivate(private)
	if err != nil {
		t.Fatal(err)
	}
	open, err := signature.LoadPublic(public)
	if err != nil || !open.Equal(made) || !open.Equal(secret.Public()) {
		t.Fatalf("the halves do not belong together: %v", err)
	}
	if _, err := signature.Generate(private, filepath.Join(dir, "other.pem")); !errors.Is(err, signature.ErrKey) {
		t.Errorf("a key is replaced: %v", err)
	}
	if _, err := signature.Generate(filepath.Join(dir, "new.pem"), public); !errors.Is(err, signature.ErrKey) {
		t.Errorf("a public key is replaced: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, "new.pem")); err == nil {
		t.Error("half a pair is left behind")
	}
	if _, err := signature.LoadPrivate(public); err == nil {
		t.Error("a public key is taken for a private one")
	}
	if _, err := signature.LoadPublic(private); !errors.Is(err, signature.ErrKey) || !strings.Contains(err.Error(), "other file of the pair") {
		t.Errorf("a private key is taken for a public one: %v", err)
	}
	if err := os.Chmod(private, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := signature.LoadPrivate(private); !errors.Is(err, signature.ErrKey) || !strings.Contains(err.Error(), "chmod 600") {
		t.Errorf("a key that others can read is used: %v", err)
	}
}

// OpenSSL reads our keys and agrees on a signature, where it is installed.
func TestOpenSSLAgrees(t *testing.T) {
	if _, err := exec.LookPath("openssl"); err != nil {
		t.Skip("no openssl on this machine")
	}
	dir := t.TempDir()
	in := func(name string) string { return filepath.Join(dir, name) }
	if _, err := signature.Generate(in("key.pem"), in("key.pub.pem")); err != nil {
		t.Fatal(err)
	}
	k, err := signature.LoadPrivate(in("key.pem"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := signature.Make([]byte(document), k)
	if err != nil {
		t.Fatal(err)
	}
	value, err := base64.StdEncoding.DecodeString(s.Value)
	if err != nil {
		t.Fatal(err)
	}
	canonical, err := jcs.Canonical([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"text": canonical, "sig": value} {
		if err := os.WriteFile(in(name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command("openssl", "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", in("key.pub.pem"), "-sigfile", in("sig"), "-in", in("text")).CombinedOutput()
	if err != nil {
		t.Errorf("openssl: %v: %s", err, out)
	}
}
