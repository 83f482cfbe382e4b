package signature

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"

	"github.com/discreet-rl/discreet/internal/fault"
)

// ErrKey marks a file that holds no key of the kind that is needed, or that
// others can read.
var ErrKey = fault.Input("unusable key")

// The types of PEM blocks.
const (
	privateBlock = "PRIVATE KEY"
	publicBlock  = "PUBLIC KEY"
)

// Generate makes a key pair and writes it to two new files: the private key with
// mode 0600, the public key beside it. A file that exists is never replaced:
// what its key signed could no longer be checked.
func Generate(privatePath, publicPath string) (ed25519.PublicKey, error) {
	public, private, err := ed25519.GenerateKey(nil) // from the operating system
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, err
	}
	open, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return nil, err
	}
	if err := create(privatePath, 0o600, privateBlock, secret); err != nil {
		return nil, err
	}
	if err := create(publicPath, 0o644, publicBlock, open); err != nil {
		return nil, errors.Join(err, os.Remove(privatePath))
	}
	return public, nil
}

func create(path string, mode fs.FileMode, block string, der []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%w: %s exists; choose another name, or move it away", ErrKey, path)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrKey, err)
	}
	return errors.Join(pem.Encode(f, &pem.Block{Type: block, Bytes: der}), f.Sync(), f.Close())
}

// LoadPrivate reads a private key. A file that its group or others may read is
// refused, where the operating system knows such permissions.
func LoadPrivate(path string) (ed25519.PrivateKey, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	// First of all, because the other half of the pair is readable by all.
	der, err := load(path, privateBlock, publicBlock)
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && runtime.GOOS != "windows" {
		return nil, fmt.Errorf("%w: %s has mode %04o: others can read it; chmod 600 it, or make a new key if somebody may have", ErrKey, path, mode)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	key, ok := parsed.(ed25519.PrivateKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("%w: %s holds no Ed25519 key; make one with `discreet ledger keygen`", ErrKey, path)
	}
	return key, nil
}

// LoadPublic reads a public key.
func LoadPublic(path string) (ed25519.PublicKey, error) {
	der, err := load(path, publicBlock, privateBlock)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKIXPublicKey(der)
	key, ok := parsed.(ed25519.PublicKey)
	if err != nil || !ok {
		return nil, fmt.Errorf("%w: %s holds no Ed25519 key", ErrKey, path)
	}
	return key, nil
}

// load reads the one PEM block of a file; other is the type of the opposite half
// of a pair, the likeliest mistake.
func load(path, block, other string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	b, _ := pem.Decode(text)
	switch {
	case b == nil:
		return nil, fmt.Errorf("%w: %s is not PEM; make a key with `discreet ledger keygen`", ErrKey, path)
	case b.Type == other:
		return nil, fmt.Errorf("%w: %s holds a %s; give the other file of the pair", ErrKey, path, b.Type)
	case b.Type != block:
		return nil, fmt.Errorf("%w: %s holds a %s; want a %s", ErrKey, path, b.Type, block)
	}
	return b.Bytes, nil
}
