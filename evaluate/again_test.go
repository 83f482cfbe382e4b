package evaluate_test

import (
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/schema"
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
			"value":       {func(r *evaluate.Release) { r.Answers[0].Estimate.Value *= 1.01 }, evaluate.ErrRelease},
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

// TestReleasesOf010AreRead: their one estimate stood beside the rest, with its diagnostics.
func TestReleasesOf010AreRead(t *testing.T) {
	p, d := trialPublic(t, dp.ReplaceOne), trial(1000, 1, false)
	r := answer(t, evaluate.DPWIS{}, p, d, noise.NewSeeded(5))
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var old map[string]any
	if err := json.Unmarshal(text, &old); err != nil {
		t.Fatal(err)
	}
	one := old["answers"].([]any)[0].(map[string]any)
	old["estimate"], old["diagnostics"] = one["estimate"], one["diagnostics"]
	read := func() ([]byte, error) {
		text, err := json.Marshal(old)
		if err != nil {
			t.Fatal(err)
		}
		got := new(evaluate.Release)
		if err := json.Unmarshal(text, got); err != nil {
			return text, err
		}
		plan, err := evaluate.DPWIS{}.Plan(p)
		if err == nil {
			err = plan.Verify(got)
		}
		if err == nil && !slices.EqualFunc(got.Answers, r.Answers, func(a, b evaluate.PolicyAnswer) bool { return *a.Estimate == *b.Estimate }) {
			t.Errorf("%s is read as %+v", text, got.Answers)
		}
		return text, err
	}
	if text, err := read(); err == nil || schema.Check(schema.Release, text) == nil {
		t.Errorf("a release with an estimate beside answers is read: %v", err)
	}
	delete(old, "answers")
	text, err = read()
	if err = errors.Join(err, schema.Check(schema.Release, text)); err != nil {
		t.Error(err)
	}
}
