package aggregator

import (
	"crypto/ed25519"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/service/authority"
	"github.com/discreet-rl/discreet/internal/signature"
)

// PublicKeys are the public halves of the keys that sign rounds and open reports: all
// that the spec of a run needs of the servers' keys.
type PublicKeys struct {
	sign map[uint32]ed25519.PublicKey
	seal map[uint32][]byte
}

// OpenPublicKeys reads sign-N.pub and seal-N.pub in a directory of keys, which need not
// hold any private key.
func OpenPublicKeys(dir string) (*PublicKeys, error) {
	p := &PublicKeys{map[uint32]ed25519.PublicKey{}, map[uint32][]byte{}}
	paths, err := filepath.Glob(filepath.Join(dir, "s*-*.pub"))
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		kind, number, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".pub"), "-")
		n, err := strconv.ParseUint(number, 10, 32)
		switch {
		case err != nil || kind != "sign" && kind != "seal":
			return nil, fmt.Errorf("%w: %s: not the name of a key; want sign-N.pub or seal-N.pub", ErrKeys, path)
		case kind == "sign":
			p.sign[uint32(n)], err = signature.LoadPublic(path)
		default:
			p.seal[uint32(n)], err = readSecret(path)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrKeys, err)
		}
	}
	if len(p.sign) == 0 || len(p.seal) == 0 {
		return nil, fmt.Errorf("%w: %s holds no sign-N.pub or no seal-N.pub; copy them from the servers' directory of keys", ErrKeys, dir)
	}
	return p, nil
}

// Public adds the keys that are missing in a spec, good between the times.
func (p *PublicKeys) Public(have []*fleetv1.Key, from, until time.Time) []*fleetv1.Key {
	out := slices.Clone(have)
	add := func(id uint32, use fleetv1.Use, public []byte) {
		if !slices.ContainsFunc(have, func(key *fleetv1.Key) bool { return key.GetId() == id }) {
			out = append(out, &fleetv1.Key{Id: id, Use: use, Public: public, ValidFrom: from.UnixMilli(), ValidUntil: until.UnixMilli()})
		}
	}
	for _, id := range slices.Sorted(maps.Keys(p.sign)) {
		add(id, fleetv1.Use_USE_SIGN, p.sign[id])
	}
	for _, id := range slices.Sorted(maps.Keys(p.seal)) {
		add(id, fleetv1.Use_USE_SEAL, p.seal[id])
	}
	return out
}

// Public is that of [PublicKeys], of the keys whose private halves are here.
func (k *Keys) Public(have []*fleetv1.Key, from, until time.Time) []*fleetv1.Key {
	k.mu.Lock()
	defer k.mu.Unlock()
	p := &PublicKeys{map[uint32]ed25519.PublicKey{}, map[uint32][]byte{}}
	for id, key := range k.sign {
		p.sign[id] = key.Public().(ed25519.PublicKey)
	}
	for id, key := range k.seal {
		p.seal[id] = key.PublicKey().Bytes()
	}
	return p.Public(have, from, until)
}

// createSeal makes a key that opens reports, and its public half beside it.
func createSeal(path string) error {
	private, public, err := fleet.NewSealKey()
	if err != nil {
		return err
	}
	secret, err := private.Bytes()
	if err != nil {
		return err
	}
	if err := writeHex(path, 0o600, secret); err != nil {
		return err
	}
	return writeHex(publicOf(path), 0o644, public)
}

func publicOf(path string) string { return strings.TrimSuffix(path, ".key") + ".pub" }

// The certificates that [RenewCertificate] renews.
const (
	ServerCertificate   = "server"
	OperatorCertificate = "operator"
)

// RenewCertificate makes the next certificate of the server, under the given hosts, or of
// the operator, for two years from now on. The key stays, so a server that runs goes on with
// it; the authority's key has to be in the directory. It returns when the certificate ends.
func RenewCertificate(dir, which string, hosts []string, now time.Time) (time.Time, error) {
	at := func(name string) string { return filepath.Join(dir, name) }
	cert, key, subject := serverCert, serverKey, authority.Subject{Role: roleServer, Hosts: hosts}
	switch {
	case which == OperatorCertificate:
		cert, key, subject = operatorCert, operatorKey, authority.Subject{Role: RoleOperator, Name: "operator"}
	case which != ServerCertificate:
		return time.Time{}, fmt.Errorf("%w: there is no certificate %q to renew; want %s or %s", ErrConfig, which, ServerCertificate, OperatorCertificate)
	case len(hosts) == 0:
		return time.Time{}, fmt.Errorf("%w: no hosts; name what devices call the server", ErrConfig)
	default:
		subject.Name = hosts[0]
	}
	ca, err := authority.Open(at(authorityCert), at(authorityKey))
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: %w", ErrKeys, err)
	}
	private, err := authority.ReadKey(at(key))
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: %w", ErrKeys, err)
	}
	request, err := authority.Request(private)
	if err != nil {
		return time.Time{}, err
	}
	c, err := ca.Issue(request, subject, now, serverYears)
	if err != nil {
		return time.Time{}, err
	}
	if err := authority.ReplaceCertificates(at(cert), c.Raw, ca.Certificate().Raw); err != nil {
		return time.Time{}, fmt.Errorf("%w: %w", ErrKeys, err)
	}
	return c.NotAfter, nil
}

// HoldsPrivate tells whether the servers' private keys are in a directory.
func HoldsPrivate(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, pseudonymKey))
	return err == nil
}

func writeHex(path string, mode fs.FileMode, data []byte) error {
	if err := atomicfile.Create(path, mode, hexLine(data)); err != nil {
		return fmt.Errorf("%w: %w", ErrKeys, err)
	}
	return nil
}
