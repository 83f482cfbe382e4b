package examine

import (
	"context"
	"fmt"
	"math"
	"strings"

	"github.com/discreet-rl/discreet/dp/audit"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/replay"
)

// whole looks at the plan of the configuration, where its persons are not too many: it
// replays it, and tests the noise of a few runs.
func (j *Job) whole(ctx context.Context, plan *evaluate.Plan, s *subject, r *Report) error {
	if !s.followed() || j.Public.Persons == j.persons || len(r.Broken) > 0 {
		return nil
	}
	if !r.SameEvent {
		r.Missing = append(r.Missing, fmt.Sprintf("the noise for all %d persons: for the %d persons that were tested it has other standard deviations", j.Public.Persons, j.persons))
	}
	if float64(j.Public.Persons)*float64(j.Public.Horizon) > rowsWhole {
		r.Missing = append(r.Missing, fmt.Sprintf("the plan for all %d persons, and its noise: it was run for %d persons", j.Public.Persons, r.Persons))
		return nil
	}
	j.tell("the plan for all %d persons", j.Public.Persons)
	pairs, err := j.pairs(plan, j.Public, pairsWhole)
	if err != nil {
		return err
	}
	claim, err := audit.NewClaim(plan.Event, r.Adjacency, s.claim.Delta)
	if err != nil {
		return err
	}
	all := &subject{plan: plan, claim: claim, pairs: pairs, sums: s.sums, joins: s.joins, chooses: s.chooses, counts: s.counts, counted: s.counted, halves: s.halves, seed: j.Seed}
	o, err := all.lookBriefly(ctx)
	if err != nil {
		return err
	}
	r.Broken = append(r.Broken, o.broken...)
	r.Replayed, r.Worst = r.Replayed+len(pairs), math.Max(r.Worst, o.worst)
	if s.chooses > 0 {
		r.Missing = append(r.Missing, fmt.Sprintf("how often each candidate is chosen with all %d persons: it was counted with %d persons", j.Public.Persons, r.Persons))
	}
	return nil
}

// lookBriefly takes the exact looks, and tests the law of the noise by a few runs of each pair.
func (s *subject) lookBriefly(ctx context.Context) (outcome, error) {
	var o outcome
	if s.halves.Epsilon > 0 {
		return o, s.certifyHalves(ctx, &o)
	}
	if s.counts > 0 {
		return o, s.certifyCounts(ctx, &o)
	}
	if !s.sums {
		return o, s.certifyChoices(ctx, &o)
	}
	if err := s.replay(ctx, &o); err != nil || len(o.broken) > 0 {
		return o, err
	}
	if err := s.ways(ctx, &o); err != nil || len(o.broken) > 0 {
		return o, err
	}
	var law noiseLaw
	shown, err := parallel(ctx, runsBrief*len(s.pairs), func(i int) (replay.Shown, error) {
		return replay.Draw(ctx, s.pairs[i%len(s.pairs)].run, i/len(s.pairs)%2 == 1, s.seedOf(0, i))
	})
	if err != nil {
		return o, o.breaks("replay certificate", err)
	}
	for _, x := range shown {
		law.add(x.Noise)
	}
	return o, o.breaks("distribution of the noise for all persons", law.judge(audit.DefaultFalseAlarm/4))
}

// entropy holds what two sources of the system's entropy give against each other. They are
// alike with probability 2^-256.
func (r *Report) entropy() error {
	one, err := noise.NewSource()
	if err != nil {
		return err
	}
	another, err := noise.NewSource()
	if err != nil {
		return err
	}
	same := true
	for range 4 {
		if one.Uint64() != another.Uint64() {
			same = false
		}
	}
	if same || one.Seeded() || another.Seeded() {
		r.Broken = append(r.Broken, "source of noise: two sources of the system's entropy give the same numbers, or come from a seed")
	}
	return nil
}

// missing says what no look can see of a plan.
func (j *Job) missing(plan *evaluate.Plan, s *subject) []string {
	out := []string{
		"running time, memory and messages to the curator",
		"what is added to the release that the plan makes: notes about the data, the ledger's entry, the signature",
		"the quality of the system's entropy (only that two sources of it differ)",
	}
	if names := lacking(plan, s.plan); len(names) > 0 {
		out = append(out, fmt.Sprintf("what the plan has for all persons, and not for the %d of the runs: %s", j.persons, strings.Join(names, ", ")))
	}
	if s.joins {
		out = append(out, "shards: how sums are sent, added up and stored (noise was drawn for the sums of one process)")
	}
	if s.counts > 0 {
		out = append(out, "the distribution of the Laplace noise, but by the lower bound from released numbers (what is drawn and what differs between neighbours was replayed exactly)")
	}
	if s.halves.Epsilon > 0 {
		out = append(out, "the distribution of the noise, but by the lower bound from released numbers (what differs between neighbours was replayed exactly)")
	}
	if !s.followed() {
		why := "is not a composition of Gaussian sums"
		if plan.Privacy.Fast {
			why = "uses fast noise"
		}
		out = append(out, fmt.Sprintf("the replay certificate and the distribution of the noise, since %s %s: only released numbers were tested, which finds only large errors", plan.Method, why))
	}
	return out
}
