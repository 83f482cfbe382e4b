package ingest

import (
	"bytes"
	"encoding/binary"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// row is one that is put in order: its key holds the ids of its person and its episode and
// the rank of its step.
type row struct{ key, record []byte }

// ids are those of the person and of the episode, and rank that of the step.
func (r row) ids() (person, episode, rank []byte) {
	person, rest := cutID(r.key)
	episode, rank = cutID(rest)
	return person, episode, rank
}

func cutID(key []byte) (id, rest []byte) {
	n := 2 + int(binary.BigEndian.Uint16(key))
	return key[2:n], key[n:]
}

// owner is how the keys begin of the rows of its person, who is named as the episode where
// persons have no ids.
func (r row) owner(named bool) []byte {
	_, rest := cutID(r.key)
	if !named {
		_, rest = cutID(rest)
	}
	return r.key[:len(r.key)-len(rest)]
}

// group is the rows of one person.
type group struct {
	owner    []byte
	text     []byte
	rows     []span
	episodes []span // of rows
	order    []int  // of the rows
	numbers  []int  // of the episodes that they were cut into, by row; empty where they are not cut
}

// span is where a key or an episode begins, and where it ends; of a row, with its record.
type span struct{ from, to, end int }

func (g *group) reset() {
	g.text, g.rows, g.episodes, g.order, g.numbers = g.text[:0], g.rows[:0], g.episodes[:0], g.order[:0], g.numbers[:0]
}

func (g *group) begin(owner []byte) { g.owner = append(g.owner[:0], owner...) }

func (g *group) owns(r row) bool { return bytes.HasPrefix(r.key, g.owner) }

// add adds a row, which comes after those before it.
func (g *group) add(r row) {
	from := len(g.text)
	g.text = append(append(g.text, r.key...), r.record...)
	g.rows = append(g.rows, span{from, from + len(r.key), len(g.text)})
	last := len(g.rows) - 1
	if n := len(g.episodes) - 1; n >= 0 && bytes.Equal(g.episode(g.episodes[n].from), g.episode(last)) {
		g.episodes[n].to = last + 1
		return
	}
	g.episodes = append(g.episodes, span{from: last, to: last + 1})
}

func (g *group) at(i int) row {
	s := g.rows[i]
	return row{g.text[s.from:s.to], g.text[s.to:s.end]}
}

// row is the i-th in order.
func (g *group) row(i int) row { return g.at(g.order[i]) }

func (g *group) episode(i int) []byte {
	_, id, _ := g.at(i).ids()
	return id
}

// placed tells that steps say where an episode stands among those of its person: all are numbers, and the first one,
// where decisions are counted, is where counting starts. Its rows are in the order of their ranks.
func (g *group) placed(e span, steps trajectory.Steps) bool {
	first, last := g.at(e.from).step(), g.at(e.to-1).step()
	return finite(first) && finite(last) && (steps.Rising() || first == float64(steps.From))
}

// step is that of a row, the first number of what is kept of it.
func (r row) step() float64 { return math.Float64frombits(binary.LittleEndian.Uint64(r.record)) }

// first is the rank of an episode's first step.
func (g *group) first(e span) []byte {
	_, _, rank := g.at(e.from).ids()
	return rank
}

// arrange puts episodes in the order of their first steps; where these are equal, they stay
// in the order of their ids. An episode whose steps do not say where it stands cannot be used, and comes first: it may
// be the one that counts, and a later one must not take its place.
func (g *group) arrange(steps trajectory.Steps) {
	slices.SortStableFunc(g.episodes, func(a, b span) int {
		first, second := g.placed(a, steps), g.placed(b, steps)
		switch {
		case first && second:
			return bytes.Compare(g.first(a), g.first(b))
		case first:
			return 1
		case second:
			return -1
		}
		return 0
	})
	for _, e := range g.episodes {
		for i := e.from; i < e.to; i++ {
			g.order = append(g.order, i)
		}
	}
}
