// Shards release what one process releases of the same data; partials that do not belong to a run, and questions that
// need all persons at once, are refused.

package scale

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
)

// TestSevenShardsReleaseTheBytesOfOneProcess, through files, masks and tasks.
func TestSevenShardsReleaseTheBytesOfOneProcess(t *testing.T) {
	for _, overrides := range [][]string{
		nil,
		{"data.steps={sort: true}"},
		{"method.name=dp-refine", "target={kind: logged}", "data.behavior=null"},
		{"method.name=dp-dr", "privacy.adjacency=add_remove_one", "problem.persons=100"},
		{"method={name: dp-lsl, constants: balle16}", "target={kind: logged}", "data.behavior=null", "privacy.adjacency=add_remove_one", "problem.persons=100"},
		byPlace("group: fixed, persons: {0: 60, 1: 60}"),
		byPlace("group: may_change"),
		append(byPlace("guess: {0: 50}"), "privacy.adjacency=add_remove_one", "problem.persons=100"),
		append(byPlace("group: may_change"), "data.behavior={kind: estimate, actions: 2, once: false}"),
		{"data.behavior={kind: estimate, actions: 2, once: false}", "target=null", "targets=[{name: go, kind: constant, action: 1}, {name: even, kind: uniform, actions: 2}]", "contrasts=all"},
		{"method={name: dp-fqe}"},
		{"method={name: dp-fqe}", "features={kind: columns, names: [obs_state], low: [0], high: [39], intercept: true}"},
		{"method={name: dp-dr, baseline: model}"},
		{"method={name: dp-dr, baseline: model}", "features={kind: columns, names: [obs_state], low: [0], high: [39], intercept: true}"},
		{"method={name: dp-lsw, constants: balle16}", "target={kind: logged}", "data.behavior=null"},
		{"method={name: dp-pdis}", "target=null", "targets=[{name: go, kind: constant, action: 1}, {name: even, kind: uniform, actions: 2}]", "select=best"},
		{"method={name: dp-survival}", "target=null", "data.behavior=null", "features=null", "data.outcome={causes: {end: 1}}", "problem={persons: 120, horizon: 60, episodes: 1}", "privacy.noise_family=laplace"},
		{"method.name=dp-survival", "target=null", "data.behavior=null", "features=null", "data.outcome={causes: {end: 1}}", "problem={persons: 120, horizon: 60, episodes: 1}", "privacy.noise_family=gaussian"},
		{"method={name: dp-distribution, max_weight: 2, bins: 5}"},
		{"method={name: dp-survival, max_weight: 3}", "target=null", "targets=[{name: go, kind: constant, action: 1}, {name: even, kind: uniform, actions: 2}]", "contrasts=all", "features=null", "data.outcome={causes: {end: 1}}", "problem={persons: 120, horizon: 60, episodes: 1}", "privacy.noise_family=laplace"},
		append(byPlace("group: may_change, names: [a, b]"), "method={name: dp-experiment, control: a}", "target=null", "data.behavior=null", "features={kind: columns, names: [obs_state], low: [0], high: [39]}"),
		append(byPlace("group: fixed, names: [a, b], persons: {0: 60, 1: 60}"), "method={name: dp-experiment, control: a}", "target=null", "data.behavior=null", "features=null"),
		{"method={name: dp-refine}", "start={kind: state, state: 0}"},
		{"method={name: dp-dr}", "data.behavior={kind: estimate, actions: 2, once: false}"},
		{"data.behavior={kind: estimate, by: features, actions: 2, once: false, share: 0.5}", "features={kind: columns, names: [obs_state], low: [0], high: [39], intercept: true}", "privacy.epsilon=20"},
	} {
		s := stageOf(t, 7, overrides...)
		d := s.driver(t)
		r, err := d.Evaluate(context.Background(), discreet.WithSource(noise.NewSeeded(5)))
		if err != nil {
			t.Errorf("%v: %v", overrides, err)
			continue
		}
		if want := s.inOneProcess(t, 5); !bytes.Equal(r.JSON, want) {
			t.Errorf("%v: seven shards release\n%s\none process\n%s", overrides, r.JSON, want)
		}
		if security := r.Release.Disclosure.Security; !strings.Contains(security, "in the files of the shards") || strings.Contains(security, "writes no copy") {
			t.Errorf("%v: rows are in shards, and the disclosure says %s", overrides, security)
		}
	}
}

// TestPartialsThatDoNotBelongAreRefused by name and shard, and none makes a release.
func TestPartialsThatDoNotBelongAreRefused(t *testing.T) {
	var before []Partial // of the round before
	for name, c := range map[string]struct {
		do   func(r Round, parts []Partial) ([]Partial, error)
		want string
	}{
		"duplicate": {func(_ Round, p []Partial) ([]Partial, error) { return append(p, p[3]), nil }, "shard 3 is there twice"},
		"lost":      {func(_ Round, p []Partial) ([]Partial, error) { return append(p[:3:3], p[4:]...), nil }, "shard 3 is lost"},
		"none":      {func(Round, []Partial) ([]Partial, error) { return nil, nil }, "there is none"},
		"stale": {func(r Round, p []Partial) ([]Partial, error) {
			if r.Task.Round > 0 {
				p[3] = before[3]
			}
			before = p
			return p, nil
		}, "shard 3 is of round 0 and not of round 2"},
		"foreign run": {func(r Round, p []Partial) ([]Partial, error) {
			other := r.Task
			other.Run = Hash{1}
			p[3] = answered(t, other, r.Shards[3], r.Key)
			return p, nil
		}, "shard 3 is of another run"},
		"another task": {func(r Round, p []Partial) ([]Partial, error) {
			other := r.Task
			other.Persons++
			p[3] = answered(t, other, r.Shards[3], r.Key)
			return p, nil
		}, "shard 3 answers another task"},
		"another key": {func(r Round, p []Partial) ([]Partial, error) {
			p[3] = answered(t, r.Task, r.Shards[3], RunKey{8})
			return p, nil
		}, "check word"},
		"changed": {func(_ Round, p []Partial) ([]Partial, error) { p[3].words[0]++; return p, nil }, "check word"},
		"swapped words": {func(_ Round, p []Partial) ([]Partial, error) {
			p[3].words[0], p[3].words[1] = p[3].words[1], p[3].words[0]
			return p, nil
		}, "check word"},
	} {
		s := newStage(t)
		d := s.driver(t)
		d.Engine = broken{do: c.do}
		r, err := d.Evaluate(context.Background(), discreet.WithSource(noise.NewSeeded(5)))
		if !errors.Is(err, ErrPartial) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", name, err, c.want)
		}
		if r != nil {
			t.Errorf("%s: a release was made", name)
		}
	}
}

// TestSizesOfFixedGroupsAreOfAllShards: no shard holds them alone, and a number that is
// wrong is refused before anything is charged.
func TestSizesOfFixedGroupsAreOfAllShards(t *testing.T) {
	s := newStage(t, byPlace("group: fixed, persons: {0: 59, 1: 61}")...)
	rounds := 0
	d := s.driver(t)
	d.Progress = func(int) { rounds++ }
	if _, err := d.Evaluate(context.Background()); !errors.Is(err, evaluate.ErrData) || !strings.Contains(err.Error(), `by.persons says 59 persons of group "place = 0" and the data hold 60`) || rounds != 1 {
		t.Errorf("%v after %d rounds; want a refusal after the check", err, rounds)
	}
}

// TestMethodsThatNeedAllPersonsAreRefusedBeforeAnyShardIsRead.
func TestMethodsThatNeedAllPersonsAreRefusedBeforeAnyShardIsRead(t *testing.T) {
	for name, overrides := range map[string][]string{
		"gpope":   {"method={name: gpope}"},
		"pick":    {"target=null", "method={name: dp-wis}", "targets=[{name: stay, kind: constant, action: 0}, {name: go, kind: constant, action: 1}]", "select={best: permute-and-flip}"},
		"fast":    {"privacy.noise=fast"},
		"none":    {"privacy=none", "method={name: wis}"},
		"episode": {"privacy.unit=episode"},
		"counted": {"problem.persons=0"},
	} {
		d := newStage(t, overrides...).driver(t)
		asked := false
		d.Progress = func(int) { asked = true }
		if _, err := d.Evaluate(context.Background()); err == nil || asked {
			t.Errorf("%s: %v, shards asked: %v", name, err, asked)
		} else {
			t.Logf("%s: %v", name, err)
		}
	}
}
