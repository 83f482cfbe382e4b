package aggregator

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/store"
	"github.com/discreet-rl/discreet/internal/service"
)

type operatorServer struct{ a *Aggregator }

// envelope is what a message needs beside the sealed report: names and the permit.
const envelope = 512

// CreateRun implements the protocol.
func (o operatorServer) CreateRun(ctx context.Context, r *fleetv1.CreateRunRequest) (*fleetv1.CreateRunResponse, error) {
	run, err := fleet.VerifyRun(o.a.cfg.Keys.root, []*fleetv1.SignedSpec{r.GetSpec()})
	if err != nil {
		return nil, o.a.clientError(err)
	}
	if !run.HasPermits() {
		return nil, o.a.clientError(fmt.Errorf("%w: min_client is %q; agents before %s draw no permits, and a copied one could report twice", ErrConfig, run.MinClient, fleet.PermitClient))
	}
	if most := o.a.cfg.MostRequest; run.SealedSize()+envelope > most {
		return nil, o.a.clientError(fmt.Errorf("%w: reports of %d bytes do not fit into requests of %d; raise the server's limit", ErrConfig, run.SealedSize(), most))
	}
	if err := o.a.keysFor(run); err != nil {
		return nil, o.a.clientError(err)
	}
	theta, err := fleet.DecodeWeights(r.GetWeights())
	if err != nil {
		return nil, o.a.clientError(err)
	}
	if len(theta) != run.Dim {
		return nil, o.a.clientError(fmt.Errorf("%w: %d initial weights; the run has %d", ErrConfig, len(theta), run.Dim))
	}
	s := settings{Evaluations: uint64(r.GetEvaluations())}
	for data, v := range map[*[]byte]any{&r.OptimizerJson: &s.Optimizer, &r.InfluenceJson: &s.Influence, &r.ScheduleJson: &s.Schedule} {
		if err := strict(*data, v); err != nil {
			return nil, o.a.clientError(err)
		}
	}
	if err := s.validate(); err != nil {
		return nil, o.a.clientError(err)
	}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, o.a.clientError(err)
	}
	memory, err := json.Marshal(s.NewMemory(run.Dim))
	if err != nil {
		return nil, o.a.clientError(err)
	}
	err = o.a.store.CreateRun(ctx, store.Run{ID: run.ID, Settings: string(text)},
		store.Signed{Spec: r.GetSpec().GetSpec(), Key: r.GetSpec().GetKey(), Signature: r.GetSpec().GetSignature()},
		store.Policy{Weights: fleet.EncodeWeights(theta), Optimizer: string(memory)})
	if err == nil {
		err = o.a.refresh(ctx)
	}
	return &fleetv1.CreateRunResponse{}, o.a.clientError(err)
}

// keysFor tells whether the private halves of a run's keys are here.
func (a *Aggregator) keysFor(run *fleet.Run) error {
	if err := a.cfg.Keys.reload(); err != nil {
		return err
	}
	return a.cfg.Keys.holds(run, a.cfg.Now())
}

// OpenRound implements the protocol.
func (o operatorServer) OpenRound(ctx context.Context, r *fleetv1.OpenRoundRequest) (*fleetv1.OpenRoundResponse, error) {
	l, err := o.a.meant(ctx, r.GetRun())
	if err != nil {
		return nil, o.a.clientError(err)
	}
	if r.GetTrainFor() < 0 || r.GetUploadFor() <= 0 {
		return nil, o.a.clientError(fmt.Errorf("%w: %d ms to train and %d to upload", ErrConfig, r.GetTrainFor(), r.GetUploadFor()))
	}
	counted := uint64(0)
	if r.GetKind() == fleetv1.Kind_KIND_EVALUATE {
		if counted, err = o.a.looksLeft(ctx, l); err != nil {
			return nil, o.a.clientError(err)
		}
	}
	current, err := o.a.store.Run(ctx, l.id)
	if err != nil {
		return nil, o.a.clientError(err)
	}
	version := current.Version
	if r.GetRollBack() || r.GetFromVersion() != 0 {
		if l.settings.Schedule.Rounds > 0 && !current.Ended {
			return nil, o.a.clientError(fmt.Errorf("%w: the run follows its schedule, whose rounds start from the current weights and follow each other at once; only a run without a schedule goes back to an earlier version. "+
				"End this one (round end); every version stays in the store (policy --version-number)", store.ErrState))
		}
		version = r.GetFromVersion()
	}
	p, err := o.a.store.Policy(ctx, l.id, version)
	if err != nil {
		return nil, o.a.clientError(err)
	}
	opened, err := o.a.store.OpenRound(ctx, l.id, func(now int64, run store.Run, last *store.Round) (store.Round, error) {
		if run.Version != current.Version {
			return store.Round{}, fmt.Errorf("%w: the weights have moved meanwhile; ask again", store.ErrState)
		}
		if r.GetKind() == fleetv1.Kind_KIND_EVALUATE && last != nil && last.ID != counted {
			return store.Round{}, fmt.Errorf("%w: another round was opened meanwhile; ask again", store.ErrState)
		}
		return o.a.makeRound(l, r, p, now, last)
	})
	if err == nil {
		err = o.a.refresh(ctx)
	}
	if err != nil {
		return nil, o.a.clientError(err)
	}
	return &fleetv1.OpenRoundResponse{Spec: signed(opened.Signed)}, nil
}

// looksLeft tells whether the next round may evaluate: with those that the schedule makes
// after it, there are to be no more evaluations than were announced. It returns the last
// round that it counted.
func (a *Aggregator) looksLeft(ctx context.Context, l *live) (last uint64, err error) {
	n := uint64(0)
	for {
		rounds, err := a.store.Rounds(ctx, l.id, last, pageOfRounds)
		if err != nil {
			return 0, err
		}
		for _, r := range rounds {
			last = r.ID
			if r.Kind == int32(fleetv1.Kind_KIND_EVALUATE) {
				n++
			}
		}
		if len(rounds) < pageOfRounds {
			break
		}
	}
	later := uint64(0)
	if s := l.settings.Schedule; s.EvaluateEvery > 0 && last+1 < s.Rounds {
		later = s.Evaluations() - (last+1)/s.EvaluateEvery
	}
	if l.settings.Evaluations < n+1+later {
		return 0, fmt.Errorf("%w: of %d evaluations that were announced %d are made and %d follow by the schedule; intervals hold for no more", store.ErrState, l.settings.Evaluations, n, later)
	}
	return last, nil
}

// CloseRound implements the protocol.
func (o operatorServer) CloseRound(ctx context.Context, r *fleetv1.CloseRoundRequest) (*fleetv1.CloseRoundResponse, error) {
	l, err := o.a.meant(ctx, r.GetRun())
	if err != nil {
		return nil, o.a.clientError(err)
	}
	if _, err := o.a.store.CloseRound(ctx, l.id, r.GetRound(), 0, true); err != nil {
		return nil, o.a.clientError(err)
	}
	if err := o.a.advance(ctx, l); err != nil {
		return nil, o.a.clientError(err)
	}
	row, err := o.a.store.Round(ctx, l.id, r.GetRound())
	if err != nil {
		return nil, o.a.clientError(err)
	}
	return &fleetv1.CloseRoundResponse{Round: l.status(row)}, nil
}

// Revoke implements the protocol.
func (o operatorServer) Revoke(ctx context.Context, r *fleetv1.RevokeRequest) (*fleetv1.RevokeResponse, error) {
	code := normal(r.GetCode())
	var err error
	switch {
	case (code == "") == (len(r.GetSerial()) == 0):
		return nil, o.a.clientError(fmt.Errorf("%w: want either a certificate's serial number or a code, to revoke its device", ErrConfig))
	case code != "":
		if err = o.a.store.RevokeCode(ctx, hashed("code", code), hashed("device", o.a.cfg.Keys.deviceOf(code))); errors.Is(err, store.ErrUnknown) {
			err = fmt.Errorf("the code: %w", err)
		}
	default:
		serial := service.SerialNumber(o.a.cfg.Keys.ca.Certificate().SubjectKeyId, new(big.Int).SetBytes(r.GetSerial()))
		err = o.a.store.Revoke(ctx, serial)
	}
	if err == nil {
		err = o.a.revoked.Refresh(ctx) // here at once, and elsewhere within 30 s
	}
	return &fleetv1.RevokeResponse{}, o.a.clientError(err)
}

// RotateKey implements the protocol.
func (o operatorServer) RotateKey(ctx context.Context, r *fleetv1.RotateKeyRequest) (*fleetv1.RotateKeyResponse, error) {
	var spec fleetv1.RunSpec
	if err := proto.Unmarshal(r.GetSpec().GetSpec(), &spec); err != nil {
		return nil, o.a.clientError(fmt.Errorf("%w: %w", fleet.ErrSpec, err))
	}
	l, err := o.a.find(ctx, spec.GetRun())
	if err != nil {
		return nil, o.a.clientError(err)
	}
	l.mu.RLock()
	specs := append(append([]*fleetv1.SignedSpec(nil), l.specs...), r.GetSpec())
	l.mu.RUnlock()
	run, err := fleet.VerifyRun(o.a.cfg.Keys.root, specs)
	if err == nil {
		err = o.a.keysFor(run)
	}
	if err == nil {
		err = o.a.store.AddSpec(ctx, l.id, uint32(run.Revision), store.Signed{Spec: r.GetSpec().GetSpec(), Key: r.GetSpec().GetKey(), Signature: r.GetSpec().GetSignature()})
	}
	if err == nil {
		err = o.a.refresh(ctx)
	}
	return &fleetv1.RotateKeyResponse{}, o.a.clientError(err)
}

// Status implements the protocol.
func (o operatorServer) Status(ctx context.Context, r *fleetv1.StatusRequest) (*fleetv1.StatusResponse, error) {
	l, err := o.a.meant(ctx, r.GetRun())
	if err != nil {
		return nil, o.a.clientError(err)
	}
	run, err := o.a.store.Run(ctx, l.id)
	if err != nil {
		return nil, o.a.clientError(err)
	}
	rounds, err := o.a.store.Latest(ctx, l.id, int(min(max(r.GetRounds(), 1), 10*pageOfRounds)))
	if err != nil {
		return nil, o.a.clientError(err)
	}
	answer := &fleetv1.StatusResponse{Run: l.id[:], Version: run.Version, Ended: run.Ended}
	for _, row := range rounds {
		answer.Rounds = append(answer.Rounds, l.status(row))
	}
	return answer, nil
}

// status is a round as an operator sees it.
func (l *live) status(r store.Round) *fleetv1.RoundStatus {
	out := &fleetv1.RoundStatus{Round: r.ID, Kind: fleetv1.Kind(r.Kind), Version: r.Version, UploadUntil: r.UploadUntil, Accepted: r.Accepted}
	out.State = map[store.State]fleetv1.RoundState{
		store.StateOpen: fleetv1.RoundState_ROUND_STATE_OPEN, store.StateClosing: fleetv1.RoundState_ROUND_STATE_CLOSING,
		store.StateApplied: fleetv1.RoundState_ROUND_STATE_APPLIED, store.StateAbandoned: fleetv1.RoundState_ROUND_STATE_ABANDONED,
	}[r.State]
	if out.GetKind() == fleetv1.Kind_KIND_EVALUATE && r.State == store.StateApplied {
		s := NewSuccess(r.Positive, r.Accepted, l.spec().RandomizerOf(out.GetKind()).Epsilon, l.settings.Evaluations)
		out.Share, out.StdError, out.Low, out.High = s.Share, s.StdError, s.Low, s.High
		out.Needed = Needed(l.spec().RandomizerOf(out.GetKind()).Epsilon, l.settings.Evaluations)
	}
	return out
}

// EndRun implements the protocol.
func (o operatorServer) EndRun(ctx context.Context, r *fleetv1.EndRunRequest) (*fleetv1.EndRunResponse, error) {
	l, err := o.a.meant(ctx, r.GetRun())
	if err == nil {
		err = o.a.store.End(ctx, l.id)
	}
	if err == nil {
		err = o.a.refresh(ctx)
	}
	return &fleetv1.EndRunResponse{}, o.a.clientError(err)
}

// The bounds of enrolment codes.
const (
	mostCodes    = 10_000
	longestCodes = 90 * 24 * time.Hour
)

// CreateCodes implements the protocol.
func (o operatorServer) CreateCodes(ctx context.Context, r *fleetv1.CreateCodesRequest) (*fleetv1.CreateCodesResponse, error) {
	if r.GetCount() < 1 || r.GetCount() > mostCodes || r.GetValidFor() < 1 || r.GetValidFor() > longestCodes.Milliseconds() {
		return nil, o.a.clientError(fmt.Errorf("%w: %d codes that are good for %d ms; want 1 to %d, for 90 days at most", ErrConfig, r.GetCount(), r.GetValidFor(), mostCodes))
	}
	answer := &fleetv1.CreateCodesResponse{}
	var hashes []store.Hash
	for range r.GetCount() {
		code := rand.Text()
		answer.Codes = append(answer.Codes, code)
		hashes = append(hashes, hashed("code", code))
	}
	err := o.a.store.AddCodes(ctx, hashes, time.Duration(r.GetValidFor())*time.Millisecond)
	if err != nil {
		return nil, o.a.clientError(err)
	}
	return answer, nil
}

// GetPolicy implements the protocol.
func (o operatorServer) GetPolicy(ctx context.Context, r *fleetv1.GetPolicyRequest) (*fleetv1.GetPolicyResponse, error) {
	l, err := o.a.meant(ctx, r.GetRun())
	if err != nil {
		return nil, o.a.clientError(err)
	}
	version := r.GetVersion()
	if r.GetLatest() {
		run, err := o.a.store.Run(ctx, l.id)
		if err != nil {
			return nil, o.a.clientError(err)
		}
		version = run.Version
	}
	p, err := o.a.store.Policy(ctx, l.id, version)
	if err != nil {
		return nil, o.a.clientError(err)
	}
	return &fleetv1.GetPolicyResponse{Run: l.id[:], Version: p.Version, Round: p.Round, Weights: p.Weights}, nil
}
