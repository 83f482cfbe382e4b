package notify

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/smtp"
	"os"
	"strings"
	"time"
)

// Security is how a connection to a mail server is protected.
type Security string

// The ways. Plain is for loopback alone.
const (
	StartTLS Security = "starttls"
	Implicit Security = "implicit"
	Plain    Security = "none"
)

// longestTalk is how much of a mail server's side is read, its certificates included.
const longestTalk = 256 << 10

// Mail delivers messages to one address by SMTP.
type Mail struct {
	// Server is host:port.
	Server   string
	Security Security
	// From and To are addresses alone, without names.
	From, To string
	// User and Password, a file, are sent over TLS or loopback; empty for none.
	User, Password string
	// Roots are the authorities of the server.
	Roots *x509.CertPool
	// Now is the time in the head of a mail.
	Now func() time.Time
}

// Send delivers a mail.
func (m Mail) Send(ctx context.Context, message Message) error {
	return m.talk(ctx, func(c *smtp.Client) error {
		w, err := c.Data()
		if err != nil {
			return err
		}
		_, err = w.Write(m.letter(message))
		return errors.Join(err, w.Close())
	})
}

// Test goes as far as the recipient, and sends nothing.
func (m Mail) Test(ctx context.Context) error {
	return m.talk(ctx, func(c *smtp.Client) error { return c.Reset() })
}

// talk agrees with the server on sender and recipient, and goes on from there.
func (m Mail) talk(ctx context.Context, on func(*smtp.Client) error) (err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	host, _, err := net.SplitHostPort(m.Server)
	if err != nil {
		return err
	}
	raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", m.Server)
	if err != nil {
		return err
	}
	defer raw.Close() // whatever became of the talk
	if end, ok := ctx.Deadline(); ok {
		if err := raw.SetDeadline(end); err != nil {
			return err
		}
	}
	defer context.AfterFunc(ctx, func() { _ = raw.Close() })()
	var conn net.Conn = &bounded{raw, longestTalk}
	if m.Security == Implicit {
		conn = tls.Client(conn, tlsTo(host, m.Roots))
	}
	c, err := smtp.NewClient(conn, host)
	if err != nil {
		return err
	}
	if name, err := os.Hostname(); err == nil && hostName(name) {
		if err := c.Hello(name); err != nil {
			return err
		}
	}
	if m.Security == StartTLS {
		if err := c.StartTLS(tlsTo(host, m.Roots)); err != nil {
			return fmt.Errorf("%s does not go on over TLS, and without it nothing is sent: %w", m.Server, err)
		}
	}
	if m.User != "" {
		password, err := secret(m.Password)
		if err != nil {
			return err
		}
		if err := c.Auth(smtp.PlainAuth("", m.User, password, host)); err != nil {
			return err
		}
	}
	if err := c.Mail(m.From); err != nil {
		return err
	}
	if err := c.Rcpt(m.To); err != nil {
		return err
	}
	if err := on(c); err != nil {
		return err
	}
	_ = c.Quit() // what was accepted is delivered, whether or not the server says goodbye
	return nil
}

// letter is a mail with its head.
func (m Mail) letter(message Message) []byte {
	_, domain, _ := strings.Cut(m.From, "@")
	var b strings.Builder
	for _, line := range []string{
		"From: <" + m.From + ">", "To: <" + m.To + ">", "Date: " + m.Now().Format(time.RFC1123Z),
		"Message-ID: <" + message.ID + "@" + domain + ">", "Subject: discreet: notice for dataset " + message.Dataset,
		"Auto-Submitted: auto-generated", "MIME-Version: 1.0", "Content-Type: text/plain; charset=utf-8", "",
	} {
		b.WriteString(strings.NewReplacer("\r", "", "\n", "").Replace(line) + "\r\n")
	}
	return []byte(b.String() + strings.ReplaceAll(message.text(), "\n", "\r\n"))
}

// hostName tells a name that may stand in a greeting.
func hostName(s string) bool {
	return s != "" && strings.Trim(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") == ""
}
