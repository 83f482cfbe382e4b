package aggregator

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/store"
)

// live is what a replica knows of a run without asking the store: specs, the last
// round, and its weights. It is looked at again with every tick, and whenever somebody
// speaks of a round that is not known.
type live struct {
	id store.RunID

	mu       sync.RWMutex
	settings settings
	ended    bool
	version  uint64
	run      *fleet.Run
	specs    []*fleetv1.SignedSpec
	rounds   []*fleetv1.SignedSpec // all of them; that of round n at n-1
	last     *fleet.Round          // nil before the first
	recent   []*fleet.Round        // it and the ones before it whose reports the store still has
	weights  []byte                // of the last round
	count    uint64                // its reports, when they were last counted
	mine     uint64                // accepted here since
}

// spec is the run by its last revision.
func (l *live) spec() *fleet.Run {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.run
}

// kept is the number of rounds whose reports the store has, the last one among them.
const kept = 3

func signed(g store.Signed) *fleetv1.SignedSpec {
	return &fleetv1.SignedSpec{Spec: g.Spec, Key: g.Key, Signature: g.Signature}
}

// refresh reads what is new of all runs.
func (a *Aggregator) refresh(ctx context.Context) error {
	a.refreshing.Lock()
	defer a.refreshing.Unlock()
	runs, err := a.store.Runs(ctx)
	if err != nil {
		return err
	}
	for i, r := range runs {
		l := a.known(r.ID[:])
		if l == nil {
			l = &live{id: r.ID}
			if err := json.Unmarshal([]byte(r.Settings), &l.settings); err != nil {
				return fmt.Errorf("settings of a run in the store: %w", err)
			}
		}
		if err := a.refreshRun(ctx, l, r); err != nil {
			return err
		}
		a.mu.Lock()
		a.runs[r.ID] = l
		if i == 0 {
			a.only = l
		}
		a.mu.Unlock()
	}
	return nil
}

// refreshRun brings one up to date; nobody else does so meanwhile.
func (a *Aggregator) refreshRun(ctx context.Context, l *live, r store.Run) error {
	rows, err := a.store.Specs(ctx, r.ID)
	if err != nil {
		return err
	}
	run, specs := l.run, l.specs
	if len(rows) != len(specs) {
		specs = nil
		for _, g := range rows {
			specs = append(specs, signed(g))
		}
		if run, err = fleet.VerifyRun(a.cfg.Keys.root, specs); err != nil {
			return fmt.Errorf("a run in the store: %w", err)
		}
		if !r.Ended && !run.HasPermits() {
			a.cfg.Log.Warn("a run that is older than permits has no further rounds: rotate its keys, or create another")
		}
		if err := a.cfg.Keys.reload(); err != nil {
			return err
		}
	}
	rounds, last, recent, weights := l.rounds, l.last, l.recent, l.weights
	const page = 1000
	for {
		more, err := a.store.Rounds(ctx, r.ID, uint64(len(rounds)), page)
		if err != nil {
			return err
		}
		for _, row := range more {
			head := run.Head()
			if n := len(rounds); n > 0 {
				head = fleet.Head{Round: uint64(n), Hash: fleet.HashOf(rounds[n-1])}
			}
			if last, err = run.VerifyRound(head, signed(row.Signed)); err != nil {
				return fmt.Errorf("a round in the store: %w", err)
			}
			rounds = append(rounds, signed(row.Signed))
			recent = append(recent, last)
		}
		if len(more) < page {
			break
		}
	}
	if len(rounds) != len(l.rounds) {
		p, err := a.store.Policy(ctx, r.ID, last.Version)
		if err != nil {
			return err
		}
		weights = p.Weights
	}
	var count uint64
	if last != nil {
		if count, err = a.store.Count(ctx, r.ID, last.Number); err != nil {
			return err
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	recent = slices.Clone(recent[max(0, len(recent)-kept):])
	l.run, l.specs, l.rounds, l.last, l.recent, l.weights = run, specs, rounds, last, recent, weights
	l.ended, l.version, l.count, l.mine = r.Ended, r.Version, count, 0
	return nil
}

// meant is the run of an identifier that an operator gave: none is good for an only run, for
// what is done to a run should never be done to another.
func (a *Aggregator) meant(ctx context.Context, id []byte) (*live, error) {
	l, err := a.find(ctx, id)
	if err != nil || len(id) > 0 {
		return l, err
	}
	if err := a.refresh(ctx); err != nil {
		return nil, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.runs) > 1 {
		var names []string
		for id := range a.runs {
			names = append(names, hex.EncodeToString(id[:]))
		}
		slices.Sort(names)
		return nil, fmt.Errorf("%w: there are %d runs; name one: %s", ErrConfig, len(names), strings.Join(names, ", "))
	}
	return l, nil
}

// find is the run of an identifier, the oldest for none.
func (a *Aggregator) find(ctx context.Context, id []byte) (*live, error) {
	l := a.known(id)
	if l == nil && (len(id) == 0 || len(id) == len(store.RunID{})) {
		if err := a.refresh(ctx); err != nil {
			return nil, err
		}
		l = a.known(id)
	}
	if l == nil {
		return nil, fmt.Errorf("run: %w", store.ErrUnknown)
	}
	return l, nil
}

func (a *Aggregator) known(id []byte) *live {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(id) == 0 {
		return a.only
	}
	if len(id) != len(store.RunID{}) {
		return nil
	}
	return a.runs[store.RunID(id)]
}

// milliseconds are those of a number of seconds.
func milliseconds(seconds float64) int64 {
	return int64(seconds * float64(time.Second/time.Millisecond))
}
