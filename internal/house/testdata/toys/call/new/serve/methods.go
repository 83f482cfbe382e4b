package serve

import (
	"context"
	"slices"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// ListMethods implements the call.
func (s curator) ListMethods(ctx context.Context, r *curatorv1.ListMethodsRequest) (*curatorv1.ListMethodsResponse, error) {
	who, err := s.enter(ctx, curatorv1.CuratorServiceListMethodsProcedure, r.GetDataset())
	if err != nil {
		return nil, err
	}
	out := &curatorv1.ListMethodsResponse{}
	for _, m := range evaluate.Methods() {
		if m.Private && (len(who.methods) == 0 || slices.Contains(who.methods, m.Name)) {
			out.Methods = append(out.Methods, &curatorv1.Method{Name: m.Name, Releases: m.Releases, Assumes: m.Assumes})
		}
	}
	return out, nil
}
