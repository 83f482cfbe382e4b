package service

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io/fs"
	"os"
	"sync"
	"time"
)

// TLS names the PEM files of a server. They are read again when they change, so
// that a certificate is renewed, and roots are exchanged, while the service runs.
type TLS struct {
	// Certificate is the server's chain and Key its private key.
	Certificate, Key string
	// ClientRoots are the authorities whose certificates clients may show; without
	// them no client is identified by a certificate.
	ClientRoots string
}

// reloadEvery is how often the files are looked at.
const reloadEvery = time.Second

// keeper holds the TLS settings that the files last made.
type keeper struct {
	files TLS
	now   func() time.Time
	every time.Duration // between looks at the files
	// protocols are offered, in the order of preference.
	protocols []string

	mu     sync.Mutex
	looked time.Time
	seen   [3]stamp
	made   *tls.Config
	told   func(error)
}

type stamp struct {
	at   time.Time
	size int64
}

func newKeeper(t TLS, oneRequest bool, told func(error)) (*keeper, error) {
	k := &keeper{files: t, protocols: []string{"h2", "http/1.1"}, now: time.Now, every: reloadEvery, told: told}
	if oneRequest {
		k.protocols = k.protocols[1:]
	}
	seen, err := k.stamps()
	if err != nil {
		return nil, err
	}
	if k.made, err = t.config(k.protocols); err != nil {
		return nil, err
	}
	k.seen, k.looked = seen, k.now()
	return k, nil
}

func (k *keeper) stamps() (out [3]stamp, err error) {
	for i, name := range []string{k.files.Certificate, k.files.Key, k.files.ClientRoots} {
		if name == "" {
			continue
		}
		var info fs.FileInfo
		if info, err = os.Stat(name); err != nil {
			return out, fmt.Errorf("%w: tls: %w", ErrConfig, err)
		}
		out[i] = stamp{info.ModTime(), info.Size()}
	}
	return out, nil
}

// config is what the files say now. A file that cannot be used is told of, and
// what was read before stays in force.
func (k *keeper) config(*tls.ClientHelloInfo) (*tls.Config, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.now().Sub(k.looked) < k.every {
		return k.made, nil
	}
	k.looked = k.now()
	seen, err := k.stamps()
	if err == nil && seen == k.seen {
		return k.made, nil
	}
	var fresh *tls.Config
	if err == nil {
		fresh, err = k.files.config(k.protocols)
	}
	if err != nil {
		k.told(err)
		return k.made, nil
	}
	k.made, k.seen = fresh, seen
	return k.made, nil
}

// ends is when the certificate ends that is shown.
func (k *keeper) ends() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.made.Certificates[0].Leaf.NotAfter
}

// config reads the files.
func (t TLS) config(protocols []string) (*tls.Config, error) {
	pair, err := tls.LoadX509KeyPair(t.Certificate, t.Key)
	if err != nil {
		return nil, fmt.Errorf("%w: tls: %w", ErrConfig, err)
	}
	c := base()
	c.NextProtos = protocols
	c.Certificates = []tls.Certificate{pair}
	if t.ClientRoots != "" {
		if c.ClientCAs, err = readRoots(t.ClientRoots); err != nil {
			return nil, err
		}
		// Enrolment comes before the first certificate: each route says whom it serves.
		c.ClientAuth = tls.VerifyClientCertIfGiven
	}
	return c, nil
}

// base is what every connection keeps to, on both sides: TLS 1.3, and a full
// handshake each time, in which certificates are held against the clock.
func base() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS13, SessionTicketsDisabled: true}
}

// ClientTLS is for clients that know the server by the authorities in the file
// roots and show a certificate, unless that is empty.
func ClientTLS(roots, certificate, key string) (*tls.Config, error) {
	pool, err := readRoots(roots)
	if err != nil {
		return nil, err
	}
	c := base()
	c.RootCAs = pool
	if certificate != "" {
		pair, err := tls.LoadX509KeyPair(certificate, key)
		if err != nil {
			return nil, fmt.Errorf("%w: tls: %w", ErrConfig, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

func readRoots(name string) (*x509.CertPool, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("%w: tls: %w", ErrConfig, err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%w: tls: %s: no certificate in it; want PEM", ErrConfig, name)
	}
	return pool, nil
}
