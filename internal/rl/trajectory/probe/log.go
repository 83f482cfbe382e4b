package probe

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// row holds values by the name of their column in the file; a value is its JSON text.
type row map[string]string

// kind is what a column is about.
type kind int

const (
	episode kind = iota
	unit
	step
	observation
	next
	action
	behavior
	probability // of one action
	target
	reward
	terminated
	truncated
	discount
	constant // part of an id, which is the same of all
	note     // free text that no question reads
)

// column is one of the file.
type column struct {
	name  string
	kind  kind
	of    string // of next: the name of the observation's column
	words []string
	codes []float64 // of words
	text  bool      // it holds no numbers
}

// log is what the data of a configuration look like, by its options.
type log struct {
	o       trajectory.Options
	format  string
	actions int
	date    string // layout of the steps' dates, "" where they are numbers
	columns []column
}

func newLog(j Job) log {
	l := log{o: j.Options, format: j.Format, actions: max(j.Actions, 2)}
	parts := l.o.Need | l.o.Optional
	if l.o.Unit != trajectory.UnitEpisode && l.o.Unit != trajectory.UnitRow {
		l.id(unit, "unit_id")
	}
	if !l.o.OneRowEpisodes {
		if !l.o.EpisodePerPerson && !l.o.Cuts() {
			l.id(episode, "episode_id")
		}
		l.add(step, "step")
		l.add(terminated, "terminated")
		l.add(truncated, "truncated")
		l.date = dateLayout(l.o.Steps.Date)
	}
	l.observe(parts&trajectory.Final != 0 && !l.o.OneRowEpisodes)
	if len(l.o.OutcomeFiles) == 0 {
		l.add(reward, "reward")
	}
	for _, part := range []struct {
		part trajectory.Parts
		kind kind
		name string
	}{{trajectory.Action, action, "action"}, {trajectory.BehaviorProb, behavior, "behavior_prob"}, {trajectory.TargetProb, target, "target_prob"}, {trajectory.Discount, discount, "discount"}} {
		if parts&part.part != 0 {
			l.add(part.kind, part.name)
		}
	}
	if parts&trajectory.ActionProbs != 0 {
		for a := range l.actions {
			l.add(probability, "prob_"+strconv.Itoa(a))
		}
	}
	l.columns = append(l.columns, column{name: l.unused("note"), kind: note, text: true})
	return l
}

// unused is a name that no column has.
func (l *log) unused(name string) string {
	for slices.ContainsFunc(l.columns, func(c column) bool { return c.name == name }) {
		name += "_"
	}
	return name
}

// observe adds the columns of observations: one for all words of a one-hot one.
func (l *log) observe(followed bool) {
	names := l.o.Observations
	if names == nil {
		names = []string{"obs_a", "obs_b"}
	}
	seen := map[string]bool{}
	for _, name := range names {
		source := l.source(name)
		if l.o.Indicators {
			source = l.source(strings.TrimSuffix(source, "_missing"))
		}
		if seen[source] {
			continue
		}
		seen[source] = true
		l.add(observation, source)
		if followed && l.columns[len(l.columns)-1].kind == observation {
			l.add(next, "next_"+source)
			c := &l.columns[len(l.columns)-1]
			before := l.columns[len(l.columns)-2]
			c.of, c.words, c.codes, c.text = before.name, before.words, before.codes, before.text
		}
	}
}

// source is the column that an observation is made of.
func (l *log) source(name string) string {
	for key, v := range l.o.Encode {
		for i := range v.Words {
			if v.OneHot && strings.TrimPrefix(v.Column(key, i), "obs_") == strings.TrimPrefix(name, "obs_") {
				return key
			}
		}
	}
	return name
}

// add adds a column by its canonical name, under its name in the file.
func (l *log) add(k kind, canonical string) {
	c := column{name: canonical, kind: k, text: k == unit || k == episode || k == constant || k == step && l.o.Steps.Date != ""}
	for _, key := range spellings(canonical) {
		if name, ok := l.o.Columns[key]; ok {
			c.name = name
		}
		if v, ok := l.o.Encode[key]; ok {
			c.words, c.text = v.Words, !v.Numeric
			if v.Other {
				c.words = v.Words[:len(v.Words)-1]
			}
			for i := range c.words {
				c.codes = append(c.codes, v.Code(i))
			}
		}
	}
	if c.name != trajectory.NoColumn {
		l.columns = append(l.columns, c)
	}
}

// spellings are the names under which options may hold a column.
func spellings(canonical string) []string {
	return []string{canonical, "obs_" + canonical, strings.TrimPrefix(canonical, "obs_")}
}

// person draws an honest record of one to three episodes, as far as the caps allow.
func (l *log) person(r *rand.Rand, name string) []row {
	most := l.o.Horizon
	if most == 0 {
		most = 12
	}
	episodes := 1 + r.IntN(3)
	if l.o.EpisodePerPerson || l.o.Unit == trajectory.UnitEpisode {
		episodes = 1
	}
	if l.o.EpisodesPerPerson > 0 {
		episodes = min(episodes, l.o.EpisodesPerPerson)
	}
	episodes = min(episodes, most)
	var rows []row
	for e := range episodes {
		last := 0
		if !l.o.OneRowEpisodes {
			last = r.IntN(min(4, most/episodes))
		}
		cut := l.o.End != trajectory.EndTerminated && r.IntN(3) == 0
		for s := range last + 1 {
			rows = append(rows, l.decision(r, name, e, s, s == last, cut))
			if s > 0 { // what comes next is what the next row observes
				for _, c := range l.columns {
					if c.kind == next {
						rows[len(rows)-2][c.name] = rows[len(rows)-1][c.of]
					}
				}
			}
		}
	}
	return rows
}

// decision draws a row.
func (l *log) decision(r *rand.Rand, person string, e, s int, last, cut bool) row {
	out := row{}
	taken := r.IntN(l.actions)
	p := []float64{1, 0.5, 0.25}[r.IntN(3)]
	for _, c := range l.columns {
		var v float64
		switch c.kind {
		case unit:
			out[c.name] = strconv.Quote(person)
			continue
		case constant:
			out[c.name] = `"1"`
			continue
		case episode:
			out[c.name] = strconv.Quote(fmt.Sprintf("%s.%d", person, e))
			continue
		case step:
			out[c.name] = l.step(e, s, r)
			continue
		case note:
			out[c.name] = `"no complaints"`
			continue
		case terminated, truncated:
			v = 0
			if last && (c.kind == truncated) == (cut && !l.o.Complete) {
				v = 1
			}
			out[c.name] = c.coded(v, strconv.FormatBool(v == 1))
			continue
		case observation, next:
			v = float64(r.IntN(2))
		case action:
			v = float64(taken)
		case behavior, probability:
			v = p
			if l.probabilities() {
				v = 1 / float64(l.actions)
			}
		case target:
			v = []float64{0, 0.5, 1}[r.IntN(3)]
		case reward:
			if l.o.RewardOnLast && !last {
				out[c.name] = "null"
				continue
			}
			v = r.Float64()
			if b := l.o.Reward; b != nil {
				v = b.Min + v*(b.Max-b.Min)
			}
		case discount:
			v = []float64{0.5, 1}[r.IntN(2)]
		}
		if c.words != nil {
			out[c.name] = c.word(r.IntN(len(c.words)))
			continue
		}
		out[c.name] = number(v)
	}
	return out
}

// probabilities tells that there are those of all actions.
func (l *log) probabilities() bool {
	for _, c := range l.columns {
		if c.kind == probability {
			return true
		}
	}
	return false
}

// step is the number, or the date, of decision s of episode e. Episodes are further apart
// than a gap that cuts them.
func (l *log) step(e, s int, r *rand.Rand) string {
	switch {
	case l.date != "":
		at := time.Date(2024, 1, 1+7*s+r.IntN(7), 0, 0, 0, 0, time.UTC)
		if l.o.Gap > 0 {
			at = at.Add(time.Duration(e) * (l.o.Gap + 100*24*time.Hour))
		}
		return strconv.Quote(at.Format(l.date))
	case l.o.Steps.Ordered:
		return strconv.Itoa(7*s + r.IntN(7))
	}
	return strconv.Itoa(l.o.Steps.From + s)
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// word is the text of a word in a file.
func (c column) word(i int) string {
	if c.text {
		return strconv.Quote(c.words[i])
	}
	return c.words[i]
}

// coded is the word that stands for a number, else what is given.
func (c column) coded(v float64, otherwise string) string {
	for i, code := range c.codes {
		if code == v {
			return c.word(i)
		}
	}
	return otherwise
}
