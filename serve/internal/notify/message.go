package notify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"time"
)

// limit is how long one attempt takes at most.
const limit = 10 * time.Second

// Message says that there are notices, and where to read them.
type Message struct {
	// ID is the same for each attempt to deliver a message.
	ID string
	// Dataset is its name, of lower-case letters, digits and any of "._-".
	Dataset string
	// Kinds are those of the notices.
	Kinds []string
	// Link leads to them.
	Link string
	// Again says that an earlier attempt may have been delivered.
	Again bool
}

// Channel delivers messages.
type Channel interface {
	// Send delivers a message. After an error it may have been delivered.
	Send(ctx context.Context, m Message) error
	// Test goes the way of a message, as far as it bothers nobody.
	Test(ctx context.Context) error
}

// text is a message in words.
func (m Message) text() string {
	s := fmt.Sprintf("There is a notice of kind %s for dataset %s.\nRead it at %s\n", strings.Join(m.Kinds, ", "), m.Dataset, m.Link)
	if m.Again {
		s += "This may be a repetition: whether an earlier attempt arrived is not known.\n"
	}
	return s
}

// Roots are the authorities of the system, and those of a PEM file if it has a name.
func Roots(file string) (*x509.CertPool, error) {
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // an image of the binary alone has none
	}
	if file == "" {
		return roots, nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("%s: no certificate in PEM", file)
	}
	return roots, nil
}

func tlsTo(host string, roots *x509.CertPool) *tls.Config {
	return &tls.Config{ServerName: host, RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// secret reads the one line of a file.
func secret(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	line := strings.TrimRight(string(text), "\r\n")
	for _, c := range []byte(line) {
		if c < ' ' || c == 0x7f {
			return "", fmt.Errorf("%s: want one line", file)
		}
	}
	if line == "" {
		return "", fmt.Errorf("%s: is empty", file)
	}
	return line, nil
}

// errMuch marks an answer of more than anybody needs.
var errMuch = errors.New("the answer is too long")

// bounded is a connection that reads so much and no more.
type bounded struct {
	net.Conn
	left int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errMuch
	}
	n, err := b.Conn.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
