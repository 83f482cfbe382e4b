package authority

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"time"

	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/fault"
)

var (
	// ErrRequest marks a certificate request that is refused.
	ErrRequest = fault.Input("certificate request refused")
	// ErrFiles marks files that are no authority's.
	ErrFiles = fault.Input("unusable certificate authority")
)

// MostRequest is the largest request in bytes.
const MostRequest = 1 << 10

// skew is how far a client's clock may be behind.
const skew = 5 * time.Minute

// Authority issues certificates. It is safe for concurrent use.
type Authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	// others are the roots that overlap with it.
	others []*x509.Certificate
}

// Create makes an authority of the name, valid from now on for the time, and writes
// its certificate and its private key. Files that exist are not written over.
func Create(certPath, keyPath, name string, now time.Time, valid time.Duration) (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	t := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-skew), NotAfter: now.Add(valid),
		KeyUsage: x509.KeyUsageCertSign, BasicConstraintsValid: true, IsCA: true, MaxPathLenZero: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, t, t, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	if err := WriteKey(keyPath, key); err != nil {
		return nil, err
	}
	if err := WriteCertificates(certPath, der); err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &Authority{cert: cert, key: key}, err
}

// Open reads an authority that Create wrote. Of several certificates the first is
// the one that issues; the others are roots that overlap with it.
func Open(certPath, keyPath string) (*Authority, error) {
	certs, err := ReadCertificates(certPath)
	if err != nil {
		return nil, err
	}
	key, err := ReadKey(keyPath)
	if err != nil {
		return nil, err
	}
	if public, ok := certs[0].PublicKey.(*ecdsa.PublicKey); !ok || !public.Equal(&key.PublicKey) || !certs[0].IsCA {
		return nil, fmt.Errorf("%w: %s is not the key of the first certificate in %s", ErrFiles, keyPath, certPath)
	}
	return &Authority{certs[0], key, certs[1:]}, nil
}

// Certificate is the authority's own.
func (a *Authority) Certificate() *x509.Certificate { return a.cert }

// Subject is for whom a certificate is.
type Subject struct {
	// Role and Name are the organizational unit and the common name.
	Role, Name string
	// Hosts are the names and addresses of a server; a client has none.
	Hosts []string
}

// Issue makes a certificate for a request that [CheckRequest] finds good, valid from
// now on for the time, and not beyond the authority's own.
func (a *Authority) Issue(request []byte, s Subject, now time.Time, valid time.Duration) (*x509.Certificate, error) {
	public, err := CheckRequest(request)
	if err != nil {
		return nil, err
	}
	serial, err := newSerial()
	if err != nil {
		return nil, err
	}
	until := now.Add(valid)
	if until.After(a.cert.NotAfter) {
		until = a.cert.NotAfter
	}
	t := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{OrganizationalUnit: []string{s.Role}, CommonName: s.Name},
		NotBefore: now.Add(-skew), NotAfter: until,
		KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	if len(s.Hosts) > 0 {
		t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	}
	for _, h := range s.Hosts {
		if ip := net.ParseIP(h); ip != nil {
			t.IPAddresses = append(t.IPAddresses, ip)
		} else {
			t.DNSNames = append(t.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, t, a.cert, public, a.key)
	if err != nil {
		return nil, err
	}
	return x509.ParseCertificate(der)
}

// Issued reads a certificate, in DER, that the authority issued, or one that overlaps with
// it, whenever it ends or ended. The error wraps [ErrRequest].
func (a *Authority) Issued(der []byte) (*x509.Certificate, error) {
	c, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("%w: not a certificate in DER", ErrRequest)
	}
	for _, by := range append([]*x509.Certificate{a.cert}, a.others...) {
		if !c.IsCA && c.CheckSignatureFrom(by) == nil {
			return c, nil
		}
	}
	return nil, fmt.Errorf("%w: the certificate is not of this authority", ErrRequest)
}

// newSerial is 127 random bits, which never repeat.
func newSerial() (*big.Int, error) {
	n, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	return n.Add(n, big.NewInt(1)), nil
}

// Request is a request for a certificate of the key, which says nothing else.
func Request(key *ecdsa.PrivateKey) ([]byte, error) {
	return x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{}, key)
}

// CheckRequest holds a request, in DER, against what the authority signs: a P-256 key
// that the requester holds, and no wishes. The error wraps [ErrRequest].
func CheckRequest(der []byte) (*ecdsa.PublicKey, error) {
	if len(der) > MostRequest {
		return nil, fmt.Errorf("%w: %d bytes; want at most %d", ErrRequest, len(der), MostRequest)
	}
	r, err := x509.ParseCertificateRequest(der)
	if err != nil || !bytes.Equal(r.Raw, der) {
		return nil, fmt.Errorf("%w: not a PKCS #10 request in DER", ErrRequest)
	}
	public, ok := r.PublicKey.(*ecdsa.PublicKey)
	if !ok || public.Curve != elliptic.P256() {
		return nil, fmt.Errorf("%w: want a key of the curve P-256", ErrRequest)
	}
	if r.SignatureAlgorithm != x509.ECDSAWithSHA256 {
		return nil, fmt.Errorf("%w: want a signature by ECDSA with SHA-256", ErrRequest)
	}
	if len(r.Extensions) > 0 {
		return nil, fmt.Errorf("%w: it asks for extensions; role and name are the authority's to give", ErrRequest)
	}
	if r.CheckSignature() != nil {
		return nil, fmt.Errorf("%w: it is not signed by its own key", ErrRequest)
	}
	return public, nil
}

// NewKey draws a private key of the curve P-256.
func NewKey() (*ecdsa.PrivateKey, error) { return ecdsa.GenerateKey(elliptic.P256(), rand.Reader) }

// WriteKey writes a private key in PEM that its owner alone may read, to a name that
// is free.
func WriteKey(path string, key *ecdsa.PrivateKey) error {
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return err
	}
	return atomicfile.Create(path, 0o600, func(w io.Writer) error {
		return pem.Encode(w, &pem.Block{Type: "PRIVATE KEY", Bytes: der})
	})
}

// WriteCertificates writes certificates in PEM, to a name that is free.
func WriteCertificates(path string, ders ...[]byte) error {
	return atomicfile.Create(path, 0o644, func(w io.Writer) error { return encodeAll(w, ders) })
}

// ReplaceCertificates is WriteCertificates to a name that may be taken: whoever reads it finds
// the earlier certificates or these.
func ReplaceCertificates(path string, ders ...[]byte) error {
	return atomicfile.Write(path, 0o644, func(w io.Writer) error { return encodeAll(w, ders) })
}

func encodeAll(w io.Writer, ders [][]byte) error {
	for _, der := range ders {
		if err := pem.Encode(w, &pem.Block{Type: "CERTIFICATE", Bytes: der}); err != nil {
			return err
		}
	}
	return nil
}

// ReadKey reads a key that WriteKey wrote.
func ReadKey(path string) (*ecdsa.PrivateKey, error) {
	der, err := readPEM(path, "PRIVATE KEY")
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der[0])
	key, ok := parsed.(*ecdsa.PrivateKey)
	if err != nil || !ok || key.Curve != elliptic.P256() {
		return nil, fmt.Errorf("%w: %s: not a private key of the curve P-256", ErrFiles, path)
	}
	return key, nil
}

// ReadCertificates reads one certificate or more.
func ReadCertificates(path string) ([]*x509.Certificate, error) {
	ders, err := readPEM(path, "CERTIFICATE")
	if err != nil {
		return nil, err
	}
	var out []*x509.Certificate
	for _, der := range ders {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", ErrFiles, path, err)
		}
		out = append(out, c)
	}
	return out, nil
}

func readPEM(path, kind string) ([][]byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, errors.Join(ErrFiles, err)
	}
	var out [][]byte
	for {
		block, rest := pem.Decode(text)
		if block == nil {
			break
		}
		if block.Type != kind {
			return nil, fmt.Errorf("%w: %s: holds a %s; want %s alone", ErrFiles, path, block.Type, kind)
		}
		out, text = append(out, block.Bytes), rest
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w: %s: no %s in PEM", ErrFiles, path, kind)
	}
	return out, nil
}
