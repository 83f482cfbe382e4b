package serve

import (
	"cmp"
	"context"
	"errors"
	"strconv"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/serve/curatorv1"
	"github.com/discreet-rl/discreet/serve/internal/asks"
)

// steward is the StewardService.
type steward struct{ *Service }

// Decide implements the call.
func (s steward) Decide(ctx context.Context, r *curatorv1.DecideRequest) (*curatorv1.DecideResponse, error) {
	who, a, err := s.enterAsk(ctx, curatorv1.StewardServiceDecideProcedure, r.GetId())
	if err != nil {
		return nil, err
	}
	if a, err = s.decide(ctx, who, a.ID, r.GetApprove(), r.GetReason()); err != nil {
		return nil, err
	}
	return &curatorv1.DecideResponse{Ask: s.state(ctx, who, a)}, nil
}

// decide approves a waiting ask or refuses it, which needs a reason.
func (s *Service) decide(ctx context.Context, who *caller, id string, approve bool, reason string) (*asks.Ask, error) {
	if len(reason) > longestPurpose || !printable(reason) {
		return nil, invalid("reason", errors.New("want one line of at most 500 bytes"))
	}
	if approve {
		return s.move(ctx, who, id, []asks.State{asks.Waiting}, asks.Queued, reason)
	}
	if reason == "" {
		return nil, invalid("reason", errors.New("a refusal needs one; the analyst reads it, so it must say nothing of the data"))
	}
	return s.move(ctx, who, id, []asks.State{asks.Waiting}, asks.Refused, "the steward refused: "+reason)
}

// withLedger runs f on the ledger of a dataset, if that is whole.
func (s *Service) withLedger(ctx context.Context, d *dataset, f func(*ledger.Ledger) error) error {
	if err := s.whole(ctx, d); err != nil {
		return err
	}
	err := f(d.ledger)
	switch {
	case err == nil:
		return nil
	case inputFault(err) || fault.Of(err) == fault.RefusedFault:
		return connect.NewError(connect.CodeInvalidArgument, errors.New(s.public(d, err.Error())))
	}
	return s.broken(err)
}

// SetShare implements the call.
func (s steward) SetShare(ctx context.Context, r *curatorv1.SetShareRequest) (*curatorv1.SetShareResponse, error) {
	who, err := s.enter(ctx, curatorv1.StewardServiceSetShareProcedure, r.GetDataset())
	if err != nil {
		return nil, err
	}
	if who.People[r.GetAnalyst()] != roleAnalyst {
		return nil, invalid("analyst", errors.New("nobody of this name is an analyst of the dataset"))
	}
	share := dp.Budget{Epsilon: r.GetShare().GetEpsilon(), Delta: r.GetShare().GetDelta()}
	err = s.changes(ctx, who, "sets the share of "+r.GetAnalyst()+" to "+written(share), func(l *ledger.Ledger) error { return l.SetShare(ctx, r.GetAnalyst(), share) })
	if err != nil {
		return nil, err
	}
	return &curatorv1.SetShareResponse{}, nil
}

// SetBudget implements the call.
func (s steward) SetBudget(ctx context.Context, r *curatorv1.SetBudgetRequest) (*curatorv1.SetBudgetResponse, error) {
	who, err := s.enter(ctx, curatorv1.StewardServiceSetBudgetProcedure, r.GetDataset())
	if err != nil {
		return nil, err
	}
	budget := dp.Budget{Epsilon: r.GetBudget().GetEpsilon(), Delta: r.GetBudget().GetDelta()}
	err = s.changes(ctx, who, "sets the budget to "+written(budget), func(l *ledger.Ledger) error { return l.SetBudget(ctx, budget, r.GetReason()) })
	if err != nil {
		return nil, err
	}
	return &curatorv1.SetBudgetResponse{}, nil
}

func written(b dp.Budget) string {
	return "epsilon " + strconv.FormatFloat(b.Epsilon, 'g', -1, 64) + ", delta " + strconv.FormatFloat(b.Delta, 'g', -1, 64)
}

// ListNotices implements the call.
func (s steward) ListNotices(ctx context.Context, r *curatorv1.ListNoticesRequest) (*curatorv1.ListNoticesResponse, error) {
	who, err := s.enter(ctx, curatorv1.StewardServiceListNoticesProcedure, r.GetDataset())
	if err != nil {
		return nil, err
	}
	n, below, err := page(r.GetPageSize(), r.GetPageToken())
	if err != nil {
		return nil, err
	}
	list, err := s.store.Notices(ctx, who.dataset.name, below, n)
	if err != nil {
		return nil, s.broken(err)
	}
	out := &curatorv1.ListNoticesResponse{}
	for _, x := range list {
		out.Notices = append(out.Notices, &curatorv1.Notice{Time: timestamppb.New(x.Made), Ask: x.Ask, Text: x.Text})
	}
	if len(list) == n {
		out.NextPageToken = strconv.FormatInt(list[n-1].Seq, 10)
	}
	out.MostFailedChecks = int64(who.mostFailedChecks())
	failed, err := who.ledger.FailedChecks(ctx)
	problem := who.intact(ctx)
	if err == nil && shown(problem) == nil {
		out.FailedChecks = proto.Int64(int64(len(failed)))
	}
	if err = cmp.Or(problem, err); err != nil {
		// What is wrong with the ledger is the first that the steward has to read.
		out.Notices = append([]*curatorv1.Notice{{Time: timestamppb.Now(), Text: err.Error()}}, out.Notices...)
	}
	return out, nil
}

// mostFailedChecks are those that the contract allows before asks are refused.
func (d *dataset) mostFailedChecks() int {
	if c := d.part.Contract; c != nil && c.FailedChecks > 0 {
		return c.FailedChecks
	}
	return ledger.DefaultFailedChecks
}

// ClearChecks implements the call.
func (s steward) ClearChecks(ctx context.Context, r *curatorv1.ClearChecksRequest) (*curatorv1.ClearChecksResponse, error) {
	who, err := s.enter(ctx, curatorv1.StewardServiceClearChecksProcedure, r.GetDataset())
	if err != nil {
		return nil, err
	}
	out := &curatorv1.ClearChecksResponse{}
	err = s.changes(ctx, who, "clears the failed checks", func(l *ledger.Ledger) error {
		cleared, err := l.ClearChecks(ctx)
		out.Cleared = int64(len(cleared))
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := s.store.GoOn(ctx, who.dataset.name); err != nil {
		return nil, s.broken(err)
	}
	s.call()
	return out, nil
}

// ListAudit implements the call.
func (s steward) ListAudit(ctx context.Context, r *curatorv1.ListAuditRequest) (*curatorv1.ListAuditResponse, error) {
	who, err := s.enter(ctx, curatorv1.StewardServiceListAuditProcedure, r.GetDataset())
	if err != nil {
		return nil, err
	}
	from := int64(0)
	n, at, err := page(r.GetPageSize(), r.GetPageToken())
	if err != nil {
		return nil, err
	}
	if r.GetPageToken() != "" {
		from = at
	}
	lines, err := s.store.Audit(ctx, who.dataset.name, from, n)
	if err != nil {
		return nil, s.broken(err)
	}
	out := &curatorv1.ListAuditResponse{}
	for _, l := range lines {
		out.Entries = append(out.Entries, &curatorv1.AuditEntry{
			Seq: l.Seq, Time: timestamppb.New(l.Time), Who: l.Who, Address: l.Address, Dataset: l.Dataset, Ask: l.Ask, What: l.What, Hash: l.Hash,
		})
	}
	if len(lines) == n {
		out.NextPageToken = strconv.FormatInt(lines[n-1].Seq+1, 10)
	}
	return out, nil
}

// inputFault tells an error that the caller can mend.
func inputFault(err error) bool { return fault.Of(err) == fault.InputFault }
