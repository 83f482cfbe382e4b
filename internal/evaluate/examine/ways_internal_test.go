package examine

import (
	"context"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/replay"
	"github.com/discreet-rl/discreet/rl/policy"
)

// wis is a job of dp-wis and its plan for 40 persons.
func wis(t *testing.T) (*Job, *subject) {
	t.Helper()
	j := &Job{Estimator: evaluate.DPWIS{MaxWeight: 2}, Seed: 3, Public: evaluate.Public{
		Persons: 40, Gamma: 1, Horizon: 2, Reward: evaluate.Range{Min: 0, Max: 1}, Target: policy.ProbColumn{},
		Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 8, Delta: 1e-5}},
	}, persons: 40}
	s, err := j.subject(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	s.pairs = s.pairs[:pairsWhole]
	return j, s
}

// TestRunsGoTheWayOfTheEvaluation: by parts, and what holds of all data at once only is found.
func TestRunsGoTheWayOfTheEvaluation(t *testing.T) {
	j, s := wis(t)
	if s.pairs[0].whole == nil || !s.joins {
		t.Fatal("dp-wis is not run by parts, or not with the noise of shards")
	}
	var o outcome
	if err := s.ways(t.Context(), &o); err != nil || len(o.broken) > 0 {
		t.Errorf("%q, %v", o.broken, err)
	}
	scaled, err := scaledByPart(j, *s, 0)
	if err != nil {
		t.Fatal(err)
	}
	o = outcome{}
	if err := scaled.ways(t.Context(), &o); err != nil || !strings.HasPrefix(o.by, "comparison of parts") {
		t.Errorf("%+v, %v", o, err)
	}
}

// TestAFewRunsOfAllPersonsTestTheNoise: half of it is refuted, and that which is claimed is not.
func TestAFewRunsOfAllPersonsTestTheNoise(t *testing.T) {
	_, s := wis(t)
	if o, err := s.lookBriefly(t.Context()); err != nil || len(o.broken) > 0 {
		t.Errorf("%q, %v", o.broken, err)
	}
	for i, p := range s.pairs {
		half := func(run replay.Run) replay.Run {
			return func(ctx context.Context, neighbour bool, src *noise.Source) (any, error) {
				less := &spoiled{next: src.Tape(), told: 1, stretch: 1, noise: func(_ int, own, _ float64) float64 { return own / 2 }}
				return run(ctx, neighbour, noise.NewTaped(src.Uint64(), less))
			}
		}
		s.pairs[i].run, s.pairs[i].whole = half(p.run), half(p.whole)
	}
	if o, err := s.lookBriefly(t.Context()); err != nil || o.by != "distribution of the noise for all persons" {
		t.Errorf("half the noise is not refuted: %+v, %v", o, err)
	}
}

// TestWhatIsNotLookedAtIsNamed: nobody is to think that it was.
func TestWhatIsNotLookedAtIsNamed(t *testing.T) {
	j, s := wis(t)
	all := strings.Join(j.missing(s.plan, s), "\n")
	for _, part := range []string{"shards", "added to the release", "entropy"} {
		if !strings.Contains(all, part) {
			t.Errorf("%q says nothing of %s", all, part)
		}
	}
}
