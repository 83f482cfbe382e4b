package evaluate_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
)

// TestReplanOfAReleaseThatTravelled makes the plan of a release again from its JSON
// alone and holds the release against it, as it is and changed in one field.
func TestReplanOfAReleaseThatTravelled(t *testing.T) {
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		p, data := chainPublic(t, 400, adjacency), chainData(t, 400, 1)
		p.Complete = true
		text, err := json.Marshal(run(t, evaluate.DPIS{Clip: "auto", Diagnostics: 0.1}, p, data, noise.NewSeeded(1)))
		if err != nil {
			t.Fatal(err)
		}
		for name, c := range map[string]struct {
			change func(r *evaluate.Release)
			want   error
		}{
			"as it is":    {func(*evaluate.Release) {}, nil},
			"value":       {func(r *evaluate.Release) { r.Estimate.Value *= 1.01 }, evaluate.ErrRelease},
			"horizon":     {func(r *evaluate.Release) { r.Public["horizon"] = 3 }, evaluate.ErrRelease},
			"parameters":  {func(r *evaluate.Release) { r.Public["parameters"] = map[string]any{"clip": "public"} }, evaluate.ErrRelease},
			"unknown":     {func(r *evaluate.Release) { r.Public["parameters"] = map[string]any{"klip": 1} }, evaluate.ErrRelease},
			"method":      {func(r *evaluate.Release) { r.Method = "dp-dr" }, evaluate.ErrRelease},
			"adjacency":   {func(r *evaluate.Release) { r.Privacy.Adjacency = 3 - r.Privacy.Adjacency }, evaluate.ErrRelease},
			"a note more": {func(r *evaluate.Release) { r.Notes = append(r.Notes, "It is exact.") }, evaluate.ErrRelease},
			"no privacy":  {func(r *evaluate.Release) { r.Privacy = nil }, evaluate.ErrRelease},
		} {
			r := new(evaluate.Release)
			if err := json.Unmarshal(text, r); err != nil {
				t.Fatal(err)
			}
			c.change(r)
			plan, err := evaluate.Replan(r, p.Features, nil)
			if err == nil {
				err = plan.Verify(r)
			}
			if !errors.Is(err, c.want) {
				t.Errorf("%v, %s: %v; want %v", adjacency, name, err, c.want)
			}
		}
	}
}
