package service

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"math/big"
	"net/http"
)

// Serial tells certificates apart without naming anybody: SHA-256 of the issuer's
// public key identifier and the serial number.
type Serial [sha256.Size]byte

// String is the serial in hexadecimal.
func (s Serial) String() string { return hex.EncodeToString(s[:]) }

// Identity is who asks.
type Identity struct {
	// Role decides what they may do; Name is unique within a service.
	Role, Name string
	// Serial is that of the certificate which said so, zero where there was none.
	Serial Serial
}

type identityKey struct{}

// WithIdentity is ctx with the identity of who asks.
func WithIdentity(ctx context.Context, id Identity) context.Context {
	return context.WithValue(ctx, identityKey{}, id)
}

// IdentityOf is who asks in a handler's context; false where nobody was identified.
func IdentityOf(ctx context.Context) (Identity, bool) {
	id, ok := ctx.Value(identityKey{}).(Identity)
	return id, ok
}

// CertificateIdentity is what a certificate of package authority says: the role is
// the organizational unit, the name the common name.
func CertificateIdentity(c *x509.Certificate) (Identity, bool) {
	if len(c.Subject.OrganizationalUnit) != 1 || c.Subject.CommonName == "" {
		return Identity{}, false
	}
	return Identity{Role: c.Subject.OrganizationalUnit[0], Name: c.Subject.CommonName, Serial: SerialOf(c)}, true
}

// SerialOf is the serial of a certificate.
func SerialOf(c *x509.Certificate) Serial { return SerialNumber(c.AuthorityKeyId, c.SerialNumber) }

// SerialNumber is that of the certificate with the number, of the authority with the key
// identifier.
func SerialNumber(authority []byte, number *big.Int) Serial {
	h := sha256.New()
	h.Write([]byte("discreet certificate 1\x00"))
	h.Write([]byte{byte(len(authority))})
	h.Write(authority)
	h.Write(number.Bytes())
	return Serial(h.Sum(nil))
}

// FromCertificate identifies who asks by the certificate that the TLS handshake
// verified. The error is [ErrAnonymous].
func FromCertificate(r *http.Request) (Identity, error) {
	if r.TLS == nil || len(r.TLS.VerifiedChains) == 0 {
		return Identity{}, ErrAnonymous
	}
	id, ok := CertificateIdentity(r.TLS.VerifiedChains[0][0])
	if !ok {
		return Identity{}, ErrAnonymous
	}
	return id, nil
}
