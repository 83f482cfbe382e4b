package aggregator_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	_ "modernc.org/sqlite" // the driver of the store

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/service/authority"
	"github.com/discreet-rl/discreet/internal/service/servicetest"
)

// TestWhoIsNoDevice: certificates that are none, and what renewal keeps.
func TestWhoIsNoDevice(t *testing.T) {
	w, o, ds := oneOpenRound(t, nil, 3)
	good, lost := ds[0], ds[1]
	run, round, _, err := good.follow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ca, err := authority.Open(filepath.Join(w.keysDir(), "ca.pem"), filepath.Join(w.keysDir(), "ca.key"))
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := authority.Create(filepath.Join(w.dir, "f.pem"), filepath.Join(w.dir, "f.key"), "discreet fleet", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	with := func(by *authority.Authority, role string, from time.Time) *device {
		key, csr := servicetest.Request(t)
		c, err := by.Issue(csr, authority.Subject{Role: role, Name: good.cert.Subject.CommonName}, from, time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		d := *good
		d.pair = tls.Certificate{Certificate: [][]byte{c.Raw}, PrivateKey: key}
		d.dial(t)
		return &d
	}
	body, err := good.body(round, []float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	r, err := good.request(run, round, body)
	if err != nil {
		t.Fatal(err)
	}
	for name, d := range map[string]*device{
		"expired": with(ca, aggregator.RoleDevice, time.Now().Add(-2*time.Hour)), "foreign": with(foreign, aggregator.RoleDevice, time.Now()),
		"another role": with(ca, "guest", time.Now()), "an operator": with(ca, aggregator.RoleOperator, time.Now()),
	} {
		if answer, err := d.reports.Upload(t.Context(), r); err == nil {
			t.Errorf("%s: %v", name, answer)
		}
		if answer, err := d.enrol.Renew(t.Context(), &fleetv1.RenewRequest{}); err == nil {
			t.Errorf("%s renews: %v", name, answer)
		}
	}
	if v, err := good.send(t.Context(), r); err != nil || v != fleetv1.Verdict_VERDICT_ACCEPTED {
		t.Fatalf("%v, %v", v, err)
	}

	// A new certificate, even of a new key, is not a second vote.
	key, csr := servicetest.Request(t)
	renewed, err := good.enrol.Renew(t.Context(), &fleetv1.RenewRequest{Csr: csr})
	if err != nil {
		t.Fatal(err)
	}
	good.pair = tls.Certificate{Certificate: renewed.GetChain(), PrivateKey: key}
	good.dial(t)
	other, err := good.request(run, round, flipped(body))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := good.send(t.Context(), other); err != nil || v != fleetv1.Verdict_VERDICT_SPENT {
		t.Errorf("a second body under a new certificate: %v, %v", v, err)
	}
	c, err := x509.ParseCertificate(renewed.GetChain()[0])
	if err != nil || c.Subject.CommonName != good.cert.Subject.CommonName || c.SerialNumber.Cmp(good.cert.SerialNumber) == 0 {
		t.Errorf("renewed as %v: %v", c.Subject, err)
	}
	if d := time.Until(c.NotAfter); d < 29*24*time.Hour || d > 30*24*time.Hour {
		t.Errorf("good for %v", d)
	}

	// Revoked by any of its certificates: nothing is taken, nothing renewed, at once.
	if _, err := lost.askRun(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := o.Revoke(t.Context(), &fleetv1.RevokeRequest{Serial: lost.cert.SerialNumber.Bytes()}); err != nil {
		t.Fatal(err)
	}
	if _, err := lost.reports.Upload(t.Context(), r); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("a revoked device uploads: %v", err)
	}
	var refused *connect.Error
	if _, err := lost.askRun(t.Context()); !errors.As(err, &refused) || refused.Code() != connect.CodePermissionDenied || refused.Meta().Get(service.RefusedHeader) != service.RefusedRevoked {
		t.Errorf("a revoked device asks, or does not hear why: %v", err)
	}
	if _, err := lost.enrol.Renew(t.Context(), &fleetv1.RenewRequest{Csr: csr}); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("a revoked device renews: %v", err)
	}
	if _, err := o.Revoke(t.Context(), &fleetv1.RevokeRequest{Serial: []byte{1, 2, 3}}); connect.CodeOf(err) != connect.CodeNotFound {
		t.Errorf("an unknown certificate is revoked: %v", err)
	}
	if r, err = ds[2].request(run, round, body); err != nil {
		t.Fatal(err)
	}
	if v, err := ds[2].send(t.Context(), r); err != nil || v != fleetv1.Verdict_VERDICT_ACCEPTED {
		t.Errorf("another device: %v, %v", v, err)
	}
}

// TestACodeAfterALostAnswer: the device signs its request again, with the key it kept. The
// code is that device's alone, and an operator who has nothing but the code revokes it.
func TestACodeAfterALostAnswer(t *testing.T) {
	w := newWorld(t)
	w.serve(t, w.config())
	o := w.operator(t)
	codes, err := o.CreateCodes(t.Context(), &fleetv1.CreateCodesRequest{Count: 2, ValidFor: 60_000})
	if err != nil {
		t.Fatal(err)
	}
	mine, unused := codes.GetCodes()[0], codes.GetCodes()[1]
	client := fleetv1.NewEnrolServiceClient(w.client(t, nil), w.url)
	enrol := func(key *ecdsa.PrivateKey, code string) (*fleetv1.EnrolResponse, error) {
		csr, err := authority.Request(key)
		if err != nil {
			t.Fatal(err)
		}
		return client.Enrol(t.Context(), &fleetv1.EnrolRequest{Csr: csr, Code: code})
	}
	var keys [2]*ecdsa.PrivateKey
	for i := range keys {
		if keys[i], err = authority.NewKey(); err != nil {
			t.Fatal(err)
		}
	}
	first, err := enrol(keys[0], mine)
	if err != nil {
		t.Fatal(err)
	}
	again, err := enrol(keys[0], mine)
	if err != nil {
		t.Fatalf("the same key again: %v", err)
	}
	if !bytes.Equal(first.GetPseudonymKey(), again.GetPseudonymKey()) {
		t.Error("the second answer is of another device")
	}
	if _, err := enrol(keys[1], mine); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("another key: %v", err)
	}
	for _, r := range []*fleetv1.RevokeRequest{{}, {Serial: []byte{1}, Code: mine}} {
		if _, err := o.Revoke(t.Context(), r); connect.CodeOf(err) != connect.CodeInvalidArgument {
			t.Errorf("%v: %v", r, err)
		}
	}
	if _, err := o.Revoke(t.Context(), &fleetv1.RevokeRequest{Code: "never"}); connect.CodeOf(err) != connect.CodeNotFound {
		t.Errorf("an unknown code is revoked: %v", err)
	}
	for _, code := range []string{" " + strings.ToLower(mine), unused} {
		if _, err := o.Revoke(t.Context(), &fleetv1.RevokeRequest{Code: code}); err != nil {
			t.Fatal(err)
		}
	}
	for i, answer := range []*fleetv1.EnrolResponse{first, again} {
		d := &device{w: w, pair: tls.Certificate{Certificate: answer.GetChain(), PrivateKey: keys[0]}}
		d.dial(t)
		if _, err := d.askRun(t.Context()); connect.CodeOf(err) != connect.CodePermissionDenied {
			t.Errorf("certificate %d of a revoked device: %v", i, err)
		}
	}
	for i, code := range []string{mine, unused} {
		if _, err := enrol(keys[i], code); connect.CodeOf(err) != connect.CodePermissionDenied {
			t.Errorf("code %d of a revoked device: %v", i, err)
		}
	}
}

// askRun asks for the run, and nothing else.
func (d *device) askRun(ctx context.Context) (*fleetv1.GetRunResponse, error) {
	return d.runs.GetRun(ctx, &fleetv1.GetRunRequest{})
}

// TestACodeIsGoodForOneDevice, as often as it asks.
func TestACodeIsGoodForOneDevice(t *testing.T) {
	w := newWorld(t)
	w.serve(t, w.config())
	codes, err := w.operator(t).CreateCodes(t.Context(), &fleetv1.CreateCodesRequest{Count: 1, ValidFor: 60_000})
	if err != nil {
		t.Fatal(err)
	}
	c := fleetv1.NewEnrolServiceClient(w.client(t, nil), w.url)
	csr := func() []byte {
		_, out := servicetest.Request(t)
		return out
	}
	mine, code := csr(), codes.GetCodes()[0]
	first, err := c.Enrol(t.Context(), &fleetv1.EnrolRequest{Csr: mine, Code: code})
	if err != nil {
		t.Fatal(err)
	}
	again, err := c.Enrol(t.Context(), &fleetv1.EnrolRequest{Csr: mine, Code: " " + strings.ToLower(code) + "\n"})
	if err != nil || !bytes.Equal(first.GetPseudonymKey(), again.GetPseudonymKey()) {
		t.Errorf("the lost answer is another device: %v", err)
	}
	for name, r := range map[string]*fleetv1.EnrolRequest{
		"another key": {Csr: csr(), Code: code}, "an unknown code": {Csr: mine, Code: "AAAAAAAAAAAAAAAAAAAAAAAAAA"}, "no code": {Csr: mine},
	} {
		if _, err := c.Enrol(t.Context(), r); connect.CodeOf(err) != connect.CodePermissionDenied {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := c.Enrol(t.Context(), &fleetv1.EnrolRequest{Csr: mine[1:], Code: code}); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("no request: %v", err)
	}
	if _, err := c.Renew(t.Context(), &fleetv1.RenewRequest{Csr: mine}); err == nil {
		t.Error("nobody renewed")
	}
}
