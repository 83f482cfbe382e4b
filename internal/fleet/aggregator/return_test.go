package aggregator_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"path/filepath"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/internal/service/authority"
	"github.com/discreet-rl/discreet/internal/service/servicetest"
)

// returning is a request to come back, by the certificate and its key.
func returning(t *testing.T, code string, certificate []byte, key *ecdsa.PrivateKey) (*fleetv1.EnrolRequest, *ecdsa.PrivateKey) {
	t.Helper()
	next, csr := servicetest.Request(t)
	digest := fleet.ReturnDigest(csr, code)
	proof, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return &fleetv1.EnrolRequest{Csr: csr, Code: code, Previous: certificate, Proof: proof}, next
}

// TestADeviceComesBackAsWhoItWas, by a new code and the key of a certificate that has ended: it has no second vote, and what
// is no proof brings nobody back and spends no code.
func TestADeviceComesBackAsWhoItWas(t *testing.T) {
	w, o, ds := oneOpenRound(t, nil, 2)
	d, revoked := ds[0], ds[1]
	run, round, _, err := d.follow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	body := d.report(t, run, round, []float64{1, 2, 3})
	ca, err := authority.Open(filepath.Join(w.keysDir(), "ca.pem"), filepath.Join(w.keysDir(), "ca.key"))
	if err != nil {
		t.Fatal(err)
	}
	foreign, err := authority.Create(filepath.Join(w.dir, "f.pem"), filepath.Join(w.dir, "f.key"), "discreet fleet", time.Now(), time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	ended := func(by *authority.Authority, role, name string) ([]byte, *ecdsa.PrivateKey) {
		key, csr := servicetest.Request(t)
		c, err := by.Issue(csr, authority.Subject{Role: role, Name: name}, time.Now().Add(-50*24*time.Hour), time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		return c.Raw, key
	}
	name := d.cert.Subject.CommonName
	last, key := ended(ca, aggregator.RoleDevice, name)
	codes, err := o.CreateCodes(t.Context(), &fleetv1.CreateCodesRequest{Count: 2, ValidFor: 600_000})
	if err != nil {
		t.Fatal(err)
	}
	code, spare := codes.GetCodes()[0], codes.GetCodes()[1]
	client := fleetv1.NewEnrolServiceClient(w.client(t, nil), w.url)

	good, next := returning(t, code, last, key)
	_, other := ended(ca, aggregator.RoleDevice, name)
	another, _ := returning(t, code, last, other)
	spared, _ := returning(t, spare, last, key)
	byForeign, foreignKey := ended(foreign, aggregator.RoleDevice, name)
	byOperator, operatorKey := ended(ca, aggregator.RoleOperator, name)
	f, _ := returning(t, code, byForeign, foreignKey)
	op, _ := returning(t, code, byOperator, operatorKey)
	authorities, _ := returning(t, code, ca.Certificate().Raw, key)
	for what, r := range map[string]*fleetv1.EnrolRequest{
		"another key": another, "a foreign authority": f, "an operator": op, "the authority itself": authorities,
		"no proof":         {Csr: good.GetCsr(), Code: code, Previous: last},
		"another code":     {Csr: good.GetCsr(), Code: spare, Previous: last, Proof: good.GetProof()},
		"another request":  {Csr: spared.GetCsr(), Code: code, Previous: last, Proof: good.GetProof()},
		"no certificate":   {Csr: good.GetCsr(), Code: code, Previous: []byte("x"), Proof: good.GetProof()},
		"half certificate": {Csr: good.GetCsr(), Code: code, Previous: last[:40], Proof: good.GetProof()},
	} {
		if answer, err := client.Enrol(t.Context(), r); connect.CodeOf(err) != connect.CodeInvalidArgument {
			t.Errorf("%s: %v, %v", what, answer, err)
		}
	}

	for again := range 2 { // an answer may be lost
		answer, err := client.Enrol(t.Context(), good)
		if err != nil {
			t.Fatal(err)
		}
		c, err := x509.ParseCertificate(answer.GetChain()[0])
		if err != nil || c.Subject.CommonName != name || !bytes.Equal(answer.GetPseudonymKey(), d.pseudonym[:]) || time.Until(c.NotAfter) < time.Hour {
			t.Fatalf("answer %d is of %v, until %v: %v", again, c.Subject, c.NotAfter, err)
		}
		d.pair = tls.Certificate{Certificate: answer.GetChain(), PrivateKey: next}
	}
	d.dial(t)
	second, err := d.request(run, round, flipped(body))
	if err != nil {
		t.Fatal(err)
	}
	if v, err := d.send(t.Context(), second); err != nil || v != fleetv1.Verdict_VERDICT_SPENT {
		t.Errorf("a second body of the one that came back: %v, %v", v, err)
	}
	csr, _ := returning(t, "", nil, next)
	if _, err := d.enrol.Renew(t.Context(), &fleetv1.RenewRequest{Csr: csr.GetCsr()}); err != nil {
		t.Errorf("it cannot renew: %v", err)
	}

	// The code that brought it back revokes it, and what is revoked does not come back.
	if _, err := o.Revoke(t.Context(), &fleetv1.RevokeRequest{Code: code}); err != nil {
		t.Fatal(err)
	}
	if _, err := d.askRun(t.Context()); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("revoked by the code that brought it back: %v", err)
	}
	if _, err := o.Revoke(t.Context(), &fleetv1.RevokeRequest{Serial: revoked.cert.SerialNumber.Bytes()}); err != nil {
		t.Fatal(err)
	}
	out, outKey := ended(ca, aggregator.RoleDevice, revoked.cert.Subject.CommonName)
	for what, r := range map[string]struct {
		certificate []byte
		key         *ecdsa.PrivateKey
	}{"by its code": {last, key}, "by its certificate": {out, outKey}} {
		back, _ := returning(t, spare, r.certificate, r.key)
		if _, err := client.Enrol(t.Context(), back); connect.CodeOf(err) != connect.CodePermissionDenied {
			t.Errorf("a device that was revoked %s comes back: %v", what, err)
		}
	}
}

// TestAServerSaysWhereItsChainEnds, so that a device finds that its store was put back.
func TestAServerSaysWhereItsChainEnds(t *testing.T) {
	w, o, ds := oneOpenRound(t, nil, 1)
	if _, err := o.CloseRound(t.Context(), &fleetv1.CloseRoundRequest{Round: 1}); err != nil {
		t.Fatal(err)
	}
	w.await(t, o, 1)
	openRound(t, o, nil)
	all, err := ds[0].runs.GetRound(t.Context(), &fleetv1.GetRoundRequest{})
	if err != nil || len(all.GetSpecs()) != 2 {
		t.Fatal(all, err)
	}
	for after := range uint64(4) {
		answer, err := ds[0].runs.GetRound(t.Context(), &fleetv1.GetRoundRequest{After: after})
		if err != nil {
			t.Fatal(err)
		}
		var want []byte
		if after == 1 || after == 2 {
			hash := fleet.HashOf(all.GetSpecs()[after-1])
			want = hash[:]
		}
		if answer.Last == nil || answer.GetLast() != 2 || !bytes.Equal(answer.GetAfterSha256(), want) {
			t.Errorf("after round %d: last %v, hash %x; want 2, %x", after, answer.GetLast(), answer.GetAfterSha256(), want)
		}
	}
}

// TestCertificatesOfADeviceAreBounded, by whatever way it asks for them.
func TestCertificatesOfADeviceAreBounded(t *testing.T) {
	_, _, ds := oneOpenRound(t, nil, 2)
	renew := func(d *device) error {
		r, _ := returning(t, "", nil, d.pair.PrivateKey.(*ecdsa.PrivateKey))
		_, err := d.enrol.Renew(t.Context(), &fleetv1.RenewRequest{Csr: r.GetCsr()})
		return err
	}
	for n := range 31 {
		if err := renew(ds[0]); err != nil {
			t.Fatalf("renewal %d: %v", n, err)
		}
	}
	if err := renew(ds[0]); connect.CodeOf(err) != connect.CodeResourceExhausted {
		t.Errorf("certificate 33: %v", err)
	}
	if err := renew(ds[1]); err != nil {
		t.Errorf("another device: %v", err)
	}
}
