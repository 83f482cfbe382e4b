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
	run, round, _, err := ds[0].follow(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ds[0].report(t, run, round, []float64{1, 2, 3})
	if _, err := o.CloseRound(t.Context(), &fleetv1.CloseRoundRequest{Round: 1}); err != nil {
		t.Fatal(err)
	}
	w.await(t, o, 1)
	if v, moved := latest(t, o); v != 1 || slices.Equal(moved, initial) {
		t.Fatalf("version %d, %v", v, moved)
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
