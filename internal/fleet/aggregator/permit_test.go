package aggregator_test

import (
	"crypto/sha256"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/train"
)

// TestOnePermitADeviceAndRound: who asks again by the same nonce has the same permit, who asks by another one sees by whose
// request it was drawn, and after as many as the run has there is none.
func TestOnePermitADeviceAndRound(t *testing.T) {
	w := newWorld(t)
	w.serve(t, w.config())
	o := w.operator(t)
	spec := w.spec(3, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1})
	spec.ReportsPerDevice = 2
	w.create(t, spec, "", 0)
	ds := w.enrol(t, 2)
	draw := func(d *device, round uint64, nonce byte, says uint64) (*fleetv1.SignedSpec, fleet.Permit) {
		t.Helper()
		n := make([]byte, fleet.NonceSize)
		n[0] = nonce
		answer, err := d.reports.Draw(t.Context(), &fleetv1.DrawRequest{Run: runID[:], Round: round, Nonce: n, Drawn: says, DrawnHere: says})
		if err != nil {
			t.Fatal(err)
		}
		run, _, _, err := d.follow(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		p, err := run.VerifyPermit(d.pseudonym, answer.GetPermit())
		if err != nil {
			t.Fatal(err)
		}
		return answer.GetPermit(), p
	}
	request := func(nonce byte) fleet.Hash {
		n := make([]byte, fleet.NonceSize)
		n[0] = nonce
		return sha256.Sum256(n)
	}
	for i, want := range []uint64{1, 2, 0} {
		round := uint64(i + 1)
		openRound(t, o, nil)
		first, p := draw(ds[0], round, 1, uint64(i))
		if want > 0 && p != (fleet.Permit{Round: round, Number: want, Request: request(1)}) || want == 0 && p != (fleet.Permit{Number: 2, Request: request(1)}) {
			t.Fatalf("round %d: %+v", round, p)
		}
		if again, _ := draw(ds[0], round, 1, 7); want > 0 && !proto.Equal(first, again) {
			t.Errorf("round %d: the same request has another permit", round)
		}
		if other, q := draw(ds[0], round, 2, 0); !proto.Equal(first, other) {
			t.Errorf("round %d: another request has %+v", round, q)
		}
		if _, err := o.CloseRound(t.Context(), &fleetv1.CloseRoundRequest{Round: round}); err != nil {
			t.Fatal(err)
		}
		w.await(t, o, round)
	}
	openRound(t, o, nil)
	if _, p := draw(ds[1], 4, 9, 0); p.Number != 1 || p.Round != 4 {
		t.Errorf("another device has %+v", p)
	}
	for name, r := range map[string]*fleetv1.DrawRequest{
		"a round that is over": {Run: runID[:], Round: 3, Nonce: make([]byte, 32)}, "a round to come": {Run: runID[:], Round: 5, Nonce: make([]byte, 32)},
		"no run": {Run: make([]byte, 16), Round: 4, Nonce: make([]byte, 32)}, "half a nonce": {Run: runID[:], Round: 4, Nonce: make([]byte, 16)},
	} {
		if answer, err := ds[1].reports.Draw(t.Context(), r); err == nil {
			t.Errorf("%s: %v", name, answer)
		}
	}
}

// TestNoReportWithoutAPermit: an agent that draws none is told so, another device's permit and that of another round are good for nothing.
func TestNoReportWithoutAPermit(t *testing.T) {
	w, o, ds := oneOpenRound(t, nil, 2)
	d := ds[0]
	run, round, _, err := d.follow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	body, err := d.body(round, []float64{1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	good, err := d.request(run, round, body)
	if err != nil {
		t.Fatal(err)
	}
	without := proto.CloneOf(good)
	without.Permit = nil
	if _, err := d.reports.Upload(t.Context(), without); connect.CodeOf(err) != connect.CodeFailedPrecondition || !strings.Contains(err.Error(), "older than 1.1.0; update it") {
		t.Errorf("without a permit: %v", err)
	}
	foreign := proto.CloneOf(good)
	if foreign.Permit, err = ds[1].draw(t.Context(), func() fleetv1.ReportServiceClient { return ds[1].reports }, run, round); err != nil {
		t.Fatal(err)
	}
	if v, err := d.send(t.Context(), foreign); err != nil || v != fleetv1.Verdict_VERDICT_FORGED {
		t.Errorf("with another device's permit: %v, %v", v, err)
	}
	if v, err := d.send(t.Context(), good); err != nil || v != fleetv1.Verdict_VERDICT_ACCEPTED {
		t.Errorf("with its own: %v, %v", v, err)
	}
	if _, err := o.CloseRound(t.Context(), &fleetv1.CloseRoundRequest{Round: 1}); err != nil {
		t.Fatal(err)
	}
	w.await(t, o, 1)
	openRound(t, o, nil)
	_, second, _ := d.uploading(t, 1)
	if body, err = d.body(second, []float64{1, 2, 3}); err != nil {
		t.Fatal(err)
	}
	late, err := d.sealed(run, second, body, good.GetPermit())
	if err != nil {
		t.Fatal(err)
	}
	if v, err := d.send(t.Context(), late); err != nil || v != fleetv1.Verdict_VERDICT_FORGED {
		t.Errorf("with the permit of the round before: %v, %v", v, err)
	}

	// Of what the store knows nothing tells which permits are one device's, or whose report came under which.
	db, err := sql.Open("sqlite", w.config().Store)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var rows, alike int
	err = db.QueryRowContext(t.Context(), `SELECT count(*), (SELECT count(*) FROM fleet_permit p JOIN fleet_report r ON r.nullifier IN (p.place, p.here, p.request)) +
		(SELECT count(*) FROM fleet_permit p JOIN fleet_certificate c ON c.device IN (p.place, p.here, p.request)) FROM fleet_permit`).Scan(&rows, &alike)
	if err != nil || rows != 2 || alike != 0 {
		t.Errorf("%d permits, of which %d are somebody's: %v", rows, alike, err)
	}
}

// TestRunsBeforePermits are not created, and one that a store has gets no rounds until its keys are rotated.
func TestRunsBeforePermits(t *testing.T) {
	w := newWorld(t)
	w.serve(t, w.config())
	o := w.operator(t)
	old := w.spec(3, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1})
	old.MinClient = "1.0.0"
	signed, err := fleet.SignRun(w.root, old)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.CreateRun(t.Context(), &fleetv1.CreateRunRequest{Spec: signed, Weights: fleet.EncodeWeights(make([]float64, 3)), OptimizerJson: optimizer}); connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("it is created: %v", err)
	}
	w.create(t, w.spec(3, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}), "", 0)
	if err := w.stop(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", w.config().Store)
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), `UPDATE fleet_spec SET spec = ?, signature = ?`, signed.GetSpec(), signed.GetSignature())
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	w.serve(t, w.config())
	o = w.operator(t)
	ask := &fleetv1.OpenRoundRequest{Kind: fleetv1.Kind_KIND_TRAIN, SampleRate: 1, UploadFor: 600_000, MinReports: 1, MaxReports: 9}
	if _, err := o.OpenRound(t.Context(), ask); connect.CodeOf(err) != connect.CodeFailedPrecondition || !strings.Contains(err.Error(), "rotate its keys") {
		t.Errorf("a round of it: %v", err)
	}
	if !strings.Contains(w.log.String(), "older than permits") {
		t.Error("the log does not say so")
	}
	before := sha256.Sum256(signed.GetSpec())
	old.MinClient, old.Revision, old.Previous = fleet.PermitClient, 1, before[:]
	revised, err := fleet.SignRun(w.root, old)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.RotateKey(t.Context(), &fleetv1.RotateKeyRequest{Spec: revised}); err != nil {
		t.Fatal(err)
	}
	if _, err := o.OpenRound(t.Context(), ask); err != nil {
		t.Errorf("a round of the revised run: %v", err)
	}
}
