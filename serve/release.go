package serve

import (
	"context"
	"errors"
	"strconv"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/serve/curatorv1"
	"github.com/discreet-rl/discreet/serve/internal/asks"
)

// release returns the bytes of an ask that was released and told. The audit log has by then what
// the caller does with them.
func (s *Service) release(ctx context.Context, who *caller, a *asks.Ask, does string) ([]byte, error) {
	if a.State != asks.Released || who.role == roleAnalyst && !s.isTold(ctx, a) {
		return nil, connect.NewError(connect.CodeFailedPrecondition, errors.New("the ask has no release"))
	}
	text, err := s.store.Release(ctx, a.ID)
	if err != nil {
		return nil, s.broken(err)
	}
	if err := s.reads(ctx, who, a.ID, does); err != nil {
		return nil, err
	}
	return text, nil
}

// GetRelease implements the call.
func (s curator) GetRelease(ctx context.Context, r *curatorv1.GetReleaseRequest) (*curatorv1.GetReleaseResponse, error) {
	who, a, err := s.enterAsk(ctx, curatorv1.CuratorServiceGetReleaseProcedure, r.GetId())
	if err != nil {
		return nil, err
	}
	text, err := s.release(ctx, who, a, readsRelease)
	if err != nil {
		return nil, err
	}
	return &curatorv1.GetReleaseResponse{Release: text}, nil
}

// VerifyRelease implements the call.
func (s curator) VerifyRelease(ctx context.Context, r *curatorv1.VerifyReleaseRequest) (*curatorv1.VerifyReleaseResponse, error) {
	who, a, err := s.enterAsk(ctx, curatorv1.CuratorServiceVerifyReleaseProcedure, r.GetId())
	if err != nil {
		return nil, err
	}
	text, err := s.release(ctx, who, a, verifiesRelease)
	if err != nil {
		return nil, err
	}
	holds, findings, err := s.verify(ctx, who.dataset, text)
	if err != nil {
		return nil, err
	}
	return &curatorv1.VerifyReleaseResponse{Holds: holds, Findings: findings}, nil
}

// verify recomputes a release and holds it against its entry.
func (s *Service) verify(ctx context.Context, d *dataset, text []byte) (holds bool, findings []string, err error) {
	leave, err := s.enterPlanning(ctx) // it is planned again
	if err != nil {
		return false, nil, err
	}
	defer leave()
	v, wrong := discreet.Verify(text, nil)
	if wrong != nil {
		return false, []string{s.public(d, wrong.Error())}, nil
	}
	if v.Epsilon != nil {
		findings = append(findings, "accounted anew: epsilon at most "+strconv.FormatFloat(v.Epsilon.Upper, 'g', 6, 64))
	}
	if v.Replanned {
		findings = append(findings, "its plan was made again, and every field that follows from it agrees")
	} else {
		findings = append(findings, "NOT checked: its plan, and every field that follows from it; that it was not changed rests on its ledger entry alone")
	}
	if wrong := d.ledger.VerifyRelease(ctx, text); wrong != nil {
		return false, append(findings, s.public(d, wrong.Error())), nil
	}
	findings = append(findings, "its ledger entry is that of its charge")
	return true, append(findings, v.Notes...), nil
}
