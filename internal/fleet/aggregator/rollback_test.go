package aggregator_test

import (
	"slices"
	"strings"
	"testing"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/train"
)

// TestTheInitialWeightsAreAVersionToo, to which a round can go back.
func TestTheInitialWeightsAreAVersionToo(t *testing.T) {
	w, o, ds := oneOpenRound(t, nil, 1)
	_, initial := latest(t, o)
	// Of three weights a report of sign-PRS moves none one time in four: it is of one of four coordinates.
	for version, moved := uint64(0), initial; slices.Equal(moved, initial); {
		if version++; version > 1 {
			openRound(t, o, nil)
		}
		run, round, _, err := ds[0].follow(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		ds[0].report(t, run, round, []float64{1, 2, 3})
		if _, err := o.CloseRound(t.Context(), &fleetv1.CloseRoundRequest{Round: version}); err != nil {
			t.Fatal(err)
		}
		w.await(t, o, version)
		var v uint64
		if v, moved = latest(t, o); v != version {
			t.Fatalf("version %d; want %d", v, version)
		}
	}
	openRound(t, o, func(r *fleetv1.OpenRoundRequest) { r.RollBack = true })
	_, back, theta, err := ds[0].follow(t.Context())
	if err != nil || back.Version != 0 || !slices.Equal(theta, initial) {
		t.Errorf("the round starts from version %d, %v, %v", back.Version, theta, err)
	}
}

// TestAScheduleDoesNotGoBack: it says so, and what it does go on with.
func TestAScheduleDoesNotGoBack(t *testing.T) {
	w := newWorld(t)
	w.serve(t, w.config())
	o := w.operator(t)
	w.create(t, w.spec(3, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}), `{"rounds":9,"train_seconds":600,"upload_seconds":600,"sample_rate":1,"min_reports":1,"max_reports":9}`, 0)
	for _, r := range []*fleetv1.OpenRoundRequest{{RollBack: true}, {FromVersion: 1}} {
		r.Kind, r.SampleRate, r.UploadFor, r.MinReports, r.MaxReports = fleetv1.Kind_KIND_TRAIN, 1, 1000, 1, 9
		if _, err := o.OpenRound(t.Context(), r); connect.CodeOf(err) != connect.CodeFailedPrecondition || !strings.Contains(err.Error(), "follows its schedule") {
			t.Errorf("%v: %v", r, err)
		}
	}
}
