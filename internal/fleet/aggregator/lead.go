package aggregator

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/store"
	"github.com/discreet-rl/discreet/train"
)

// hold is how long a leader leads without renewing its lease.
const hold = 5 * time.Second

// lead looks at the runs with every tick until ctx ends, and does what is due for
// those that nobody else leads.
func (a *Aggregator) lead(ctx context.Context) {
	tick := time.NewTicker(a.cfg.Tick)
	defer tick.Stop()
	for {
		if err := a.tick(ctx); err != nil && ctx.Err() == nil {
			a.cfg.Log.Error("the runs cannot be looked at or moved on; it is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (a *Aggregator) tick(ctx context.Context) error {
	err := a.refresh(ctx)
	if err != nil {
		return err
	}
	a.mu.Lock()
	all := make([]*live, 0, len(a.runs))
	for _, l := range a.runs {
		all = append(all, l)
	}
	a.mu.Unlock()
	for _, l := range all {
		if e := a.advance(ctx, l); e != nil && !errors.Is(e, store.ErrFence) && !errors.Is(e, store.ErrState) {
			err = errors.Join(err, e)
		}
	}
	return err
}

// advance does what is due for a run.
func (a *Aggregator) advance(ctx context.Context, l *live) error {
	latest, err := a.store.Latest(ctx, l.id, 1)
	if err != nil {
		return err
	}
	l.mu.RLock()
	last, ended, full, scheduled := l.last, l.ended, l.last != nil && l.count >= uint64(l.last.MaxReports), l.settings.Schedule.Rounds
	l.mu.RUnlock()
	done := uint64(0)
	if len(latest) == 1 {
		done = latest[0].ID
		if last == nil || last.Number != done {
			return nil // another opened it since: the next tick knows it
		}
		a.age.Set(a.cfg.Now().Sub(last.Opens).Seconds())
		switch latest[0].State {
		case store.StateOpen:
			closing, err := a.store.CloseRound(ctx, l.id, done, a.cfg.Grace, full)
			if err != nil || !closing {
				return err
			}
			return a.finish(ctx, l)
		case store.StateClosing:
			return a.finish(ctx, l)
		}
	}
	if ended || done >= scheduled {
		return nil
	}
	r, err := a.store.Run(ctx, l.id)
	if err != nil {
		return err
	}
	p, err := a.store.Policy(ctx, l.id, r.Version)
	if err != nil {
		return err
	}
	if _, err := a.store.OpenRound(ctx, l.id, a.scheduled(l, p)); err != nil {
		return err
	}
	return a.refresh(ctx)
}

// finish applies the last round, which is closing, if nobody else leads.
func (a *Aggregator) finish(ctx context.Context, l *live) error {
	fence, err := a.store.Lease(ctx, l.id, hold)
	if err != nil || fence == 0 {
		return err
	}
	a.fence.Set(float64(fence))
	ctx, cancel := context.WithCancel(ctx)
	renewed := make(chan struct{})
	go func() { // for as long as the work takes
		defer close(renewed)
		t := time.NewTicker(hold / 3)
		defer t.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-t.C:
				if errors.Is(a.store.Renew(ctx, l.id, fence, hold), store.ErrFence) {
					cancel()
				}
			}
		}
	}()
	begun := a.cfg.Now()
	err = a.apply(ctx, l, fence)
	cancel()
	<-renewed
	a.applying.Observe(a.cfg.Now().Sub(begun).Seconds())
	ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), hold)
	defer cancel()
	return errors.Join(err, a.store.Yield(ctx, l.id, fence), a.refresh(ctx))
}

// apply computes what the last round comes to, and commits it under the fence.
func (a *Aggregator) apply(ctx context.Context, l *live, fence int64) error {
	l.mu.RLock()
	round, set := l.last, l.settings
	l.mu.RUnlock()
	r, err := a.store.Run(ctx, l.id)
	if err != nil {
		return err
	}
	policy, err := a.store.Policy(ctx, l.id, round.Version)
	if err != nil {
		return err
	}
	theta, err := fleet.DecodeWeights(policy.Weights)
	if err != nil {
		return err
	}
	var m Memory
	if err := json.Unmarshal([]byte(policy.Optimizer), &m); err != nil {
		return err
	}
	var leaves []fleet.Hash
	u, err := set.Apply(round, theta, m, r.Reports, func(f func([32]byte, []byte) error) error {
		return a.store.Reports(ctx, l.id, round.Number, func(p store.Report) error {
			leaves = append(leaves, fleet.Leaf(l.id, round.Number, p.Nullifier, p.Body))
			return f(p.Nullifier, p.Body)
		})
	})
	state, res := store.StateApplied, store.Result{Accepted: u.Accepted, Positive: u.Positive, Keep: a.cfg.Keep}
	switch {
	case errors.Is(err, ErrDiverged):
		a.cfg.Log.Error("a round is abandoned and the run ends", "round", round.Number, "error", err)
		state, res.End = store.StateAbandoned, true
	case err != nil:
		return err
	case u.Accepted < uint64(round.MinReports):
		state = store.StateAbandoned
	case u.Theta != nil:
		memory, err := json.Marshal(u.Memory)
		if err != nil {
			return err
		}
		policy = store.Policy{Version: r.Version + 1, Round: round.Number, Weights: fleet.EncodeWeights(u.Theta), Optimizer: string(memory)}
		res.Policy, res.Moved, res.Digest = &policy, u.Accepted, u.Digest[:]
	}
	res.End = res.End || set.Schedule.Rounds > 0 && round.Number >= set.Schedule.Rounds
	if set.Schedule.Rounds > 0 {
		if res.Policy == nil && policy.Version != r.Version { // after a rollback that did not come about
			if policy, err = a.store.Policy(ctx, l.id, r.Version); err != nil {
				return err
			}
		}
		res.Next = a.scheduled(l, policy)
	}
	after := r.Version
	if res.Policy != nil {
		after = res.Policy.Version
	}
	if res.Record, err = a.record(ctx, l, round, state, u, leaves, after, res.Policy); err != nil {
		return err
	}
	if err := a.store.Apply(ctx, l.id, round.Number, fence, state, res); err != nil {
		return err
	}
	a.rounds[string(state)].Inc()
	a.cfg.Log.Info("a round has ended", "round", round.Number, "state", string(state), "accepted", u.Accepted, "fence", fence)
	return nil
}

// scheduled makes the round that the schedule says is next, from the run's policy.
func (a *Aggregator) scheduled(l *live, p store.Policy) func(int64, store.Run, *store.Round) (store.Round, error) {
	return func(now int64, r store.Run, last *store.Round) (store.Round, error) {
		l.mu.RLock()
		s := l.settings.Schedule
		l.mu.RUnlock()
		n := uint64(1)
		if last != nil {
			n = last.ID + 1
		}
		ask := &fleetv1.OpenRoundRequest{
			Kind: fleetv1.Kind_KIND_TRAIN, SampleRate: s.SampleRate, TrainFor: milliseconds(s.TrainSeconds), UploadFor: milliseconds(s.UploadSeconds),
			MinReports: s.MinReports, MaxReports: s.MaxReports,
		}
		if s.EvaluateEvery > 0 && n%s.EvaluateEvery == 0 {
			ask.Kind, ask.Threshold = fleetv1.Kind_KIND_EVALUATE, s.Threshold
			ask.SampleRate, ask.MaxReports = s.OfEvaluations()
		}
		if p.Version != r.Version {
			return store.Round{}, store.ErrFence // the weights have moved since they were looked at
		}
		return a.makeRound(l, ask, p, now, last)
	}
}

// makeRound signs the round that follows the last one and starts from the policy.
func (a *Aggregator) makeRound(l *live, ask *fleetv1.OpenRoundRequest, p store.Policy, now int64, last *store.Round) (store.Round, error) {
	l.mu.RLock()
	run := l.run
	l.mu.RUnlock()
	theta, err := fleet.DecodeWeights(p.Weights)
	if err != nil {
		return store.Round{}, err
	}
	hash := train.HashWeights(theta)
	before := run.Head()
	if last != nil {
		before = fleet.Head{Round: last.ID, Hash: fleet.HashOf(signed(last.Signed))}
	}
	id, key, err := a.cfg.Keys.signer(run, time.UnixMilli(now))
	if err != nil {
		return store.Round{}, err
	}
	if !run.HasPermits() {
		return store.Round{}, fmt.Errorf("%w: the run is of a server before permits, and its agents could report twice: rotate its keys, or create another run", store.ErrState)
	}
	randomizer := run.RandomizerOf(ask.GetKind())
	beacon := make([]byte, 32)
	_, _ = rand.Read(beacon) // it ends the process rather than fail
	spec := &fleetv1.RoundSpec{
		Run: l.id[:], Round: before.Round + 1, Previous: before.Hash[:], Version: p.Version, WeightsSha256: hash[:],
		Kind: ask.GetKind(), Randomizer: fleet.RandomizerMessage(randomizer), Epsilon: randomizer.Epsilon, Beacon: beacon, SampleRate: ask.GetSampleRate(),
		Opens: now, TrainBy: now + ask.GetTrainFor(), UploadFrom: now + ask.GetTrainFor(), UploadUntil: now + ask.GetTrainFor() + ask.GetUploadFor(),
		MinReports: ask.GetMinReports(), MaxReports: ask.GetMaxReports(), Threshold: ask.GetThreshold(),
	}
	s, err := fleet.SignRound(run, before, id, key, spec)
	if err != nil {
		return store.Round{}, err
	}
	return store.Round{ID: spec.GetRound(), Kind: int32(spec.GetKind()), Version: p.Version, UploadFrom: spec.GetUploadFrom(), UploadUntil: spec.GetUploadUntil(),
		Signed: store.Signed{Spec: s.GetSpec(), Key: s.GetKey(), Signature: s.GetSignature()}}, nil
}
