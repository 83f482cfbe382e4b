package aggregator_test

import (
	"bytes"
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	_ "modernc.org/sqlite" // the driver of the store

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/train"
)

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
	again := proto.CloneOf(good)
	if v, err := ds[1].send(t.Context(), again); err != nil || v != f {
		t.Errorf("the same bytes from another device under the same permit: %v, %v", v, err)
	}
	if again.Permit, err = ds[1].draw(t.Context(), func() fleetv1.ReportServiceClient { return ds[1].reports }, run, round); err != nil {
		t.Fatal(err)
	}
	if v, err := ds[1].send(t.Context(), again); err != nil || v != fleetv1.Verdict_VERDICT_ACCEPTED {
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
		w.await(t, o, uint64(n+2)) // the leader's own look may have been under way
	}
	big := proto.CloneOf(good)
	big.Sealed = make([]byte, 5000)
	if _, err := d.reports.Upload(t.Context(), big); connect.CodeOf(err) != connect.CodeResourceExhausted && connect.CodeOf(err) != connect.CodeInvalidArgument {
		t.Errorf("5000 bytes: %v", err)
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
	permits := map[*device]*fleetv1.SignedSpec{}
	for _, d := range ds { // while there is room
		var err error
		if permits[d], err = d.draw(t.Context(), func() fleetv1.ReportServiceClient { return d.reports }, run, round); err != nil {
			t.Fatal(err)
		}
	}
	send := func(d *device, body []byte) fleetv1.Verdict {
		r, err := d.sealed(run, round, body, permits[d])
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
	if _, err := w.enrol(t, 1)[0].request(run, round, late); connect.CodeOf(err) != connect.CodeFailedPrecondition {
		t.Errorf("a permit for a round that is full: %v", err)
	}
	if v := send(ds[0], first); v != fleetv1.Verdict_VERDICT_DUPLICATE {
		t.Errorf("one that was accepted, again: %v", v)
	}
	if v := send(ds[0], flipped(first)); v != fleetv1.Verdict_VERDICT_SPENT {
		t.Errorf("another in its place: %v", v)
	}
}

// flipped is a body that says the opposite in its last bit.
func flipped(body []byte) []byte {
	out := bytes.Clone(body)
	out[len(out)-1] ^= 1
	return out
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
