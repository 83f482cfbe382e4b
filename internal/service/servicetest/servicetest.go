// Package servicetest holds what tests of several network services need: a log that may be read
// while it is written, requests for certificates, and clients that show one.
//
// Start with [Client].
package servicetest

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/service/authority"
)

// Log is a writer for several goroutines.
type Log struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write implements [io.Writer].
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// String is what was written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// Request is a new key, and what asks for a certificate of it.
func Request(t testing.TB) (*ecdsa.PrivateKey, []byte) {
	t.Helper()
	key, err := authority.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	csr, err := authority.Request(key)
	if err != nil {
		t.Fatal(err)
	}
	return key, csr
}

// Roots are the certificates of a file, by which a client knows servers.
func Roots(t testing.TB, file string) *x509.CertPool {
	t.Helper()
	certificates, err := authority.ReadCertificates(file)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	for _, c := range certificates {
		roots.AddCert(c)
	}
	return roots
}

// Pair is the certificate of the files.
func Pair(t testing.TB, certificate, key string) *tls.Certificate {
	t.Helper()
	pair, err := tls.LoadX509KeyPair(certificate, key)
	if err != nil {
		t.Fatal(err)
	}
	return &pair
}

// Client speaks TLS 1.3 with the certificate, or with none, until the test ends.
func Client(t testing.TB, roots *x509.CertPool, pair *tls.Certificate) *http.Client {
	t.Helper()
	c := &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS13}
	if pair != nil {
		c.Certificates = []tls.Certificate{*pair}
	}
	transport := &http.Transport{TLSClientConfig: c, ForceAttemptHTTP2: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: 20 * time.Second}
}
