package serve

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/discreet-rl/discreet/serve/curatorv1"
	"github.com/discreet-rl/discreet/serve/internal/asks"
)

// curator is the CuratorService.
type curator struct{ *Service }

// ListDatasets implements the call.
func (s curator) ListDatasets(ctx context.Context, _ *curatorv1.ListDatasetsRequest) (*curatorv1.ListDatasetsResponse, error) {
	out := &curatorv1.ListDatasetsResponse{}
	for _, name := range s.names {
		if who, err := s.admit(ctx, curatorv1.CuratorServiceListDatasetsProcedure, name); err == nil {
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

// GetBudget implements the call.
func (s curator) GetBudget(ctx context.Context, r *curatorv1.GetBudgetRequest) (*curatorv1.GetBudgetResponse, error) {
	who, err := s.enter(ctx, curatorv1.CuratorServiceGetBudgetProcedure, r.GetDataset())
	if err != nil {
		return nil, err
	}
	return s.budget(ctx, who)
}

// budget is what is left for a caller: of their share, of which no more epsilon than the whole still holds, or of the whole.
func (s *Service) budget(ctx context.Context, who *caller) (*curatorv1.GetBudgetResponse, error) {
	state, err := s.stateOf(ctx, who)
	if err != nil {
		return nil, err
	}
	out := &curatorv1.GetBudgetResponse{
		Budget: &curatorv1.Budget{Epsilon: state.Budget.Epsilon, Delta: state.Budget.Delta},
		Spent:  &curatorv1.Budget{Epsilon: state.Spent.Epsilon, Delta: state.Spent.Delta},
	}
	for _, a := range state.Analysts {
		if who.role == roleAnalyst && strings.EqualFold(a.Analyst, who.name) && a.Share != nil {
			out.Budget = &curatorv1.Budget{
				Epsilon: min(a.Share.Epsilon, state.Budget.Epsilon, a.Spent.Epsilon+max(state.Budget.Epsilon-state.Spent.Epsilon, 0)),
				Delta:   a.Share.Delta,
			}
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
	if !policyName().MatchString(r.GetName()) {
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
	s.server.Panicked()
	return s.broken(errors.New("a handler panicked"))
}
