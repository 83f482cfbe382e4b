//go:build slow

package store_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/fleet/store"
	"github.com/discreet-rl/discreet/internal/pgtest"
)

// crowd is several replicas of one store, and what their writers were told.
type crowd struct {
	t      *testing.T
	stores [2]*store.Store

	over     atomic.Bool // the run has ended
	accepted sync.Map    // place to body, of reports
	drawn    sync.Map    // device and round to permit
	numbers  sync.Map    // device and number to permit
	applied  atomic.Int64
	fences   sync.Map     // those that somebody led with
	revoked  sync.Map     // devices, once that was durable
	codes    atomic.Int64 // how often codes were added
	given    atomic.Int64 // certificates
	closing  atomic.Int64 // the longest time that closing a round took
}

type at struct {
	round     uint64
	nullifier [32]byte
}

// TestReplicasWriteAtOnce: writers of every kind, from two replicas at once. No two wait for
// each other in a circle, which PostgreSQL counts, and nothing is lost or counted twice.
func TestReplicasWriteAtOnce(t *testing.T) {
	start(t)
	p := inPostgres(t)
	before, err := pgtest.Deadlocks(t.Context(), p.location)
	if err != nil {
		t.Fatal(err)
	}
	c := &crowd{t: t}
	for i := range c.stores {
		if c.stores[i], err = store.Open(t.Context(), p.location, store.Options{}); err != nil {
			t.Fatal(err)
		}
	}
	c.create()
	const each, devices = 40, 8
	var all sync.WaitGroup
	for i, s := range c.stores {
		for w := range 4 {
			rng := rand.New(rand.NewPCG(uint64(i), uint64(w)))
			all.Go(func() { c.report(s, rng) })
			draws := rand.New(rand.NewPCG(uint64(50+i), uint64(w)))
			all.Go(func() { c.draw(s, draws) })
		}
		all.Go(func() { c.lead(s, each) })
		all.Go(func() { c.revise(s, each) })
		for d := range devices {
			rng := rand.New(rand.NewPCG(uint64(100+i), uint64(d)))
			all.Go(func() { c.enrol(s, rng, 10*each) })
		}
		all.Go(func() { c.sweep(s, each) })
		all.Go(func() { c.read(s) })
	}
	all.Wait()
	c.check(each)
	t.Log("closing a round took", time.Duration(c.closing.Load()), "at most;", c.given.Load(), "certificates were given")
	for _, s := range c.stores {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if n, err := pgtest.Deadlocks(t.Context(), p.location); err != nil || n != before {
		t.Errorf("%d deadlocks, %v", n-before, err)
	}
}

// is fails the test but for errors of the kinds.
func (c *crowd) is(err error, kinds ...error) bool {
	for _, k := range kinds {
		if errors.Is(err, k) {
			return false
		}
	}
	if err != nil {
		c.t.Error(err)
	}
	return err == nil
}

// create makes the run from both replicas: one of them makes it.
func (c *crowd) create() {
	var made atomic.Int64
	var all sync.WaitGroup
	for _, s := range c.stores {
		all.Go(func() {
			if c.is(s.CreateRun(c.t.Context(), store.Run{ID: run, Settings: "{}"}, store.Signed{Spec: []byte("spec"), Signature: []byte("s")}, store.Policy{Weights: []byte("w0"), Optimizer: "o0"}), store.ErrExists) {
				made.Add(1)
			}
		})
	}
	all.Wait()
	if n := made.Load(); n != 1 {
		c.t.Fatalf("the run was made %d times", n)
	}
}

// report sends batches into the last rounds until the run is over: several pseudonyms and
// bodies, in any order, some of them twice.
func (c *crowd) report(s *store.Store, rng *rand.Rand) {
	ctx := context.Background()
	for !c.over.Load() && !c.t.Failed() {
		latest, err := s.Latest(ctx, run, 1)
		if !c.is(err) || len(latest) == 0 {
			continue
		}
		round := latest[0].ID - min(latest[0].ID-1, uint64(rng.IntN(8)/7))
		batch := make([]store.Report, 1+rng.IntN(40))
		for i := range batch {
			batch[i] = store.Report{Nullifier: nullifier(uint64(rng.IntN(400))), Body: []byte{byte(rng.IntN(2))}}
		}
		out, err := s.Commit(ctx, run, round, batch, time.Hour)
		if !c.is(err) {
			return
		}
		for i, o := range out {
			where := at{round, batch[i].Nullifier}
			switch o {
			case store.ReportAccepted:
				if _, twice := c.accepted.LoadOrStore(where, batch[i].Body[0]); twice {
					c.t.Errorf("round %d: two reports of one device were accepted", round)
				}
			case store.ReportDuplicate, store.ReportSpent, store.ReportStale:
			default:
				c.t.Errorf("outcome %d", o)
			}
		}
		if _, err := s.Find(ctx, run, round, batch[0]); err != nil {
			c.t.Error(err)
		}
	}
}

// draw asks for permits of the last round, several of one device among them, until the run is over.
func (c *crowd) draw(s *store.Store, rng *rand.Rand) {
	ctx := context.Background()
	for !c.over.Load() && !c.t.Failed() {
		latest, err := s.Latest(ctx, run, 1)
		if !c.is(err) || len(latest) == 0 {
			continue
		}
		batch := make([]store.Draw, 1+rng.IntN(10))
		device := make([]int, len(batch))
		for i := range batch {
			device[i] = rng.IntN(20)
			batch[i] = drawing(device[i], uint64(rng.IntN(9)), fmt.Sprint(rng.Uint64()))
		}
		out, err := s.Draw(ctx, run, latest[0].ID, batch, 25, time.Hour)
		if !c.is(err) {
			return
		}
		for i, o := range out {
			if o.Closed != 0 || o.Round == 0 {
				continue
			}
			was, twice := c.drawn.LoadOrStore([2]uint64{uint64(device[i]), o.Round}, o)
			if twice && was != o {
				c.t.Errorf("device %d has the permits %+v and %+v", device[i], was, o)
			}
			was, twice = c.numbers.LoadOrStore([2]uint64{uint64(device[i]), o.Number}, o)
			if twice && was != o {
				c.t.Errorf("device %d has the permits %+v and %+v", device[i], was, o)
			}
		}
	}
}

// lead opens, closes and applies rounds whenever nobody else does.
func (c *crowd) lead(s *store.Store, rounds uint64) {
	ctx := context.Background()
	for !c.over.Load() && !c.t.Failed() {
		latest, err := s.Latest(ctx, run, 1)
		if !c.is(err) {
			return
		}
		if len(latest) == 0 {
			_, err := s.OpenRound(ctx, run, next)
			c.is(err, store.ErrState)
			continue
		}
		id := latest[0].ID
		if n, err := s.Count(ctx, run, id); !c.is(err) {
			return
		} else if n < 100 {
			continue
		}
		begun := time.Now()
		if _, err := s.CloseRound(ctx, run, id, time.Hour, true); !c.is(err) {
			return
		}
		c.closing.Store(max(c.closing.Load(), int64(time.Since(begun))))
		fence, err := s.Lease(ctx, run, time.Minute)
		if !c.is(err) || fence == 0 {
			continue
		}
		if _, twice := c.fences.LoadOrStore(fence, true); twice {
			c.t.Errorf("fence %d was had twice", fence)
		}
		c.is(s.Renew(ctx, run, fence, time.Minute))
		c.apply(s, id, fence, rounds)
		c.is(s.Yield(ctx, run, fence))
	}
}

// apply counts the reports of a round, which is closing or was applied before.
func (c *crowd) apply(s *store.Store, id uint64, fence int64, rounds uint64) {
	ctx := context.Background()
	r, err := s.Run(ctx, run)
	if !c.is(err) {
		return
	}
	var counted uint64
	wrong := 0
	err = s.Reports(ctx, run, id, func(r store.Report) error {
		counted++
		// Whoever added it may not have heard of it yet.
		if body, known := c.accepted.Load(at{id, r.Nullifier}); known && body != r.Body[0] {
			wrong++
		}
		return nil
	})
	if !c.is(err) || wrong > 0 {
		c.t.Errorf("round %d: %d bodies are not those that were accepted, %v", id, wrong, err)
		return
	}
	ends := id == rounds
	err = s.Apply(ctx, run, id, fence, store.StateApplied, store.Result{
		Accepted: counted, Moved: counted, Digest: []byte("d"), End: ends, Next: next,
		Policy: &store.Policy{Version: r.Version + 1, Round: id, Weights: []byte("w"), Optimizer: "o"},
	})
	if c.is(err, store.ErrFence) { // else another one applied it before this one had the lease
		c.applied.Add(1)
		if ends {
			c.over.Store(true)
		}
	}
}

// revise adds the revisions of the run's spec in order: those of both replicas race.
func (c *crowd) revise(s *store.Store, revisions int) {
	for n := range revisions {
		c.is(s.AddSpec(context.Background(), run, uint32(n+1), store.Signed{Spec: []byte("spec"), Signature: []byte("s")}), store.ErrExists)
	}
}

// enrol has devices enrol, come back with each other's codes, renew and be revoked.
func (c *crowd) enrol(s *store.Store, rng *rand.Rand, times int) {
	ctx := context.Background()
	for range times {
		a, b := rng.IntN(crowded), rng.IntN(crowded)
		begun, back := hash(fmt.Sprint("device", a)), hash(fmt.Sprint("device", b))
		code := code(a, c.codes.Load()-rng.Int64N(3))
		issue := func(device store.Hash) func(now int64) (store.Certificate, error) {
			return func(now int64) (store.Certificate, error) {
				return store.Certificate{Serial: hash(fmt.Sprint(rng.Uint64())), Device: device, Expires: now + int64(rng.IntN(3)-1)*rng.Int64N(1000)}, nil
			}
		}
		var serial store.Hash
		kept := func(of func(int64) (store.Certificate, error)) func(int64) (store.Certificate, error) {
			return func(now int64) (store.Certificate, error) {
				cert, err := of(now)
				serial = cert.Serial
				return cert, err
			}
		}
		_, late := c.revoked.Load(back)
		var err error
		switch rng.IntN(12) {
		default:
			err = s.Redeem(ctx, code, begun, hash(fmt.Sprint("key", b)), kept(issue(back)))
			c.is(err, store.ErrCode, store.ErrRevoked, store.ErrMany)
		case 0, 1, 2, 3:
			err = s.Reissue(ctx, back, kept(issue(back)))
			c.is(err, store.ErrRevoked, store.ErrMany)
		case 4:
			if a < 2 {
				c.is(s.RevokeCode(ctx, code, begun), store.ErrUnknown)
			}
			continue
		case 5:
			list, err := s.Revoked(ctx)
			if c.is(err) && len(list) > 0 {
				c.is(s.Revoke(ctx, list[rng.IntN(len(list))]), store.ErrUnknown)
			}
			continue
		}
		if err == nil {
			c.given.Add(1)
		}
		if err == nil && late {
			c.t.Error("a device that was revoked before has another certificate")
		}
		if err == nil && b < 2 && rng.IntN(4) == 0 && c.is(s.Revoke(ctx, serial), store.ErrUnknown) {
			c.revoked.Store(back, true)
		}
	}
}

// crowded is how many devices there are: so few that writers meet.
const crowded = 6

func code(device int, n int64) store.Hash { return hash(fmt.Sprint("code", device, " ", n)) }

// sweep adds codes, and with them forgets what has expired.
func (c *crowd) sweep(s *store.Store, times int) {
	for range times {
		n := c.codes.Add(1)
		var codes []store.Hash
		for a := range crowded {
			codes = append(codes, code(a, n))
		}
		c.is(s.AddCodes(context.Background(), codes, time.Duration(n%3-1)*time.Second)) // the next ones sweep some
	}
}

// read looks at everything until the run is over.
func (c *crowd) read(s *store.Store) {
	ctx := context.Background()
	for last := uint64(0); !c.over.Load() && !c.t.Failed(); {
		r, err := s.Run(ctx, run)
		if !c.is(err) || r.Version < last {
			c.t.Errorf("version %d follows %d", r.Version, last)
			return
		}
		last = r.Version
		_, err = s.Totals(ctx)
		c.is(err)
		_, err = s.Specs(ctx, run)
		c.is(err)
	}
}

// check holds what is there in the end against what was said.
func (c *crowd) check(rounds uint64) {
	ctx := c.t.Context()
	told := map[uint64]uint64{}
	c.accepted.Range(func(k, _ any) bool { told[k.(at).round]++; return true })
	r, err := c.stores[0].Run(ctx, run)
	if err != nil || r.Version != rounds || !r.Ended || c.applied.Load() != int64(rounds) {
		c.t.Errorf("%d rounds were applied, and the run is %+v, %v; want %d", c.applied.Load(), r, err, rounds)
	}
	all, err := c.stores[1].Rounds(ctx, run, 0, 1000)
	if err != nil {
		c.t.Fatal(err)
	}
	counted, sum := map[uint64]uint64{}, uint64(0)
	for _, one := range all {
		counted[one.ID] = one.Accepted
		sum += one.Accepted
	}
	if !maps.Equal(counted, told) || sum != r.Reports {
		c.t.Errorf("counted %v, %d in all; accepted %v", counted, r.Reports, told)
	}
	if specs, err := c.stores[0].Specs(ctx, run); err != nil || len(specs) != int(rounds)+1 {
		c.t.Errorf("%d revisions, %v; want %d", len(specs), err, rounds+1)
	}
}
