package aggregator

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/store"
	"github.com/discreet-rl/discreet/internal/service"
)

// What the store counts by and what devices read is one number.
var _ [fleet.EraBits]struct{} = [store.EraBits]struct{}{}

// Draw implements the protocol.
func (s reportServer) Draw(ctx context.Context, r *fleetv1.DrawRequest) (*fleetv1.DrawResponse, error) {
	id, ok := service.IdentityOf(ctx)
	if !ok {
		return nil, connect.NewError(connect.CodeUnauthenticated, service.ErrAnonymous)
	}
	permit, err := s.a.draw(ctx, id, r)
	if err != nil {
		return nil, s.a.clientError(err)
	}
	return &fleetv1.DrawResponse{Permit: permit}, nil
}

// draw gives a device its permit for a round that takes reports.
func (a *Aggregator) draw(ctx context.Context, id service.Identity, r *fleetv1.DrawRequest) (*fleetv1.SignedSpec, error) {
	l, err := a.find(ctx, r.GetRun())
	if err != nil {
		return nil, err
	}
	if len(r.GetNonce()) != fleet.NonceSize {
		return nil, fmt.Errorf("%w: a nonce of %d bytes; want %d", ErrConfig, len(r.GetNonce()), fleet.NonceSize)
	}
	round, full, _, err := a.roundOf(ctx, l, r.GetRound())
	if err != nil {
		return nil, err
	}
	if round == nil || full {
		return nil, fmt.Errorf("%w: round %d takes no reports now", store.ErrState, r.GetRound())
	}
	pseudonym := a.cfg.Keys.pseudonymOf(id.Name)
	drawn, err := a.draws.submit(ctx, place{l.id, round.Number}, store.Draw{
		Place: func(n uint64) store.Hash { return fleet.Place(pseudonym, n) }, Here: func(n uint64) store.Hash { return fleet.PlaceInRun(pseudonym, l.id, n) },
		Drawn: r.GetDrawn(), DrawnHere: r.GetDrawnHere(), Request: sha256.Sum256(r.GetNonce()),
	})
	switch {
	case errors.Is(err, errFull):
		a.exhausted.Inc()
		return nil, later(connect.CodeResourceExhausted, "more permits than can be written down now")
	case err != nil:
		return nil, err
	case drawn.Closed == store.ReportEarly:
		return nil, later(connect.CodeUnavailable, "the upload of this round has not begun")
	case drawn.Closed != 0:
		return nil, fmt.Errorf("%w: round %d takes no reports now", store.ErrState, r.GetRound())
	}
	run := l.spec()
	key, private, err := a.cfg.Keys.signer(run, round.Opens)
	if err != nil {
		return nil, err
	}
	return run.SignPermit(key, private, pseudonym, fleet.Permit{Round: drawn.Round, Number: drawn.Number, Request: drawn.Request})
}

// drawAll draws the permits of a batch.
func (a *Aggregator) drawAll(ctx context.Context, at place, draws []store.Draw) ([]store.Drawn, error) {
	l, err := a.find(ctx, at.run[:])
	if err != nil {
		return nil, err
	}
	return a.store.Draw(ctx, at.run, at.round, draws, uint64(l.spec().Reports), a.cfg.Grace)
}

// permitted tells whether the device has drawn a permit for the round.
func (l *live) permitted(pseudonym [32]byte, round uint64, permit *fleetv1.SignedSpec) (bool, error) {
	if permit == nil {
		return false, connect.NewError(connect.CodeFailedPrecondition, fmt.Errorf("the report comes without a permit: the agent is older than %s; update it", fleet.PermitClient))
	}
	p, err := l.spec().VerifyPermit(pseudonym, permit)
	return err == nil && p.Round == round, nil
}
