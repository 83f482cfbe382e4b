package aggregator_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	_ "modernc.org/sqlite" // the driver of the store

	"github.com/discreet-rl/discreet/fleet"
	"github.com/discreet-rl/discreet/fleet/aggregator"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/service/authority"
	"github.com/discreet-rl/discreet/train"
)

// oneOpenRound is a world with a server, a run of three weights, so many devices and a
// round that is open.
func oneOpenRound(t *testing.T, c func(*aggregator.Config), devices int) (*world, fleetv1.OperatorServiceClient, []*device) {
	t.Helper()
	w := newWorld(t)
	cfg := w.config()
	if c != nil {
		c(&cfg)
	}
	w.serve(t, cfg)
	o := w.operator(t)
	w.create(t, w.spec(3, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}), "", 0)
	openRound(t, o, nil)
	return w, o, w.enrol(t, devices)
}

// TestOneOfManyBodiesCounts: 64 requests race with two bodies on one device's place.
func TestOneOfManyBodiesCounts(t *testing.T) {
	w, o, ds := oneOpenRound(t, nil, 1)
	d := ds[0]
	run, round, _, err := d.follow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var bodies [2][]byte
	for bodies[1] == nil || bytes.Equal(bodies[0], bodies[1]) {
		bodies[0] = bodies[1]
		if bodies[1], err = d.body(round, []float64{1, -2, 3}); err != nil {
			t.Fatal(err)
		}
	}
	if bodies[0] == nil {
		bodies[0] = slices.Clone(bodies[1])
		bodies[0][len(bodies[0])-1] ^= 1
	}
	var mu sync.Mutex
	count := map[int]map[fleetv1.Verdict]int{0: {}, 1: {}}
	var wg sync.WaitGroup
	for n := range 64 {
		r, err := d.request(run, round, bodies[n%2])
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			v, err := d.send(context.Background(), r)
			if err != nil {
				t.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			count[n%2][v]++
		})
	}
	wg.Wait()
	won := 0
	if count[1][fleetv1.Verdict_VERDICT_ACCEPTED] == 1 {
		won = 1
	}
	if count[won][fleetv1.Verdict_VERDICT_ACCEPTED] != 1 || count[won][fleetv1.Verdict_VERDICT_DUPLICATE] != 31 || count[1-won][fleetv1.Verdict_VERDICT_SPENT] != 32 {
		t.Errorf("verdicts are %v", count)
	}
	if closed, err := o.CloseRound(t.Context(), &fleetv1.CloseRoundRequest{Round: 1}); err != nil {
		t.Error(err)
	} else if s := w.await(t, o, 1); s.GetAccepted() != 1 {
		t.Errorf("%v counts %d reports", closed, s.GetAccepted())
	}
}

// TestWhatIsWrongWithAReport: each fault has its verdict, and the good report is
// accepted after all of them.
func TestWhatIsWrongWithAReport(t *testing.T) {
	w, o, ds := oneOpenRound(t, nil, 2)
	d := ds[0]
	run, round, _, err := d.follow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	body, err := d.body(round, []float64{1, -2, 3})
	if err != nil {
		t.Fatal(err)
	}
	good, err := d.request(run, round, body)
	if err != nil {
		t.Fatal(err)
	}
	wrong := bytes.Clone(body)
	wrong[0] ^= 0xff // no body of this randomiser
	malformed, err := d.request(run, round, wrong)
	if err != nil {
		t.Fatal(err)
	}
	const m, f = fleetv1.Verdict_VERDICT_MALFORMED, fleetv1.Verdict_VERDICT_FORGED
	for _, c := range []struct {
		name   string
		change func(r *fleetv1.UploadRequest)
		want   fleetv1.Verdict
	}{
		{"a flipped bit of the key", func(r *fleetv1.UploadRequest) { r.Sealed[3] ^= 4 }, m},
		{"a flipped bit of the text", func(r *fleetv1.UploadRequest) { r.Sealed[40] ^= 1 }, m},
		{"a flipped bit of the tag", func(r *fleetv1.UploadRequest) { r.Sealed[len(r.Sealed)-1] ^= 0x80 }, m},
		{"cut", func(r *fleetv1.UploadRequest) { r.Sealed = r.Sealed[:len(r.Sealed)-1] }, m},
		{"longer", func(r *fleetv1.UploadRequest) { r.Sealed = append(r.Sealed, 0) }, m},
		{"empty", func(r *fleetv1.UploadRequest) { r.Sealed = nil }, m},
		{"an unknown key", func(r *fleetv1.UploadRequest) { r.Key = 9 }, m},
		{"the number of a key that signs", func(r *fleetv1.UploadRequest) { r.Key = 1 }, m},
		{"another form of body", func(r *fleetv1.UploadRequest) { r.Sealed = malformed.Sealed }, m},
		{"a round to come", func(r *fleetv1.UploadRequest) { r.Round = 2 }, f},
		{"round 0", func(r *fleetv1.UploadRequest) { r.Round = 0 }, fleetv1.Verdict_VERDICT_STALE},
		{"an unknown run", func(r *fleetv1.UploadRequest) { r.Run = make([]byte, 16) }, f},
		{"half a run", func(r *fleetv1.UploadRequest) { r.Run = r.Run[:8] }, f},
		{"nothing at all", func(r *fleetv1.UploadRequest) { proto.Reset(r) }, fleetv1.Verdict_VERDICT_STALE},
		{"good", func(*fleetv1.UploadRequest) {}, fleetv1.Verdict_VERDICT_ACCEPTED},
		{"good again", func(*fleetv1.UploadRequest) {}, fleetv1.Verdict_VERDICT_DUPLICATE},
	} {
		r := proto.CloneOf(good)
		c.change(r)
		if v, err := d.send(t.Context(), r); err != nil || v != c.want {
			t.Errorf("%s: %v, %v; want %v", c.name, v, err, c.want)
		}
	}
	// Another device sends the same sealed bytes: a report of its own, which counts, for
	// whose it is follows from who sends it.
	if v, err := ds[1].send(t.Context(), good); err != nil || v != fleetv1.Verdict_VERDICT_ACCEPTED {
		t.Errorf("the same bytes from another device: %v, %v", v, err)
	}
	if _, err := o.CloseRound(t.Context(), &fleetv1.CloseRoundRequest{Round: 1}); err != nil {
		t.Fatal(err)
	}
	for n := range 5 { // who did not get the answer is told until two more rounds have ended
		want := fleetv1.Verdict_VERDICT_DUPLICATE
		if n > 1 {
			want = fleetv1.Verdict_VERDICT_STALE
		}
		if v, err := d.send(t.Context(), good); err != nil || v != want {
			t.Errorf("%d rounds after it: %v, %v; want %v", n, v, err, want)
		}
		w.await(t, o, uint64(n+1))
		openRound(t, o, nil)
		if _, err := o.CloseRound(t.Context(), &fleetv1.CloseRoundRequest{Round: uint64(n + 2)}); err != nil {
			t.Fatal(err)
		}
	}
	big := proto.CloneOf(good)
	big.Sealed = make([]byte, 5000)
	if _, err := d.reports.Upload(t.Context(), big); connect.CodeOf(err) != connect.CodeResourceExhausted && connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("5000 bytes: %v", err)
	}
}

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
		key, err := authority.NewKey()
		if err != nil {
			t.Fatal(err)
		}
		csr, err := authority.Request(key)
		if err != nil {
			t.Fatal(err)
		}
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
	key, err := authority.NewKey()
	if err != nil {
		t.Fatal(err)
	}
	csr, err := authority.Request(key)
	if err != nil {
		t.Fatal(err)
	}
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
	if _, err := lost.askRun(t.Context()); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("a revoked device asks: %v", err)
	}
	if _, err := lost.enrol.Renew(t.Context(), &fleetv1.RenewRequest{Csr: csr}); connect.CodeOf(err) != connect.CodePermissionDenied {
		t.Errorf("a revoked device renews: %v", err)
	}
	if _, err := o.Revoke(t.Context(), &fleetv1.RevokeRequest{Serial: []byte{1, 2, 3}}); connect.CodeOf(err) != connect.CodeNotFound {
		t.Errorf("an unknown certificate is revoked: %v", err)
	}
	if v, err := ds[2].send(t.Context(), r); err != nil || v != fleetv1.Verdict_VERDICT_ACCEPTED {
		t.Errorf("another device: %v, %v", v, err)
	}
}

// TestAFullRoundKnowsItsReports: who was accepted and asks again, because the answer was
// lost, is told so when the round takes no more.
func TestAFullRoundKnowsItsReports(t *testing.T) {
	w := newWorld(t)
	c := w.config()
	c.Tick, c.Batch = time.Hour, 1 // it is full, and nobody looks
	w.serve(t, c)
	o := w.operator(t)
	w.create(t, w.spec(3, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}), "", 0)
	openRound(t, o, func(r *fleetv1.OpenRoundRequest) { r.MaxReports = 1 })
	ds := w.enrol(t, 3)
	run, round, _ := ds[0].uploading(t, 0)
	send := func(d *device, body []byte) fleetv1.Verdict {
		r, err := d.request(run, round, body)
		if err != nil {
			t.Fatal(err)
		}
		v, err := d.send(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	first := ds[0].report(t, run, round, []float64{1, 2, 3})
	ds[1].report(t, run, round, []float64{1, 2, 3}) // with the batch there is no more room
	late, err := ds[2].body(round, []float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	if v := send(ds[2], late); v != fleetv1.Verdict_VERDICT_CLOSED {
		t.Errorf("a report too many: %v", v)
	}
	if v := send(ds[0], first); v != fleetv1.Verdict_VERDICT_DUPLICATE {
		t.Errorf("one that was accepted, again: %v", v)
	}
	if v := send(ds[0], flipped(first)); v != fleetv1.Verdict_VERDICT_SPENT {
		t.Errorf("another in its place: %v", v)
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

// flipped is a body that says the opposite in its last bit.
func flipped(body []byte) []byte {
	out := bytes.Clone(body)
	out[len(out)-1] ^= 1
	return out
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
		key, err := authority.NewKey()
		if err != nil {
			t.Fatal(err)
		}
		out, err := authority.Request(key)
		if err != nil {
			t.Fatal(err)
		}
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

// TestAFullQueueLosesNothing: 40 devices upload at once into a queue of two. Some are
// sent back, and all are accepted in the end.
func TestAFullQueueLosesNothing(t *testing.T) {
	const n = 40
	w, o, ds := oneOpenRound(t, func(c *aggregator.Config) { c.Queue, c.Batch = 1, 1 }, n)
	run, round, _, err := ds[0].follow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, d := range ds {
		body, err := d.body(round, []float64{1, 2, 3})
		if err != nil {
			t.Fatal(err)
		}
		r, err := d.request(run, round, body)
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			v, err := d.send(context.Background(), r)
			if err != nil || v != fleetv1.Verdict_VERDICT_ACCEPTED && v != fleetv1.Verdict_VERDICT_DUPLICATE {
				t.Errorf("%v, %v", v, err)
			}
		})
	}
	wg.Wait()
	if _, err := o.CloseRound(t.Context(), &fleetv1.CloseRoundRequest{Round: 1}); err != nil {
		t.Fatal(err)
	}
	if s := w.await(t, o, 1); s.GetAccepted() != n {
		t.Errorf("%d of %d are counted", s.GetAccepted(), n)
	}
}

// TestKeysAreRotatedInMidRun: reports sealed to either key count, and the next round is
// signed by the new one.
func TestKeysAreRotatedInMidRun(t *testing.T) {
	w, o, ds := oneOpenRound(t, nil, 2)
	run, round, _, err := ds[0].follow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ds[0].report(t, run, round, []float64{1, 2, 3})
	answer, err := ds[0].runs.GetRun(t.Context(), &fleetv1.GetRunRequest{})
	if err != nil {
		t.Fatal(err)
	}
	var spec fleetv1.RunSpec
	if err := proto.Unmarshal(answer.GetSpecs()[0].GetSpec(), &spec); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(answer.GetSpecs()[0].GetSpec())
	spec.Revision, spec.Previous = 1, sum[:]
	// Keys that the server does not have are refused.
	elsewhere := newWorld(t)
	if _, err := elsewhere.keys.CreateNext(); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	foreign := proto.CloneOf(&spec)
	foreign.Keys = elsewhere.keys.Public(spec.GetKeys(), now, now.Add(time.Hour))
	rotate := func(s *fleetv1.RunSpec) error {
		signed, err := fleet.SignRun(w.root, s)
		if err != nil {
			t.Fatal(err)
		}
		_, err = o.RotateKey(t.Context(), &fleetv1.RotateKeyRequest{Spec: signed})
		return err
	}
	if err := rotate(foreign); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("foreign keys: %v", err)
	}
	if _, err := w.keys.CreateNext(); err != nil {
		t.Fatal(err)
	}
	spec.Keys = w.keys.Public(spec.GetKeys(), now.Add(-time.Minute), now.Add(time.Hour))
	if err := rotate(&spec); err != nil {
		t.Fatal(err)
	}
	run, round, _, err = ds[1].follow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if key, err := run.SealKey(time.Now()); err != nil || key.ID != 4 {
		t.Errorf("reports are sealed to key %d: %v", key.ID, err)
	}
	ds[1].report(t, run, round, []float64{1, 2, 3})
	if _, err := o.CloseRound(t.Context(), &fleetv1.CloseRoundRequest{Round: 1}); err != nil {
		t.Fatal(err)
	}
	if s := w.await(t, o, 1); s.GetAccepted() != 2 {
		t.Errorf("%d of 2 reports count", s.GetAccepted())
	}
	if next := openRound(t, o, nil); next.GetSpec().GetKey() != 3 {
		t.Errorf("the next round is signed by key %d", next.GetSpec().GetKey())
	}
	if _, last, _, err := ds[0].follow(t.Context()); err != nil || last.Number != 2 {
		t.Errorf("a device follows to %v, %v", last, err)
	}
}

// TestNothingTellsOfADevice: after a whole run, with everything that can go wrong for a
// device, no log, metric or table holds who it is.
func TestNothingTellsOfADevice(t *testing.T) {
	w, o, ds := oneOpenRound(t, nil, 4)
	run, round, _, err := ds[0].follow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	secrets := map[string][]byte{}
	for i, d := range ds {
		body := d.report(t, run, round, []float64{1, 2, 3})
		r, err := d.request(run, round, flipped(body))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := d.send(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		r.Sealed[9] ^= 1
		if _, err := d.send(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		name, err := hex.DecodeString(d.cert.Subject.CommonName)
		if err != nil {
			t.Fatal(err)
		}
		for what, secret := range map[string][]byte{"name": name, "serial": d.cert.SerialNumber.Bytes(), "pseudonym key": d.pseudonym[:], "public key": d.cert.RawSubjectPublicKeyInfo[27:59], "certificate": d.cert.Raw[200:232]} {
			secrets[fmt.Sprintf("%s of device %d", what, i)] = secret
		}
	}
	if _, err := o.Revoke(t.Context(), &fleetv1.RevokeRequest{Serial: ds[3].cert.SerialNumber.Bytes()}); err != nil {
		t.Fatal(err)
	}
	if _, err := ds[3].askRun(t.Context()); err == nil {
		t.Error("the revoked device asks")
	}
	if c, err := net.Dial("tcp", strings.TrimPrefix(w.url, "https://")); err == nil { // no TLS
		fmt.Fprint(c, "GET / HTTP/1.1\r\n\r\n")
		c.Close()
	}
	if _, err := o.CloseRound(t.Context(), &fleetv1.CloseRoundRequest{Round: 1}); err != nil {
		t.Fatal(err)
	}
	w.await(t, o, 1)
	pair, err := tls.LoadX509KeyPair(filepath.Join(w.keysDir(), "operator.pem"), filepath.Join(w.keysDir(), "operator.key"))
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := dump(w.client(t, &pair), w.url+"/metrics")
	if err != nil || !strings.Contains(metrics, `fleet_uploads_total{verdict="accepted"} 4`) || !strings.Contains(metrics, `fleet_uploads_total{verdict="spent"} 4`) {
		t.Errorf("metrics: %v\n%s", err, metrics)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(w.log.String(), `"state":"applied","accepted":4`) {
		t.Errorf("the log says %s", w.log.String())
	}
	tables, columns := allOf(t, filepath.Join(w.dir, "fleet.db"))
	for place, text := range map[string]string{"log": w.log.String(), "metrics": metrics, "tables": tables} {
		for what, secret := range secrets {
			for _, form := range []string{string(secret), hex.EncodeToString(secret), strings.ToUpper(hex.EncodeToString(secret))} {
				if strings.Contains(text, form) {
					t.Errorf("the %s: %s holds it", what, place)
				}
			}
		}
		if place != "log" && strings.Contains(text, "127.0.0.1") {
			t.Errorf("%s: holds an address", place)
		}
	}
	if strings.Count(w.log.String(), "127.0.0.1") > 0 {
		t.Errorf("the log holds an address: %s", w.log.String())
	}
	if want := []string{"run", "round", "nullifier", "body"}; !slices.Equal(columns["fleet_report"], want) {
		t.Errorf("reports have the columns %v; want %v", columns["fleet_report"], want)
	}
	for name := range columns {
		if strings.Contains(name, "device") {
			t.Errorf("there is a table %s", name)
		}
	}
}

// TestANullifierIsOfOneRound: what the store holds of a device in two rounds is what the
// device computes, and never the same.
func TestANullifierIsOfOneRound(t *testing.T) {
	w, o, ds := oneOpenRound(t, nil, 1)
	want := map[uint64][32]byte{}
	for number := uint64(1); number <= 2; number++ {
		if number > 1 {
			openRound(t, o, nil)
		}
		run, round, _, err := ds[0].follow(t.Context())
		if err != nil || round.Number != number {
			t.Fatal(round, err)
		}
		ds[0].report(t, run, round, []float64{1, 2, 3})
		want[number] = fleet.Nullifier(ds[0].pseudonym, runID, number)
		if _, err := o.CloseRound(t.Context(), &fleetv1.CloseRoundRequest{Round: number}); err != nil {
			t.Fatal(err)
		}
		w.await(t, o, number)
	}
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(w.dir, "fleet.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT round, nullifier FROM fleet_report`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for ; rows.Next(); n++ {
		var round uint64
		var got []byte
		if err := rows.Scan(&round, &got); err != nil {
			t.Fatal(err)
		}
		if [32]byte(got) != want[round] {
			t.Errorf("in round %d the store has the nullifier %x; the device has %x", round, got, want[round])
		}
	}
	if rows.Err() != nil || n != 2 || want[1] == want[2] {
		t.Errorf("%d reports: %v", n, rows.Err())
	}
}

// allOf is everything in all tables of a SQLite file.
func allOf(t *testing.T, path string) (text string, columns map[string][]string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	names, err := db.Query(`SELECT name FROM sqlite_master WHERE type = 'table'`)
	if err != nil {
		t.Fatal(err)
	}
	var tables []string
	for names.Next() {
		var n string
		if err := names.Scan(&n); err != nil {
			t.Fatal(err)
		}
		tables = append(tables, n)
	}
	if err := names.Err(); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	columns = map[string][]string{}
	for _, table := range tables {
		rows, err := db.Query(`SELECT * FROM ` + table)
		if err != nil {
			t.Fatal(err)
		}
		if columns[table], err = rows.Columns(); err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			values := make([]any, len(columns[table]))
			for i := range values {
				values[i] = new(sql.RawBytes)
			}
			if err := rows.Scan(values...); err != nil {
				t.Fatal(err)
			}
			for _, v := range values {
				b.Write(*v.(*sql.RawBytes))
				b.WriteByte('\n')
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		rows.Close()
	}
	if len(tables) < 7 || b.Len() < 1000 {
		t.Fatalf("%d tables with %d bytes: the walk is broken", len(tables), b.Len())
	}
	return b.String(), columns
}

// access says who may call each procedure of the protocol.
var access = map[string]string{
	"EnrolService/Enrol": "anybody", "EnrolService/Renew": "device", "RunService/GetRun": "device operator", "RunService/GetRound": "device operator", "ReportService/Upload": "device",
	"OperatorService/CreateRun": "operator", "OperatorService/OpenRound": "operator", "OperatorService/CloseRound": "operator", "OperatorService/Revoke": "operator",
	"OperatorService/RotateKey": "operator", "OperatorService/Status": "operator", "OperatorService/EndRun": "operator", "OperatorService/CreateCodes": "operator", "OperatorService/GetPolicy": "operator",
}

// TestWhoMayCallWhat of all procedures that the protocol has, and all routes that the
// server has: one that is not listed fails.
func TestWhoMayCallWhat(t *testing.T) {
	w := newWorld(t)
	cfg := w.config()
	a, err := aggregator.New(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	routes := a.Routes()
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"GET /healthz": "anybody", "GET /readyz": "anybody", "GET /metrics": "operator"}
	services := fleetv1.File_discreet_fleet_v1_fleet_proto.Services()
	for i := range services.Len() {
		methods := services.Get(i).Methods()
		for j := range methods.Len() {
			m := methods.Get(j)
			short := string(m.Parent().Name()) + "/" + string(m.Name())
			who, listed := access[short]
			if !listed {
				t.Errorf("%s is not listed", short)
			}
			want["POST /"+string(m.Parent().(protoreflect.ServiceDescriptor).FullName())+"/"+string(m.Name())] = who
		}
	}
	for pattern, r := range routes {
		who := strings.Join(r.Roles, " ")
		if r.Anonymous {
			who = "anybody"
		}
		if who != want[pattern] {
			t.Errorf("%s is for %q; want %q", pattern, who, want[pattern])
		}
		delete(want, pattern)
	}
	if len(want) > 0 {
		t.Errorf("no routes for %v", want)
	}
	w.serve(t, w.config())
	d := w.enrol(t, 1)[0]
	pair, err := tls.LoadX509KeyPair(filepath.Join(w.keysDir(), "operator.pem"), filepath.Join(w.keysDir(), "operator.key"))
	if err != nil {
		t.Fatal(err)
	}
	for who, c := range map[string]*http.Client{"nobody": w.client(t, nil), "device": w.client(t, &d.pair), "operator": w.client(t, &pair)} {
		for pattern, r := range routes {
			method, path, _ := strings.Cut(pattern, " ")
			q, err := http.NewRequestWithContext(t.Context(), method, w.url+path, strings.NewReader("{}"))
			if err != nil {
				t.Fatal(err)
			}
			q.Header.Set("Content-Type", "application/json")
			answer, err := c.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			answer.Body.Close()
			served := r.Anonymous || slices.Contains(r.Roles, who)
			switch code := answer.StatusCode; {
			case !served && who == "nobody" && code != http.StatusUnauthorized, !served && who != "nobody" && code != http.StatusForbidden,
				served && code >= 500, served && (code == http.StatusUnauthorized || code == http.StatusForbidden && path != fleetv1.EnrolServiceEnrolProcedure):
				t.Errorf("%s, %s: %d", who, pattern, code)
			}
		}
	}
}

// TestSettingsThatAreRefused.
func TestSettingsThatAreRefused(t *testing.T) {
	w := newWorld(t)
	for name, change := range map[string]func(*aggregator.Config){
		"no store": func(c *aggregator.Config) { c.Store = "" }, "no keys": func(c *aggregator.Config) { c.Keys = nil },
		"negative queue": func(c *aggregator.Config) { c.Queue = -1 }, "negative grace": func(c *aggregator.Config) { c.Grace = -1 },
		"no log": func(c *aggregator.Config) { c.Log = nil }, "large requests": func(c *aggregator.Config) { c.MostRequest = 1 << 30 },
		"no port":                func(c *aggregator.Config) { c.Listen = "127.0.0.1" },
		"a queue for everything": func(c *aggregator.Config) { c.Queue = 1 << 30 }, "a batch of everything": func(c *aggregator.Config) { c.Batch = 1 << 20 },
		"certificates of a minute": func(c *aggregator.Config) { c.Valid = time.Minute }, "certificates for ever": func(c *aggregator.Config) { c.Valid = 1e6 * time.Hour },
		"grace of a day": func(c *aggregator.Config) { c.Grace = 24 * time.Hour }, "a request a week": func(c *aggregator.Config) { c.PerDevice.Every = 168 * time.Hour },
		"one connection": func(c *aggregator.Config) { c.Limits.Connections = 1 }, "none of an address": func(c *aggregator.Config) { c.Limits.AddressConnections = -1 },
	} {
		c := w.config()
		change(&c)
		if err := c.Validate(); !errors.Is(err, aggregator.ErrConfig) && name != "no log" && name != "no port" {
			t.Errorf("%s: %v", name, err)
		}
		if a, err := aggregator.New(t.Context(), c); err == nil {
			t.Errorf("%s: served", name)
			_ = a.Close()
		}
	}
	w.serve(t, w.config())
	o := w.operator(t)
	good := w.spec(3, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1})
	elsewhere := newWorld(t)
	for name, change := range map[string]func(*fleetv1.RunSpec, *fleetv1.CreateRunRequest){
		"another root": func(s *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) { r.Spec, _ = fleet.SignRun(elsewhere.root, s) },
		"foreign keys": func(s *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) {
			s.Keys = elsewhere.spec(3, train.Randomizer{}).Keys
			r.Spec, _ = fleet.SignRun(w.root, s)
		},
		"large reports": func(s *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) {
			s.ReportBytes = 4096
			r.Spec, _ = fleet.SignRun(w.root, s)
		},
		"two weights":   func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) { r.Weights = make([]byte, 16) },
		"half a weight": func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) { r.Weights = make([]byte, 20) },
		"no optimizer":  func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) { r.OptimizerJson = nil },
		"unknown key": func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) {
			r.OptimizerJson = []byte(`{"kind":"sgd","step":1,"stop":2}`)
		},
		"two values": func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) { r.InfluenceJson = []byte(`{}{}`) },
		"influence":  func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) { r.InfluenceJson = []byte(`{"norm":-1}`) },
		"no rounds":  func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) { r.ScheduleJson = []byte(`{"sample_rate":1}`) },
		"unannounced": func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) {
			r.ScheduleJson = []byte(`{"rounds":4,"train_seconds":1,"upload_seconds":1,"sample_rate":1,"min_reports":1,"max_reports":1,"evaluate_every":2}`)
		},
		"only evaluates": func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) {
			r.Evaluations = 9
			r.ScheduleJson = []byte(`{"rounds":4,"train_seconds":1,"upload_seconds":1,"sample_rate":1,"min_reports":1,"max_reports":1,"evaluate_every":1}`)
		},
		"min beyond max": func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) {
			r.ScheduleJson = []byte(`{"rounds":4,"train_seconds":1,"upload_seconds":1,"sample_rate":1,"min_reports":2,"max_reports":1}`)
		},
		"sample rate 0": func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) {
			r.ScheduleJson = []byte(`{"rounds":4,"train_seconds":1,"upload_seconds":1,"min_reports":1,"max_reports":1}`)
		},
		"endless windows": func(_ *fleetv1.RunSpec, r *fleetv1.CreateRunRequest) {
			r.ScheduleJson = []byte(`{"rounds":4,"train_seconds":1e9,"upload_seconds":1,"sample_rate":1,"min_reports":1,"max_reports":1}`)
		},
	} {
		s := proto.CloneOf(good)
		signed, err := fleet.SignRun(w.root, s)
		if err != nil {
			t.Fatal(err)
		}
		r := &fleetv1.CreateRunRequest{Spec: signed, Weights: make([]byte, 24), OptimizerJson: optimizer}
		change(s, r)
		if _, err := o.CreateRun(t.Context(), r); connect.CodeOf(err) != connect.CodeInvalidArgument {
			t.Errorf("%s: %v", name, err)
		}
	}
	w.create(t, good, "", 0)
	for name, r := range map[string]*fleetv1.OpenRoundRequest{
		"no kind": {SampleRate: 1, UploadFor: 1, MinReports: 1, MaxReports: 1}, "no time": {Kind: 1, SampleRate: 1, MinReports: 1, MaxReports: 1},
		"no reports": {Kind: 1, SampleRate: 1, UploadFor: 1}, "threshold": {Kind: 1, SampleRate: 1, UploadFor: 1, MinReports: 1, MaxReports: 1, Threshold: 2},
		"rate 2": {Kind: 1, SampleRate: 2, UploadFor: 1, MinReports: 1, MaxReports: 1},
	} {
		if _, err := o.OpenRound(t.Context(), r); connect.CodeOf(err) != connect.CodeInvalidArgument {
			t.Errorf("round with %s: %v", name, err)
		}
	}
}

// TestRateOfADevice: the server holds each to its own.
func TestRateOfADevice(t *testing.T) {
	_, _, ds := oneOpenRound(t, func(c *aggregator.Config) { c.PerDevice = service.Rate{Every: time.Hour, Burst: 2} }, 2)
	for i, want := range []connect.Code{0, 0, connect.CodeUnavailable} {
		_, err := ds[0].askRun(t.Context())
		if (err == nil) != (want == 0) || err != nil && connect.CodeOf(err) != want {
			t.Errorf("request %d: %v", i, err)
		}
	}
	if _, err := ds[1].askRun(t.Context()); err != nil {
		t.Errorf("another device pays for it: %v", err)
	}
}
