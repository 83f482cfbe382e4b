package aggregator_test

import (
	"crypto/sha256"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	_ "modernc.org/sqlite" // the driver of the store

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
)

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
