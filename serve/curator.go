package serve

import (
	"context"
	"errors"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/serve/curatorv1"
	"github.com/discreet-rl/discreet/serve/internal/asks"
)

// curator is the CuratorService.
type curator struct{ *Service }

// ListDatasets implements the call.
func (s curator) ListDatasets(ctx context.Context, _ *curatorv1.ListDatasetsRequest) (*curatorv1.ListDatasetsResponse, error) {
	out := &curatorv1.ListDatasetsResponse{}
	for _, name := range s.names {
		if who, err := s.enter(ctx, curatorv1.CuratorServiceListDatasetsProcedure, name); err == nil {
			out.Datasets = append(out.Datasets, who.described())
		}
	}
	return out, nil
}

// GetDataset implements the call.
func (s curator) GetDataset(ctx context.Context, r *curatorv1.GetDatasetRequest) (*curatorv1.GetDatasetResponse, error) {
	who, err := s.enter(ctx, curatorv1.CuratorServiceGetDatasetProcedure, r.GetDataset())
	if err != nil {
		return nil, err
	}
	return &curatorv1.GetDatasetResponse{Dataset: who.described()}, nil
}

// described is what a person may know of a dataset.
func (c *caller) described() *curatorv1.Dataset {
	d := c.dataset
	out := &curatorv1.Dataset{
		Name: d.name, Title: d.Title, Role: string(c.role), Unit: d.unit, Adjacency: d.adjacency, Facts: string(d.facts),
		Methods: d.methods, LargestEpsilon: d.LargestEpsilon, Approval: d.Approval, Publish: d.Publish,
	}
	if out.Approval == "" {
		out.Approval = "none"
	}
	if out.Publish == "" {
		out.Publish = "at once"
	}
	out.OpenAt, out.CloseAt = stamp(d.open), stamp(d.end)
	return out
}

func stamp(t time.Time) *timestamppb.Timestamp {
	if t.IsZero() {
		return nil
	}
	return timestamppb.New(t)
}

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
func (s *Service) quote(ctx context.Context, d *dataset, analyst, question, purpose string) (*discreet.Quote, error) {
	leave, err := s.enterPlanning(ctx)
	if err != nil {
		return nil, err
	}
	defer leave()
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

func (s *Service) planned(d *dataset, q *discreet.Quote) *curatorv1.PlanResponse {
	p := q.Plan
	e := p.Expected
	out := &curatorv1.PlanResponse{
		Method: p.Method, Epsilon: p.Epsilon.Upper, Delta: p.Privacy.Budget.Delta, HalfWidth: e.HalfWidth, StdPrivacy: e.StdPrivacy,
		StdSampling: e.StdSampling, Constant: e.Constant, Rmse: e.RMSE, Notes: p.Notes, Fits: q.Refused == nil,
		NoAnswer:      e.Constant > 0 && (e.HalfWidth >= e.Constant || e.RMSE >= e.Constant),
		NeedsApproval: d.approval.waits(p.Privacy.Budget.Epsilon),
	}
	answers, _ := p.Facts["answers"].([]evaluate.ExpectedAnswer)
	for _, a := range answers {
		out.Answers = append(out.Answers, &curatorv1.PlannedAnswer{Name: a.Name, HalfWidth: a.HalfWidth, StdPrivacy: a.StdPrivacy, StdSampling: a.StdSampling})
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
	var budget *discreet.RefusedError
	switch {
	case errors.Is(err, ledger.ErrChecks):
		return toldStop
	case errors.As(err, &budget):
		return s.public(d, err.Error())
	}
	for _, own := range []error{ledger.ErrAnalyst, ledger.ErrContract, ledger.ErrCharge, discreet.ErrConfig, account.ErrUnsupported} {
		if errors.Is(err, own) {
			return s.public(d, err.Error())
		}
	}
	s.log.Error("the ledger would take no charge", "dataset", d.name, "error", err)
	return toldLedger
}

// keyForm is an idempotency key.
var keyForm = regexp.MustCompile(`^[A-Za-z0-9-]{16,64}$`)

// Ask implements the call.
func (s curator) Ask(ctx context.Context, r *curatorv1.AskRequest) (*curatorv1.AskResponse, error) {
	who, err := s.enter(ctx, curatorv1.CuratorServiceAskProcedure, r.GetDataset())
	if err != nil {
		return nil, err
	}
	a, err := s.ask(ctx, who, r.GetQuestion(), r.GetPurpose(), r.GetKey())
	if err != nil {
		return nil, err
	}
	return &curatorv1.AskResponse{Ask: s.told(ctx, who, a)}, nil
}

// ask takes in a question. A key that was used returns what became of it, whatever the
// budget and the clock say by now.
func (s *Service) ask(ctx context.Context, who *caller, question, purpose, key string) (*asks.Ask, error) {
	if !keyForm.MatchString(key) {
		return nil, invalid("key", errors.New("want 16 to 64 letters, digits and hyphens, other ones for each ask"))
	}
	q, err := s.quote(ctx, who.dataset, who.name, question, purpose)
	if err != nil {
		return nil, err
	}
	a := asks.Ask{
		Key: key, Analyst: who.name, Dataset: who.dataset.name, Question: question, Purpose: purpose, State: asks.Queued,
		Epsilon: q.Plan.Privacy.Budget.Epsilon, Delta: q.Plan.Privacy.Budget.Delta,
	}
	if who.approval.waits(a.Epsilon) {
		a.State = asks.Waiting
	}
	known, err := s.store.Known(ctx, a)
	switch {
	case errors.Is(err, asks.ErrKey):
		return nil, invalid("key", err)
	case err == nil:
		return known, nil
	case !errors.Is(err, asks.ErrNone):
		return nil, s.broken(err)
	}
	if err := s.mayAsk(ctx, who, q.Refused); err != nil {
		return nil, err
	}
	added, err := s.store.Add(ctx, who.by, a, who.asksPerHour())
	if errors.Is(err, asks.ErrMany) {
		return nil, connect.NewError(connect.CodeResourceExhausted, errors.New("too many asks in an hour; wait, or ask the steward"))
	}
	if errors.Is(err, asks.ErrKey) {
		return nil, invalid("key", err)
	}
	if err != nil {
		return nil, s.broken(err)
	}
	s.taken.Inc()
	s.call()
	s.changed.Broadcast()
	return added, nil
}

// mayAsk holds a new ask against the dataset's times, the analyst's number of asks, and what
// the ledger says now. Asks before it may spend the budget first.
func (s *Service) mayAsk(ctx context.Context, who *caller, refused error) error {
	now, err := s.store.Now(ctx)
	if err != nil {
		return s.broken(err)
	}
	if !who.open.IsZero() && now.Before(who.open) || !who.end.IsZero() && !now.Before(who.end) {
		return connect.NewError(connect.CodeFailedPrecondition, errors.New("the dataset takes no asks at this time"))
	}
	// A check that is running counts as one that failed: the worker looks when it has ended.
	if refused == nil || errors.Is(refused, ledger.ErrChecks) {
		return nil
	}
	told := s.refusal(who.dataset, refused)
	if told == toldLedger {
		return connect.NewError(connect.CodeUnavailable, errors.New(told))
	}
	return connect.NewError(connect.CodeResourceExhausted, errors.New(told))
}

// told is an ask as the caller may see it: its analyst learns of the end when it is told,
// the others at once.
func (s *Service) told(ctx context.Context, who *caller, a *asks.Ask) *curatorv1.AskState {
	out := &curatorv1.AskState{
		Id: a.ID, Dataset: a.Dataset, Analyst: a.Analyst, State: states[a.State], Reason: a.Reason, Question: a.Question, Purpose: a.Purpose,
		Epsilon: a.Epsilon, Delta: a.Delta, Asked: stamp(a.Asked), Ended: stamp(a.Told),
	}
	if who.role == Analyst && !s.isTold(ctx, a) {
		out.State, out.Reason, out.Ended = curatorv1.State_STATE_QUEUED, "", nil
	}
	return out
}

// isTold says whether the end of an ask is told to its analyst; an ask that has not ended
// has nothing to hide.
func (s *Service) isTold(ctx context.Context, a *asks.Ask) bool {
	if a.Told.IsZero() {
		return true
	}
	now, err := s.store.Now(ctx)
	return err == nil && !now.Before(a.Told)
}

// states of an ask on the wire: that it runs is not told apart from its queue.
var states = map[asks.State]curatorv1.State{
	asks.Waiting: curatorv1.State_STATE_WAITING, asks.Queued: curatorv1.State_STATE_QUEUED, asks.Running: curatorv1.State_STATE_QUEUED,
	asks.Released: curatorv1.State_STATE_RELEASED, asks.Pending: curatorv1.State_STATE_PENDING,
	asks.Refused: curatorv1.State_STATE_REFUSED, asks.Withdrawn: curatorv1.State_STATE_WITHDRAWN,
}

// GetAsk implements the call.
func (s curator) GetAsk(ctx context.Context, r *curatorv1.GetAskRequest) (*curatorv1.GetAskResponse, error) {
	who, a, err := s.enterAsk(ctx, curatorv1.CuratorServiceGetAskProcedure, r.GetId())
	if err != nil {
		return nil, err
	}
	return &curatorv1.GetAskResponse{Ask: s.told(ctx, who, a)}, nil
}

// watching is how long a stream lasts: less than a request may take. The caller watches
// again.
const watching = 25 * time.Second

// WatchAsk implements the call.
func (s curator) WatchAsk(ctx context.Context, r *curatorv1.WatchAskRequest, to *connect.ServerStream[curatorv1.WatchAskResponse]) error {
	late := time.NewTimer(watching)
	defer late.Stop()
	tick := time.NewTicker(look)
	defer tick.Stop()
	sent := curatorv1.State_STATE_UNSPECIFIED
	for {
		changed := s.changed.C()
		who, a, err := s.enterAsk(ctx, curatorv1.CuratorServiceWatchAskProcedure, r.GetId())
		if err != nil {
			return err
		}
		seen := s.told(ctx, who, a)
		if seen.State != sent {
			if err := to.Send(&curatorv1.WatchAskResponse{Ask: seen}); err != nil {
				return err
			}
			sent = seen.State
		}
		if seen.Ended != nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-late.C:
			return nil
		case <-changed:
		case <-tick.C: // another process may have changed it, or its time has come
		}
	}
}

// page reads size and token of a list: the largest number that was not shown yet.
func page(size int32, token string) (int, int64, error) {
	below := int64(math.MaxInt64)
	if token != "" {
		n, err := strconv.ParseInt(token, 10, 64)
		if err != nil || n < 0 {
			return 0, 0, invalid("page_token", errors.New("want what next_page_token was"))
		}
		below = n
	}
	switch {
	case size == 0:
		return 20, below, nil
	case size < 0 || size > 100:
		return 0, 0, invalid("page_size", errors.New("want 1 to 100, or 0 for 20"))
	}
	return int(size), below, nil
}

// ListAsks implements the call.
func (s curator) ListAsks(ctx context.Context, r *curatorv1.ListAsksRequest) (*curatorv1.ListAsksResponse, error) {
	who, err := s.enter(ctx, curatorv1.CuratorServiceListAsksProcedure, r.GetDataset())
	if err != nil {
		return nil, err
	}
	n, below, err := page(r.GetPageSize(), r.GetPageToken())
	if err != nil {
		return nil, err
	}
	list, err := s.store.List(ctx, who.dataset.name, who.own(), below, n)
	if err != nil {
		return nil, s.broken(err)
	}
	out := &curatorv1.ListAsksResponse{}
	for i := range list {
		out.Asks = append(out.Asks, s.told(ctx, who, &list[i]))
	}
	if len(list) == n {
		out.NextPageToken = strconv.FormatInt(list[n-1].Number, 10)
	}
	return out, nil
}

// own is the analyst whose asks the caller may see, empty for all.
func (c *caller) own() string {
	if c.role == Analyst {
		return c.name
	}
	return ""
}

// WithdrawAsk implements the call.
func (s curator) WithdrawAsk(ctx context.Context, r *curatorv1.WithdrawAskRequest) (*curatorv1.WithdrawAskResponse, error) {
	who, a, err := s.enterAsk(ctx, curatorv1.CuratorServiceWithdrawAskProcedure, r.GetId())
	if err != nil {
		return nil, err
	}
	a, err = s.move(ctx, who, a.ID, who.withdrawable(), asks.Withdrawn, "")
	if err != nil {
		return nil, err
	}
	return &curatorv1.WithdrawAskResponse{Ask: s.told(ctx, who, a)}, nil
}

// withdrawable are the states in which an ask can be taken back. Where ends are held back,
// whether an ask has begun to run is not told either.
func (d *dataset) withdrawable() []asks.State {
	if d.every > 0 {
		return []asks.State{asks.Waiting}
	}
	return []asks.State{asks.Waiting, asks.Queued}
}

// move changes the state of an ask for a caller.
func (s *Service) move(ctx context.Context, who *caller, id string, from []asks.State, to asks.State, reason string) (*asks.Ask, error) {
	a, err := s.store.Move(ctx, who.by, id, from, to, reason)
	if errors.Is(err, asks.ErrState) {
		return nil, connect.NewError(connect.CodeFailedPrecondition, errors.New("it is too late for that: the ask has gone on"))
	}
	if err != nil {
		return nil, s.broken(err)
	}
	s.call()
	s.changed.Broadcast()
	return a, nil
}

// release returns the bytes of an ask that was released and told.
func (s *Service) release(ctx context.Context, who *caller, a *asks.Ask) ([]byte, error) {
	if a.State != asks.Released || who.role == Analyst && !s.isTold(ctx, a) {
		return nil, connect.NewError(connect.CodeFailedPrecondition, errors.New("the ask has no release"))
	}
	text, err := s.store.Release(ctx, a.ID)
	if err != nil {
		return nil, s.broken(err)
	}
	return text, nil
}

// GetRelease implements the call.
func (s curator) GetRelease(ctx context.Context, r *curatorv1.GetReleaseRequest) (*curatorv1.GetReleaseResponse, error) {
	who, a, err := s.enterAsk(ctx, curatorv1.CuratorServiceGetReleaseProcedure, r.GetId())
	if err != nil {
		return nil, err
	}
	text, err := s.release(ctx, who, a)
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
	text, err := s.release(ctx, who, a)
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
	v, wrong := discreet.Verify(text, nil)
	if wrong != nil {
		return false, []string{s.public(d, wrong.Error())}, nil
	}
	if v.Epsilon != nil {
		findings = append(findings, "accounted anew: epsilon at most "+strconv.FormatFloat(v.Epsilon.Upper, 'g', 6, 64))
	}
	if v.Replanned {
		findings = append(findings, "its plan was made again, and every field that follows from it agrees")
	}
	if wrong := d.ledger.VerifyRelease(ctx, text); wrong != nil {
		return false, append(findings, s.public(d, wrong.Error())), nil
	}
	findings = append(findings, "its ledger entry is that of its charge")
	return true, append(findings, v.Notes...), nil
}

// GetBudget implements the call.
func (s curator) GetBudget(ctx context.Context, r *curatorv1.GetBudgetRequest) (*curatorv1.GetBudgetResponse, error) {
	who, err := s.enter(ctx, curatorv1.CuratorServiceGetBudgetProcedure, r.GetDataset())
	if err != nil {
		return nil, err
	}
	return s.budget(ctx, who)
}

// budget is what is left for a caller: of their share, or of the whole.
func (s *Service) budget(ctx context.Context, who *caller) (*curatorv1.GetBudgetResponse, error) {
	state, err := who.state.Read(ctx)
	if err != nil {
		return nil, s.broken(err)
	}
	out := &curatorv1.GetBudgetResponse{
		Budget: &curatorv1.Budget{Epsilon: state.Budget.Epsilon, Delta: state.Budget.Delta},
		Spent:  &curatorv1.Budget{Epsilon: state.Spent.Epsilon, Delta: state.Spent.Delta},
	}
	for _, a := range state.Analysts {
		if who.role == Analyst && strings.EqualFold(a.Analyst, who.name) && a.Share != nil {
			out.Budget = &curatorv1.Budget{Epsilon: a.Share.Epsilon, Delta: a.Share.Delta}
			out.Spent = &curatorv1.Budget{Epsilon: a.Spent.Epsilon, Delta: a.Spent.Delta}
		}
	}
	return out, nil
}

// PutPolicy implements the call.
func (s curator) PutPolicy(ctx context.Context, r *curatorv1.PutPolicyRequest) (*curatorv1.PutPolicyResponse, error) {
	who, err := s.enter(ctx, curatorv1.CuratorServicePutPolicyProcedure, r.GetDataset())
	if err != nil {
		return nil, err
	}
	if !policyName.MatchString(r.GetName()) {
		return nil, invalid("name", errors.New("want letters, digits, hyphens and underscores, and one ending, such as mild.json"))
	}
	if len(r.GetContent()) == 0 {
		return nil, invalid("content", errors.New("the file is empty"))
	}
	hash, err := s.store.PutPolicy(ctx, who.by, who.dataset.name, r.GetName(), r.GetContent())
	switch {
	case errors.Is(err, asks.ErrExists):
		return nil, connect.NewError(connect.CodeAlreadyExists, err)
	case errors.Is(err, asks.ErrFull):
		return nil, connect.NewError(connect.CodeResourceExhausted, err)
	}
	if err != nil {
		return nil, s.broken(err)
	}
	return &curatorv1.PutPolicyResponse{Sha256: hash}, nil
}

// wrong is the error of a question that cannot be asked as it stands; what else failed is
// the service's.
func (s *Service) wrong(d *dataset, err error) error {
	if inputFault(err) {
		return invalid("question", errors.New(s.public(d, err.Error())))
	}
	return s.broken(err)
}

// invalid names the field that is to be mended.
func invalid(field string, err error) error {
	return connect.NewError(connect.CodeInvalidArgument, errors.New(field+": "+err.Error()))
}

// broken hides an error from the caller, and tells the log.
func (s *Service) broken(err error) error {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return connect.NewError(connect.CodeCanceled, errors.New("the request ended"))
	}
	s.log.Error("a call failed", "error", err)
	return connect.NewError(connect.CodeUnavailable, errors.New("the service cannot answer at the moment; the same call may be made again"))
}

// recovered answers for a handler that panicked, without its value: it may quote data.
func (s *Service) recovered(context.Context, connect.Spec, http.Header, any) error {
	return s.broken(errors.New("a handler panicked"))
}
