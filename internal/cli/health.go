package cli

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// newHealth is for images that hold nothing but the program, and so no curl.
func newHealth() *cobra.Command {
	var certificate string
	var patience time.Duration
	cmd := command("health ADDRESS", "Ask a service whether it can serve; exit code 0 if so and 1 if not",
		`Asks /readyz of a service (discreet serve, discreet fleet serve), such as
https://127.0.0.1:8420. With --certificate the service has to show the first
certificate of that file, under whatever name; without, one by the system's authorities.
For checks of containers: HEALTHCHECK CMD ["/discreet", "health", ...].`, exactly(1, "the address of a service"),
		func(cmd *cobra.Command, args []string) error {
			u, err := url.Parse(args[0])
			if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
				return usage(fmt.Errorf("health: the address is %q; want one such as https://127.0.0.1:8420", args[0]))
			}
			c := &tls.Config{MinVersion: tls.VersionTLS12}
			if certificate != "" {
				if u.Scheme != "https" {
					return usage(fmt.Errorf("health: --certificate needs https, and the address is %q", args[0]))
				}
				if c, err = pinned(certificate); err != nil {
					return err
				}
			}
			ctx, cancel := context.WithTimeout(cmd.Context(), patience)
			defer cancel()
			return ready(ctx, &http.Transport{TLSClientConfig: c}, strings.TrimSuffix(args[0], "/")+"/readyz")
		})
	cmd.Flags().StringVar(&certificate, "certificate", "", "PEM file that begins with the service's certificate")
	cmd.Flags().DurationVar(&patience, "patience", 5*time.Second, "how long the answer is waited for")
	return cmd
}

// pinned trusts the first certificate of a file and no other: the address of a check is of
// loopback, which certificates do not name.
func pinned(path string) (*tls.Config, error) {
	text, err := readNamed(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil || block.Type != "CERTIFICATE" {
		return nil, usage(fmt.Errorf("health: --certificate %s does not begin with a certificate; want PEM", path))
	}
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // in place of names and authorities:
		VerifyConnection: func(s tls.ConnectionState) error {
			if shown := s.PeerCertificates[0]; !bytes.Equal(shown.Raw, block.Bytes) {
				return errors.New("the service shows another certificate than --certificate")
			} else if now := time.Now(); now.After(shown.NotAfter) || now.Before(shown.NotBefore) {
				return x509.CertificateInvalidError{Cert: shown, Reason: x509.Expired}
			}
			return nil
		},
	}, nil
}

// ready asks once.
func ready(ctx context.Context, t *http.Transport, address string) error {
	defer t.CloseIdleConnections()
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return usage(err)
	}
	answer, err := t.RoundTrip(q) // which follows no redirection, and asks no proxy
	if err != nil {
		return fmt.Errorf("health: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(io.LimitReader(answer.Body, 200))
		return fmt.Errorf("health: %s: %s", answer.Status, printable(strings.TrimSpace(string(text))))
	}
	return nil
}
