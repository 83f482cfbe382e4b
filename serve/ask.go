package serve

import (
	"context"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/serve/curatorv1"
	"github.com/discreet-rl/discreet/serve/internal/asks"
)

// keyForm is an idempotency key.
var keyForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9-]{16,64}$`) })

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
	return &curatorv1.AskResponse{Ask: s.state(ctx, who, a)}, nil
}

// ask takes in a question. A key that was used returns what became of it, whatever the
// budget and the clock say by now.
func (s *Service) ask(ctx context.Context, who *caller, question, purpose, key string) (*asks.Ask, error) {
	if !keyForm().MatchString(key) {
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

// state is an ask as the caller may see it: its analyst learns of the end when it is told,
// the others at once.
func (s *Service) state(ctx context.Context, who *caller, a *asks.Ask) *curatorv1.AskState {
	out := &curatorv1.AskState{
		Id: a.ID, Dataset: a.Dataset, Analyst: a.Analyst, State: states[a.State], Reason: a.Reason, Question: a.Question, Purpose: a.Purpose,
		Epsilon: a.Epsilon, Delta: a.Delta, Asked: stamp(a.Asked), Ended: stamp(a.Told),
	}
	if who.role == roleAnalyst && !s.isTold(ctx, a) {
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
	return &curatorv1.GetAskResponse{Ask: s.state(ctx, who, a)}, nil
}

// watching is how long a stream lasts: less than a request may take. The caller watches
// again.
const watching = 25 * time.Second

// mostWatches of one person go on at a time: each looks into the store every second.
const mostWatches = 128

// watches counts the streams of each person.
type watches struct {
	mu  sync.Mutex
	per map[string]int
}

func (w *watches) enter(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.per[name] >= mostWatches {
		return false
	}
	if w.per == nil {
		w.per = map[string]int{}
	}
	w.per[name]++
	return true
}

func (w *watches) leave(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.per[name]--; w.per[name] == 0 {
		delete(w.per, name)
	}
}

// WatchAsk implements the call.
func (s curator) WatchAsk(ctx context.Context, r *curatorv1.WatchAskRequest, to *connect.ServerStream[curatorv1.WatchAskResponse]) error {
	id, _ := service.IdentityOf(ctx)
	if !s.watches.enter(id.Name) {
		return connect.NewError(connect.CodeResourceExhausted, fmt.Errorf("you watch %d asks already; let one end first", mostWatches))
	}
	defer s.watches.leave(id.Name)
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
		seen := s.state(ctx, who, a)
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
		out.Asks = append(out.Asks, s.state(ctx, who, &list[i]))
	}
	if len(list) == n {
		out.NextPageToken = strconv.FormatInt(list[n-1].Number, 10)
	}
	return out, nil
}

// own is the analyst whose asks the caller may see, empty for all.
func (c *caller) own() string {
	if c.role == roleAnalyst {
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
	return &curatorv1.WithdrawAskResponse{Ask: s.state(ctx, who, a)}, nil
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
