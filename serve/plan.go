package serve

import (
	"context"
	"errors"
	"slices"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/internal/charging"
	"github.com/discreet-rl/discreet/internal/report"

	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// Plan implements the call.
func (s curator) Plan(ctx context.Context, r *curatorv1.PlanRequest) (*curatorv1.PlanResponse, error) {
	who, err := s.enter(ctx, curatorv1.CuratorServicePlanProcedure, r.GetDataset())
	if err != nil {
		return nil, err
	}
	q, err := s.quote(ctx, who.dataset, who.name, r.GetQuestion(), "")
	if err != nil {
		return nil, err
	}
	return s.planned(who.dataset, q), nil
}

// mostPlans are made at a time: they cost memory and processor, and no budget.
const mostPlans = 4

// quote makes the plan of a question, and asks the ledger whether it fits.
func (s *Service) quote(ctx context.Context, d *dataset, analyst, question, purpose string) (*charging.Quote, error) {
	leave, err := s.enterPlanning(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
	if err := s.whole(ctx, d); err != nil {
		return nil, err
	}
	c, err := s.compose(ctx, d, analyst, question, purpose)
	if err != nil {
		return nil, s.wrong(d, err)
	}
	q, err := d.desk.Quote(ctx, c)
	if err != nil {
		return nil, s.wrong(d, err)
	}
	for _, away := range []error{ledger.ErrStore, ledger.ErrBusy, context.Canceled, context.DeadlineExceeded} {
		if errors.Is(q.Refused, away) {
			return nil, s.broken(q.Refused)
		}
	}
	return q, nil
}

// enterPlanning waits for a place among those who plan.
func (s *Service) enterPlanning(ctx context.Context) (leave func(), err error) {
	select {
	case s.planning <- struct{}{}:
		return func() { <-s.planning }, nil
	case <-ctx.Done():
		return nil, s.broken(ctx.Err())
	}
}

func (s *Service) planned(d *dataset, q *charging.Quote) *curatorv1.PlanResponse {
	p := q.Plan
	e := p.Expected
	out := &curatorv1.PlanResponse{
		Method: p.Method, Epsilon: p.Epsilon.Upper, Delta: p.Privacy.Budget.Delta, HalfWidth: e.HalfWidth, StdPrivacy: e.StdPrivacy,
		StdSampling: e.StdSampling, Constant: e.Constant, Rmse: e.RMSE, Notes: slices.Concat(p.Notes, p.Outlook), Fits: q.Refused == nil,
		NoAnswer:      e.Constant > 0 && (e.HalfWidth >= e.Constant || e.RMSE >= e.Constant),
		NeedsApproval: d.approval.waits(p.Privacy.Budget.Epsilon),
	}
	answers, _ := p.Facts["answers"].([]evaluate.ExpectedAnswer)
	interval, counted := report.AnswerInterval(p.Facts)
	for _, a := range answers {
		out.Answers = append(out.Answers, &curatorv1.PlannedAnswer{Name: report.AnswerName(p.Facts, a.Name), HalfWidth: a.HalfWidth, StdPrivacy: a.StdPrivacy, StdSampling: a.StdSampling,
			Interval: interval, CountsMissing: counted})
		out.NoAnswer = out.NoAnswer || a.HalfWidth >= a.Range.Width()/2
	}
	if q.Refused != nil {
		out.Refusal = s.refusal(d, q.Refused)
	}
	return out
}

// toldLedger is what an analyst is told where the ledger is not in order. What is wrong
// with it names places of the curator's.
const toldLedger = "the ledger of this dataset takes no charges at the moment, for a reason that is the steward's to mend; nothing was spent"

// refusal says why the ledger would not take a charge, in words for the analyst: of the
// budget, the share, the analyst or the contract. What else stands in the way is told to
// the log.
func (s *Service) refusal(d *dataset, err error) string {
	var budget *ledger.RefusedError
	switch {
	case errors.Is(err, ledger.ErrChecks):
		return toldStop
	case errors.As(err, &budget):
		return s.public(d, err.Error())
	}
	for _, own := range []error{ledger.ErrAnalyst, ledger.ErrContract, ledger.ErrCharge, config.ErrConfig, account.ErrUnsupported} {
		if errors.Is(err, own) {
			return s.public(d, err.Error())
		}
	}
	s.log.Error("the ledger would take no charge", "dataset", d.name, "error", err)
	return toldLedger
}
