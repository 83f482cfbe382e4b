package aggregator

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/store"
	"github.com/discreet-rl/discreet/train"
)

// record signs what a round came to, before it is committed under the fence. No report and no permit is added to it any more.
func (a *Aggregator) record(ctx context.Context, l *live, round *fleet.Round, state store.State, u Update, leaves []fleet.Hash, version uint64, policy *store.Policy) (*store.Record, error) {
	places, err := a.store.Places(ctx, l.id, round.Number)
	if err != nil {
		return nil, err
	}
	drawn, err := a.store.DrawnBy(ctx, l.id)
	if err != nil {
		return nil, err
	}
	last, err := a.store.LastRecord(ctx, l.id)
	if err != nil {
		return nil, err
	}
	if policy == nil {
		p, err := a.store.Policy(ctx, l.id, version)
		if err != nil {
			return nil, err
		}
		policy = &p
	}
	theta, err := fleet.DecodeWeights(policy.Weights)
	if err != nil {
		return nil, err
	}
	l.mu.RLock()
	run, learning := l.run, l.settings.Learning
	l.mu.RUnlock()
	how, err := json.Marshal(learning)
	if err != nil {
		return nil, err
	}
	out := &store.Record{Hashes: fleet.Ascending(leaves), Permits: fleet.Ascending(places)}
	previous, weights := run.First, train.HashWeights(theta)
	if last != nil {
		previous = sha256.Sum256(last)
	}
	of := func(data []byte) []byte { h := sha256.Sum256(data); return h[:] }
	m := &fleetv1.RoundRecord{
		Run: l.id[:], Round: round.Number, Previous: previous[:], SpecSha256: round.Hash[:], State: fleetv1.RoundState_ROUND_STATE_APPLIED,
		Accepted: u.Accepted, Positive: u.Positive, ReportsSha256: of(out.Hashes), PermitsSha256: of(out.Permits), Drawn: drawn,
		Version: version, WeightsSha256: weights[:], LearningSha256: of(how),
	}
	if state == store.StateAbandoned {
		m.State = fleetv1.RoundState_ROUND_STATE_ABANDONED
	}
	if u.Theta != nil && u.Accepted > 0 && u.Accepted >= uint64(round.MinReports) {
		out.Sum, m.SumSha256 = encodeSum(u.Sum), u.Digest[:]
	}
	id, key, err := a.cfg.Keys.signer(run, round.Opens)
	if err != nil {
		return nil, err
	}
	signed, err := fleet.SignRecord(id, key, m)
	if err != nil {
		return nil, err
	}
	out.Signed = store.Signed{Spec: signed.GetSpec(), Key: signed.GetKey(), Signature: signed.GetSignature()}
	return out, nil
}

// GetTranscript implements the protocol.
func (o operatorServer) GetTranscript(ctx context.Context, r *fleetv1.GetTranscriptRequest) (*fleetv1.GetTranscriptResponse, error) {
	l, err := o.a.meant(ctx, r.GetRun())
	if err != nil {
		return nil, o.a.clientError(err)
	}
	answer, err := o.a.ends(ctx, l)
	if r.GetRound() > 0 {
		answer, err = o.a.transcript(ctx, l, r.GetRound(), r.GetReports())
	}
	if err != nil {
		return nil, o.a.clientError(err)
	}
	return answer, nil
}

// ends is what is before and after the rounds of a transcript.
func (a *Aggregator) ends(ctx context.Context, l *live) (*fleetv1.GetTranscriptResponse, error) {
	run, err := a.store.Run(ctx, l.id)
	if err != nil {
		return nil, err
	}
	latest, err := a.store.Latest(ctx, l.id, 1)
	if err != nil {
		return nil, err
	}
	end := &fleetv1.TranscriptEnd{Run: l.id[:], Ended: run.Ended, At: a.cfg.Now().UnixMilli()}
	if len(latest) == 1 {
		end.Rounds = latest[0].ID
		if s := latest[0].State; s == store.StateOpen || s == store.StateClosing {
			end.Rounds--
			end.Ended = false
		}
	}
	if end.GetRounds() > 0 {
		record, err := a.store.Record(ctx, l.id, end.GetRounds())
		if err != nil && !errors.Is(err, store.ErrUnknown) {
			return nil, err
		} else if err == nil {
			h := sha256.Sum256(record.Spec)
			end.RecordSha256 = h[:]
		}
	}
	p, err := a.store.Policy(ctx, l.id, 0)
	if err != nil {
		return nil, err
	}
	l.mu.RLock()
	spec, learning, at := l.run, l.settings.Learning, a.cfg.Now()
	if l.last != nil { // a key that was good then; a run may be published after its keys have ended
		at = l.last.Opens
	}
	l.mu.RUnlock()
	out := &fleetv1.GetTranscriptResponse{Weights: p.Weights}
	if out.LearningJson, err = json.Marshal(learning); err != nil {
		return nil, err
	}
	id, key, err := a.cfg.Keys.signer(spec, at)
	if err != nil {
		return nil, err
	}
	out.End, err = fleet.SignEnd(id, key, end)
	return out, err
}

// transcript is that of one round.
func (a *Aggregator) transcript(ctx context.Context, l *live, number uint64, reports bool) (*fleetv1.GetTranscriptResponse, error) {
	round, err := a.store.Round(ctx, l.id, number)
	if err != nil {
		return nil, err
	}
	out := &fleetv1.GetTranscriptResponse{Spec: signed(round.Signed)}
	record, err := a.store.Record(ctx, l.id, number)
	if errors.Is(err, store.ErrUnknown) {
		return out, nil
	}
	if err != nil {
		return nil, err
	}
	out.Record, out.Sum, out.Hashes, out.Permits = signed(record.Signed), record.Sum, record.Hashes, record.Permits
	if !reports {
		return out, nil
	}
	err = a.store.Reports(ctx, l.id, number, func(r store.Report) error {
		out.Reports = append(out.Reports, &fleetv1.OpenReport{Nullifier: append([]byte(nil), r.Nullifier[:]...), Body: r.Body})
		return nil
	})
	return out, err
}
