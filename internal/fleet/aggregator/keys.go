package aggregator

import (
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/hpke"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/service/authority"
	"github.com/discreet-rl/discreet/internal/signature"
)

// The files of a directory of keys.
const (
	rootKey       = "root.key" // to be kept elsewhere
	rootPublic    = "root.pub"
	authorityCert = "ca.pem"
	authorityKey  = "ca.key"
	serverCert    = "server.pem"
	serverKey     = "server.key"
	operatorCert  = "operator.pem"
	operatorKey   = "operator.key"
	pseudonymKey  = "pseudonym.key"
)

// The roles of certificates.
const (
	RoleDevice   = "device"
	RoleOperator = "operator"
	roleServer   = "server"
)

// How long what is signed at the beginning is good.
const (
	authorityYears = 10 * 365 * 24 * time.Hour
	serverYears    = 2 * 365 * 24 * time.Hour
)

// Keys are what an aggregator signs, opens and identifies with: a directory of files.
type Keys struct {
	dir       string
	root      ed25519.PublicKey
	ca        *authority.Authority
	pseudonym [32]byte

	mu   sync.Mutex
	sign map[uint32]ed25519.PrivateKey
	seal map[uint32]hpke.PrivateKey
}

// CreateKeys makes a directory of keys: the root that signs runs, an authority with
// certificates for the server, under the given hosts, and for an operator, the secret
// of pseudonyms, and a first key of each kind. The root's private key belongs
// elsewhere: only new runs and new keys need it. Nothing that exists is written over.
func CreateKeys(dir string, hosts []string, now time.Time) error {
	if len(hosts) == 0 {
		return fmt.Errorf("%w: no hosts; name what devices call the server, such as fleet.example.org or 127.0.0.1", ErrConfig)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("%w: %w", ErrKeys, err)
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	if _, err := os.Stat(at(authorityCert)); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: %s holds keys already; name a new directory", ErrKeys, dir)
	}
	if _, err := signature.Generate(at(rootKey), at(rootPublic)); err != nil {
		return fmt.Errorf("%w: %w", ErrKeys, err)
	}
	if err := createSecret(at(pseudonymKey)); err != nil {
		return err
	}
	if err := errors.Join(createNumbered(dir, "sign", 1), createNumbered(dir, "seal", 2)); err != nil {
		return err
	}
	ca, err := authority.Create(at(authorityCert), at(authorityKey), "discreet fleet", now, authorityYears)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrKeys, err)
	}
	if err := issueFiles(ca, at(serverCert), at(serverKey), authority.Subject{Role: roleServer, Name: hosts[0], Hosts: hosts}, now); err != nil {
		return err
	}
	return issueFiles(ca, at(operatorCert), at(operatorKey), authority.Subject{Role: RoleOperator, Name: "operator"}, now)
}

// issueFiles makes a key and its certificate, with that of the authority behind it.
func issueFiles(ca *authority.Authority, certPath, keyPath string, s authority.Subject, now time.Time) error {
	key, err := authority.NewKey()
	if err != nil {
		return err
	}
	request, err := authority.Request(key)
	if err != nil {
		return err
	}
	cert, err := ca.Issue(request, s, now, serverYears)
	if err != nil {
		return err
	}
	if err := authority.WriteKey(keyPath, key); err != nil {
		return fmt.Errorf("%w: %w", ErrKeys, err)
	}
	if err := authority.WriteCertificates(certPath, cert.Raw, ca.Certificate().Raw); err != nil {
		return fmt.Errorf("%w: %w", ErrKeys, err)
	}
	return nil
}

func createSecret(path string) error {
	var secret [32]byte
	_, _ = rand.Read(secret[:]) // it ends the process rather than fail
	return writeHex(path, 0o600, secret[:])
}

// hexLine writes data in hexadecimal digits.
func hexLine(data []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "%x\n", data)
		return err
	}
}

func readSecret(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKeys, err)
	}
	secret, err := hex.DecodeString(strings.TrimSpace(string(text)))
	if err != nil || len(secret) != 32 {
		return nil, fmt.Errorf("%w: %s: want 64 hexadecimal digits", ErrKeys, path)
	}
	return secret, nil
}

// createNumbered makes the key of a kind and a number.
func createNumbered(dir, kind string, id uint32) error {
	path := numbered(dir, kind, id)
	if kind == "sign" {
		if _, err := signature.Generate(path, publicOf(path)); err != nil {
			return fmt.Errorf("%w: %w", ErrKeys, err)
		}
		return nil
	}
	return createSeal(path)
}

func numbered(dir, kind string, id uint32) string {
	return filepath.Join(dir, fmt.Sprintf("%s-%d.key", kind, id))
}

// OpenKeys reads what CreateKeys made. The root's private key need not be there.
func OpenKeys(dir string) (*Keys, error) {
	k := &Keys{dir: dir}
	var err error
	if k.root, err = signature.LoadPublic(filepath.Join(dir, rootPublic)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKeys, err)
	}
	if k.ca, err = authority.Open(filepath.Join(dir, authorityCert), filepath.Join(dir, authorityKey)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKeys, err)
	}
	secret, err := readSecret(filepath.Join(dir, pseudonymKey))
	if err != nil {
		return nil, err
	}
	copy(k.pseudonym[:], secret)
	return k, k.reload()
}

// reload reads the numbered keys that there are now.
func (k *Keys) reload() error {
	sign, seal := map[uint32]ed25519.PrivateKey{}, map[uint32]hpke.PrivateKey{}
	paths, err := filepath.Glob(filepath.Join(k.dir, "s*-*.key"))
	if err != nil {
		return err
	}
	for _, path := range paths {
		kind, number, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".key"), "-")
		n, err := strconv.ParseUint(number, 10, 32)
		if err != nil || kind != "sign" && kind != "seal" {
			return fmt.Errorf("%w: %s: not the name of a key; want sign-N.key or seal-N.key", ErrKeys, path)
		}
		if kind == "sign" {
			if sign[uint32(n)], err = signature.LoadPrivate(path); err != nil {
				return fmt.Errorf("%w: %w", ErrKeys, err)
			}
			continue
		}
		secret, err := readSecret(path)
		if err != nil {
			return err
		}
		if seal[uint32(n)], err = fleet.ParseSealKey(secret); err != nil {
			return fmt.Errorf("%w: %s: %w", ErrKeys, path, err)
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.sign, k.seal = sign, seal
	return nil
}

// signer is the key that signs rounds of a run at a time: of those that are good and
// here the one that began last.
func (k *Keys) signer(r *fleet.Run, at time.Time) (uint32, ed25519.PrivateKey, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	var best fleet.Key
	for _, key := range r.Keys {
		if private, here := k.sign[key.ID]; here && key.Use == fleetv1.Use_USE_SIGN && private.Public().(ed25519.PublicKey).Equal(ed25519.PublicKey(key.Public)) &&
			!at.Before(key.From) && at.Before(key.Until) && (best.ID == 0 || key.From.After(best.From)) {
			best = key
		}
	}
	if best.ID == 0 {
		return 0, nil, fmt.Errorf("%w: no key of the run that is good now can sign a round; rotate keys", ErrKeys)
	}
	return best.ID, k.sign[best.ID], nil
}

// opener is the key that opens reports sealed to the number.
func (k *Keys) opener(id uint32) (hpke.PrivateKey, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	key, ok := k.seal[id]
	return key, ok
}

// holds tells whether the private half of every key of the run that is still good is here.
func (k *Keys) holds(r *fleet.Run, now time.Time) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, key := range r.Keys {
		if now.After(key.Until) {
			continue
		}
		same := false
		switch key.Use {
		case fleetv1.Use_USE_SIGN:
			private, here := k.sign[key.ID]
			same = here && private.Public().(ed25519.PublicKey).Equal(ed25519.PublicKey(key.Public))
		case fleetv1.Use_USE_SEAL:
			private, here := k.seal[key.ID]
			same = here && string(private.PublicKey().Bytes()) == string(key.Public)
		}
		if !same {
			return fmt.Errorf("%w: the private half of key %d is not in %s", ErrKeys, key.ID, k.dir)
		}
	}
	return nil
}

// CreateNext makes the next key of each kind, beside those that there are: the keys of a
// run have numbers of their own. It returns the number of the key that signs; that of the
// one that opens reports is the next.
func (k *Keys) CreateNext() (uint32, error) {
	k.mu.Lock()
	next := uint32(1)
	for id := range k.sign {
		next = max(next, id+1)
	}
	for id := range k.seal {
		next = max(next, id+1)
	}
	k.mu.Unlock()
	if err := errors.Join(createNumbered(k.dir, "sign", next), createNumbered(k.dir, "seal", next+1)); err != nil {
		return 0, err
	}
	return next, k.reload()
}

// deviceOf is the name of the device that a code is for. It is random to whoever does
// not have the secret, and written nowhere but in the device's certificates.
func (k *Keys) deviceOf(code string) string {
	id := k.derive("device", code)
	return hex.EncodeToString(id[:16])
}

// pseudonymOf is the pseudonym key of a device: it follows from the secret and the
// name in its certificates, and is written nowhere on the server.
func (k *Keys) pseudonymOf(device string) [32]byte { return k.derive("pseudonym", device) }

func (k *Keys) derive(context, name string) [32]byte {
	mac := hmac.New(sha256.New, k.pseudonym[:])
	mac.Write([]byte("discreet fleet " + context + " 1\x00"))
	mac.Write([]byte(name))
	return [32]byte(mac.Sum(nil))
}

// TLS names the server's files.
func (k *Keys) TLS() *service.TLS {
	return &service.TLS{Certificate: filepath.Join(k.dir, serverCert), Key: filepath.Join(k.dir, serverKey), ClientRoots: filepath.Join(k.dir, authorityCert)}
}
