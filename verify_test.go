package discreet_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
)

// signed evaluates the trial with a key that is made for it.
func signed(t *testing.T) ([]byte, ed25519.PublicKey) {
	t.Helper()
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	cfg := trial()
	cfg.Sign = filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(cfg.Sign, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	if cfg.Data.Path[0], err = filepath.Abs(cfg.Data.Path[0]); err != nil {
		t.Fatal(err)
	}
	r, err := discreet.Evaluate(context.Background(), cfg, discreet.WithSource(noise.NewSeeded(1)))
	if err != nil {
		t.Fatal(err)
	}
	return r.JSON, public
}

// TestVerifyWantsFormAccountingAndSignature of a release, and says which it did not
// look at.
func TestVerifyWantsFormAccountingAndSignature(t *testing.T) {
	release, key := signed(t)
	stranger, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	change := func(old, new string) []byte {
		out := bytes.Replace(release, []byte(old), []byte(new), 1)
		if bytes.Equal(out, release) {
			t.Fatalf("the release holds no %q", old)
		}
		return out
	}
	for name, c := range map[string]struct {
		text []byte
		key  ed25519.PublicKey
		want string // of the error; empty where it holds
	}{
		"as it is":                  {release, key, ""},
		"without a key":             {release, nil, ""},
		"another key":               {release, stranger, "another key"},
		"another value":             {change(`"method": "dp-wis"`, `"method": "dp-is"`), key, "was changed after"},
		"another value, no key":     {change(`"method": "dp-wis"`, `"method": "dp-is"`), nil, "does not follow from its plan"},
		"a member nobody knows":     {change(`"method"`, `"methd"`), nil, "schema"},
		"no JSON":                   {[]byte("{"), nil, "schema"},
		"a smaller epsilon claimed": {change(`"epsilon": 1,`, `"epsilon": 0.5,`), nil, "is above 0.5"},
	} {
		v, err := discreet.Verify(c.text, c.key)
		if c.want == "" {
			if err != nil || v.Release.Method == "" || v.Epsilon == nil || (v.SignedBy != "") != (c.key != nil) {
				t.Errorf("%s: %v, %+v", name, err, v)
			}
			if notes := strings.Join(v.Notes, "\n"); !strings.Contains(notes, "came from a seed") || !strings.Contains(notes, "no ledger was charged") {
				t.Errorf("%s: notes %q; want the seed and the ledger told", name, v.Notes)
			}
			continue
		}
		if !errors.Is(err, discreet.ErrRelease) || !strings.Contains(err.Error(), c.want) || v.SignedBy != "" {
			t.Errorf("%s: %v, signed by %q; want ErrRelease with %q", name, err, v.SignedBy, c.want)
		}
	}
}
