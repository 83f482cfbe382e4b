package device

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/service/authority"
)

// Enrol makes the device one of the fleet by a code that its operator gave out; it does nothing for a device that is enrolled. One
// whose certificate has ended, because it was away for too long, comes back with a new code: it stays who it was, with its wallet,
// its rounds and its pseudonym. A server that does not answer, or asks to come later, is asked again until ctx ends. Enrol may be
// called again after any failure: the key stays, and with it the code's answer.
func (a *Agent) Enrol(ctx context.Context, enrol fleetv1.EnrolServiceClient, code string) error {
	for failures := 0; ; failures++ {
		err := a.enrol(ctx, enrol, code)
		if err == nil || ctx.Err() != nil || !later(err) {
			return err
		}
		wait := backOff(failures, a.cfg.BackOff, a.cfg.MostBackOff, err)
		a.cfg.Log.Warn("not now", "what", "enrolment", "code", connect.CodeOf(err).String(), "why", publicly(err), "wait", wait.Seconds())
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-time.After(wait):
		}
	}
}

// later tells of an error of the server that it may be gone later.
func later(err error) bool {
	switch connect.CodeOf(err) {
	case connect.CodeUnavailable, connect.CodeResourceExhausted, connect.CodeDeadlineExceeded, connect.CodeAborted:
		var remote *connect.Error
		var foreign *tls.CertificateVerificationError // of a server that is none of the device's authorities'
		return errors.As(err, &remote) && !errors.As(err, &foreign)
	}
	return false
}

func (a *Agent) enrol(ctx context.Context, enrol fleetv1.EnrolServiceClient, code string) error {
	if c := a.certificate.Load(); c != nil {
		if err := inTime(c); err != nil {
			return a.comeBack(ctx, enrol, code, err)
		}
		return nil
	}
	if code == "" {
		return fmt.Errorf("%w: the device has no certificate; give it a code for its enrolment", ErrIdentity)
	}
	id, err := a.store.identity(ctx)
	if err != nil {
		return err
	}
	if id == nil {
		if id, err = a.newIdentity(ctx); err != nil {
			return err
		}
	}
	key, request, err := requestOf(id.key)
	if err != nil {
		return err
	}
	answer, err := enrol.Enrol(ctx, &fleetv1.EnrolRequest{Csr: request, Code: code})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrIdentity, err)
	}
	chain, err := chainOf(answer.GetChain(), key)
	if err != nil {
		return err
	}
	if len(answer.GetPseudonymKey()) != 32 {
		return fmt.Errorf("%w: the server gave a pseudonym key of %d bytes; want 32", ErrIdentity, len(answer.GetPseudonymKey()))
	}
	if err := a.store.enrolled(ctx, chain, answer.GetPseudonymKey()); err != nil {
		return err
	}
	return a.load(ctx)
}

// inTime tells whether a certificate has not ended.
func inTime(c *tls.Certificate) error {
	if now := time.Now(); !now.Before(c.Leaf.NotAfter) {
		return fmt.Errorf("%w: the device's certificate ended at %s, and its clock says %s; ask the operator for a new code: wallet and rounds stay, and the device stays who it was",
			ErrExpired, c.Leaf.NotAfter.UTC().Format(time.RFC3339), now.UTC().Format(time.RFC3339))
	}
	return nil
}

// comeBack gets a certificate for a device whose last one has ended: a new code says that the operator wants it back, and the key
// of the last certificate that it is the same device.
func (a *Agent) comeBack(ctx context.Context, enrol fleetv1.EnrolServiceClient, code string, ended error) error {
	if code == "" {
		return ended
	}
	id, err := a.store.identity(ctx)
	if err != nil {
		return err
	}
	key, request, err := a.nextKey(ctx, id)
	if err != nil {
		return err
	}
	last, err := a.Certificate()
	if err != nil {
		return err
	}
	digest := fleet.ReturnDigest(request, code)
	proof, err := last.PrivateKey.(*ecdsa.PrivateKey).Sign(rand.Reader, digest[:], crypto.SHA256)
	if err != nil {
		return err
	}
	answer, err := enrol.Enrol(ctx, &fleetv1.EnrolRequest{Csr: request, Code: code, Previous: last.Certificate[0], Proof: proof})
	if err != nil {
		return fmt.Errorf("%w; with the code that it has: %w", ended, err)
	}
	chain, err := chainOf(answer.GetChain(), key)
	if err != nil {
		return err
	}
	if !bytes.Equal(answer.GetPseudonymKey(), id.pseudonym) {
		return fmt.Errorf("%w: the server takes the device for another one; a report of a round that was paid for could count twice", ErrIdentity)
	}
	if err := a.store.renewed(ctx, chain); err != nil {
		return err
	}
	return a.load(ctx)
}

// nextKey is the key of the next certificate, with a request for it: kept before it is asked for, and the same until there is an
// answer.
func (a *Agent) nextKey(ctx context.Context, id *identity) (key *ecdsa.PrivateKey, request []byte, err error) {
	if id.nextKey == nil {
		if id.nextKey, err = newKey(); err != nil {
			return nil, nil, err
		}
		if err := a.store.renewing(ctx, id.nextKey); err != nil {
			return nil, nil, err
		}
	}
	return requestOf(id.nextKey)
}

// newIdentity draws a key and keeps it.
func (a *Agent) newIdentity(ctx context.Context) (*identity, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	return &identity{key: key}, a.store.newKey(ctx, key, a.machine)
}

func newKey() ([]byte, error) {
	key, err := authority.NewKey()
	if err != nil {
		return nil, err
	}
	return x509.MarshalPKCS8PrivateKey(key)
}

// requestOf reads a key and makes the certificate request for it.
func requestOf(data []byte) (*ecdsa.PrivateKey, []byte, error) {
	key, err := x509.ParsePKCS8PrivateKey(data)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: the device's key cannot be read: %w", ErrIdentity, err)
	}
	private, ok := key.(*ecdsa.PrivateKey)
	if !ok {
		return nil, nil, fmt.Errorf("%w: the device's key is a %T", ErrIdentity, key)
	}
	request, err := authority.Request(private)
	return private, request, err
}

// chainOf holds a chain against the key that it is for.
func chainOf(ders [][]byte, key *ecdsa.PrivateKey) ([]byte, error) {
	var all []byte
	for i, der := range ders {
		c, err := x509.ParseCertificate(der)
		if err != nil {
			return nil, fmt.Errorf("%w: certificate %d of the server's answer: %w", ErrIdentity, i, err)
		}
		if i == 0 && !key.PublicKey.Equal(c.PublicKey) {
			return nil, fmt.Errorf("%w: the certificate is for another key", ErrIdentity)
		}
		all = append(all, der...)
	}
	if len(ders) == 0 {
		return nil, fmt.Errorf("%w: the server gave no certificate", ErrIdentity)
	}
	return all, nil
}

// load reads the identity from the store, if there is one.
func (a *Agent) load(ctx context.Context) error {
	id, err := a.store.identity(ctx)
	if err != nil || id == nil || id.chain == nil {
		return err
	}
	chain, err := x509.ParseCertificates(id.chain)
	if err != nil || len(chain) == 0 {
		return fmt.Errorf("%w: the device's certificate cannot be read: %v", ErrIdentity, err)
	}
	key, _, err := requestOf(id.key)
	if err != nil {
		return err
	}
	c := &tls.Certificate{PrivateKey: key, Leaf: chain[0]}
	for _, one := range chain {
		c.Certificate = append(c.Certificate, one.Raw)
	}
	copy(a.pseudonym[:], id.pseudonym)
	a.certificate.Store(c)
	return nil
}

// Certificate is what the device shows; the error is [ErrIdentity] until it is enrolled.
func (a *Agent) Certificate() (*tls.Certificate, error) {
	if c := a.certificate.Load(); c != nil {
		return c, nil
	}
	return nil, fmt.Errorf("%w: the device has no certificate", ErrIdentity)
}

// renew replaces a certificate of whose time less than a third is left. One that has ended is [ErrExpired].
func (a *Agent) renew(ctx context.Context, s Services) error {
	c, err := a.Certificate()
	if err != nil {
		return err
	}
	if err := inTime(c); err != nil {
		return err
	}
	if left := time.Until(c.Leaf.NotAfter); left > c.Leaf.NotAfter.Sub(c.Leaf.NotBefore)/3 {
		return nil
	}
	id, err := a.store.identity(ctx)
	if err != nil {
		return err
	}
	key, request, err := a.nextKey(ctx, id)
	if err != nil {
		return err
	}
	answer, err := s.Enrol.Renew(ctx, &fleetv1.RenewRequest{Csr: request})
	if err != nil {
		return errors.Join(ErrIdentity, err)
	}
	chain, err := chainOf(answer.GetChain(), key)
	if err != nil {
		return err
	}
	if err := a.store.renewed(ctx, chain); err != nil {
		return err
	}
	if err := a.load(ctx); err != nil {
		return err
	}
	if s.Forget != nil {
		s.Forget()
	}
	return nil
}
