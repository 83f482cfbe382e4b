package overview

import (
	"fmt"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// fewExpected and fewSeen say when too few actions change within episodes: where at
// least so many changes are to be expected, and at most this share of them is seen.
// By chance that is rare: at its worst, 0 changes where 2 are to be expected, it is
// one data set in 7, and where 20 are to be expected fewer than one in 10,000.
const (
	fewExpected = 2
	fewSeen     = .25
)

// shares is how many shares of an expected change make one. They add up to 2^39 changes.
const shares = 1 << 24

// drawsOnce recognises a trial that drew an arm once for each episode and is told as
// if every decision had been drawn: episodes keep their action although the behaviour
// probabilities of the later decisions are not 1. The expected number of changes is
// at least the sum of 1-p over the decisions that keep the action before them.
type drawsOnce struct {
	changes  int
	expected int64 // in shares of 1, so that sums do not depend on how they are made

	// Of the first decisions of episodes.
	begun    bool
	first    float64           // the probability of the first
	equal    bool              // all are equal to it
	constant bool              // all are equal by action
	byAction map[int32]float64 // the last, of mostActions+1 actions at most
	actions  int32             // one more than the largest action
}

func (o *drawsOnce) add(d *trajectory.Dataset, prob []float64) {
	for e := range d.Episodes() {
		lo := d.EpisodeStart[e]
		o.begins(d.Action[lo], prob[lo])
		// Whether an action is that before it is hard to foretell: there is no branch on it.
		before := d.Action[lo]
		probs := prob[lo+1 : d.EpisodeStart[e+1]]
		for i, a := range d.Action[lo+1 : d.EpisodeStart[e+1]] {
			kept := int64(0)
			if a == before {
				kept = 1
			}
			before = a
			o.expected += int64((1-probs[i])*shares) & -kept
			o.changes += 1 - int(kept)
		}
	}
}

// begins notes the first decision of an episode.
func (o *drawsOnce) begins(a int32, p float64) {
	if !o.begun {
		*o = drawsOnce{changes: o.changes, expected: o.expected, begun: true, first: p, equal: true, constant: true, byAction: map[int32]float64{}}
	}
	o.equal, o.actions = o.equal && p == o.first, max(o.actions, a+1)
	before, seen := o.byAction[a]
	o.constant = o.constant && (!seen || before == p)
	if seen && before != p || !seen && len(o.byAction) <= mostActions {
		o.byAction[a] = p
	}
}

// merge adds the episodes of another, which come after those of o.
func (o *drawsOnce) merge(other *drawsOnce) {
	changes, expected := o.changes+other.changes, o.expected+other.expected
	switch {
	case !o.begun:
		*o = *other
	case other.begun:
		o.equal = o.equal && other.equal && other.first == o.first
		o.constant = o.constant && other.constant
		for a, p := range other.byAction {
			o.begins(a, p)
		}
		o.actions = max(o.actions, other.actions)
	}
	o.changes, o.expected = changes, expected
}

// drawnOnce warns of such a trial. The remedy is that of probabilities that are known
// where none is given.
func (w *Watch) drawnOnce(remedy string) []string {
	o := &w.draws
	expected := float64(o.expected) / shares
	if expected < fewExpected || float64(o.changes) > fewSeen*expected {
		return nil
	}
	seen := "never changes"
	if o.changes > 0 {
		seen = fmt.Sprintf("seldom changes (%d in all)", o.changes)
	}
	if remedy == "" {
		remedy = fmt.Sprintf("data.behavior: {kind: constant_by_step, probs: %s}, or by once: true beside the name of the column", o.probs())
	}
	return []string{fmt.Sprintf("the action of an episode %s, and by the behaviour probabilities at least %.3g changes were to be expected: a trial that drew an arm once for each episode has probability 1 from the second decision on; say so by %s",
		seen, expected, remedy)}
}

// leaving counts the episodes that leave their first action.
func leaving(d *trajectory.Dataset) int {
	left := 0
	for e := range d.Episodes() {
		for row := d.EpisodeStart[e] + 1; row < d.EpisodeStart[e+1]; row++ {
			if d.Action[row] != d.Action[row-1] {
				left++
				break
			}
		}
	}
	return left
}

// leaves tells how many episodes leave the action that was drawn once for them.
func (w *Watch) leaves() []string {
	if w.left == 0 {
		return nil
	}
	return []string{fmt.Sprintf("data.behavior says once: true, but the action changes within %d of %d episodes: later decisions count with probability 1, so the interval stays valid, but the weight that they would add is missing mass; if each decision was drawn anew, say once: false", w.left, w.episodes)}
}

// probs writes the probabilities of the first decisions as constant_by_step wants
// them: one number, or one for each action where they differ.
func (o *drawsOnce) probs() string {
	switch {
	case o.equal:
		return fmt.Sprintf("[%.4g, 1]", o.first)
	case !o.constant || len(o.byAction) != int(o.actions) || o.actions > mostActions:
		return "[[the probability of each action], 1]"
	}
	words := make([]string, o.actions)
	for a := range words {
		words[a] = fmt.Sprintf("%.4g", o.byAction[int32(a)])
	}
	return "[[" + strings.Join(words, ", ") + "], 1]"
}
