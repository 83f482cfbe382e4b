package xie19

import (
	"context"
	"fmt"
	"sync"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/papers/onchain"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// ask is an estimator that a trial runs, under its plan, on a dataset of all
// persons of the trial. The name tells apart what differs in neither.
type ask struct {
	name      string
	estimator evaluate.Estimator
	plan      *evaluate.Plan
	data      *trajectory.Dataset
}

// releases keeps the weights that estimators came to on the persons of a trial:
// the items of a study ask for many of them twice. The same ask with the same
// seed has the same answer, so that it does not matter which item is first.
type releases struct {
	mu   sync.Mutex
	kept map[string][]float64
}

// weights answers asks on the first m persons. Those that are Algorithm 1 of the
// paper are walked side by side.
func (r *releases) weights(ctx context.Context, walk *walker, asks []ask, m int, seed uint64) ([][]float64, error) {
	out := make([][]float64, len(asks))
	var gs []evaluate.GPOPE
	var plans []*evaluate.Plan
	var places []int
	for i, a := range asks {
		if out[i] = r.get(a, m, seed); out[i] != nil {
			continue
		}
		if g, ok := algorithm1(a.estimator); ok {
			gs, plans, places = append(gs, g), append(plans, a.plan), append(places, i)
			continue
		}
		done, err := onchain.Draw(ctx, a.plan, first(a.data, m), seed)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.name, err)
		}
		out[i] = done.Theta
		r.put(a, m, seed, done.Theta)
	}
	if len(gs) == 0 {
		return out, nil
	}
	thetas, err := walk.theta(ctx, gs, plans, m, noise.NewSeeded(seed))
	if err != nil {
		return nil, err
	}
	for k, i := range places {
		out[i] = thetas[k]
		r.put(asks[i], m, seed, thetas[k])
	}
	return out, nil
}

func (a ask) key(m int, seed uint64) string {
	return fmt.Sprintf("%s %d %d %T%+v", a.name, m, seed, a.estimator, a.estimator)
}

func (r *releases) get(a ask, m int, seed uint64) []float64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.kept[a.key(m, seed)]
}

func (r *releases) put(a ask, m int, seed uint64, theta []float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.kept == nil {
		r.kept = map[string][]float64{}
	}
	r.kept[a.key(m, seed)] = theta
}
