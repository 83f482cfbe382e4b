package cli

import (
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/service/authority"
	"github.com/discreet-rl/discreet/internal/service/servicetest"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// remote knows the service by --ca alone, and shows the certificate of --cert with no token; what
// cannot be meant is refused before anything is sent.
func TestRemoteByCertificate(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	ca, err := authority.Create(at("ca.pem"), at("ca.key"), "test", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]authority.Subject{"server": {Role: "server", Name: "server", Hosts: []string{"127.0.0.1"}}, "ann": {Role: "person", Name: "ann"}} {
		key, csr := servicetest.Request(t)
		c, err := ca.Issue(csr, of, time.Now(), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(authority.WriteKey(at(name+".key"), key), authority.WriteCertificates(at(name+".pem"), c.Raw)); err != nil {
			t.Fatal(err)
		}
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan string, 10)
	mux := http.NewServeMux()
	mux.HandleFunc("POST "+curatorv1.CuratorServiceListDatasetsProcedure, func(w http.ResponseWriter, r *http.Request) {
		id, _ := service.FromCertificate(r)
		seen <- id.Name + "|" + r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "application/proto")
	})
	server := &http.Server{Handler: mux, TLSConfig: &tls.Config{MinVersion: tls.VersionTLS13, ClientCAs: servicetest.Roots(t, at("ca.pem")), ClientAuth: tls.VerifyClientCertIfGiven}}
	go func() { _ = server.ServeTLS(listener, at("server.pem"), at("server.key")) }()
	t.Cleanup(func() { server.Close() })
	t.Setenv(tokenVariable, "discreet_x")

	address := "--server=https://" + listener.Addr().String()
	fleetRuns(t, 0, "remote", "datasets", address, "--ca", at("ca.pem"))
	if got := <-seen; got != "|Bearer discreet_x" {
		t.Errorf("with a token: %q", got)
	}
	fleetRuns(t, 0, "remote", "datasets", address, "--ca", at("ca.pem"), "--cert", at("ann.pem"), "--key", at("ann.key"))
	if got := <-seen; got != "ann|" {
		t.Errorf("with a certificate: %q", got)
	}

	if err := os.WriteFile(at("open.key"), []byte(textOf(t, at("ann.key"))), 0o644); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"go together":           {address, "--cert", at("ann.pem")},
		"go  together":          {address, "--key", at("ann.key")},
		"two ways":              {address, "--cert", at("ann.pem"), "--key", at("ann.key"), "--token-file", at("ann.key")},
		"need https":            {"--server=http://" + listener.Addr().String(), "--ca", at("ca.pem")},
		"can be read by others": {address, "--cert", at("ann.pem"), "--key", at("open.key")},
		"has no certificate":    {address, "--ca", at("ann.key")},
		"--cert and --key: ":    {address, "--cert", at("ann.pem"), "--key", at("server.key")},
	} {
		if got := fleetRuns(t, 2, append([]string{"remote", "datasets"}, args...)...); !strings.Contains(got, strings.ReplaceAll(want, "  ", " ")) {
			t.Errorf("%v: %s; want %q", args, got, want)
		}
	}
	if got := fleetRuns(t, 1, "remote", "datasets", address); !strings.Contains(got, "certificate") {
		t.Errorf("by the system's authorities: %s", got)
	}
	if len(seen) != 0 {
		t.Errorf("what was refused was sent: %q", <-seen)
	}
}
