package trajectory

import (
	"cmp"
	"math"
	"slices"
)

// record is what the builder keeps of an episode besides its rows.
type record struct {
	row        int // of the file
	rows       uint32
	person     uint32
	number     uint32 // of its name
	file       uint16
	terminated bool
	final      bool
	lacks      uint8
}

// Builder makes a Dataset of episodes. Episodes of one person may come apart:
// persons are kept in the order of their first episode, and each person's
// episodes in the order added. The zero value is ready.
//
// While it works it holds the data once, and the columns one after another a
// second time when the Dataset is made.
type Builder struct {
	begun    bool
	columns  []string
	actions  int
	parts    Parts // that every episode has, as the first one did
	endKnown bool  // likewise
	anyFinal bool
	anyLacks bool
	records  column[record]
	rows     int

	obs, reward, behavior, probs, target, discount, final column[float64]
	action                                                column[int32]
	persons                                               int
	lost                                                  Dataset // its counts of episodes that were left out alone
	sorted, inTurn                                        bool    // persons do not fall; names count up
	lastPerson                                            int
}

// Add copies an episode. Its Person may be any number from 0 up to the number
// of persons so far. It panics if its columns or parts are not those of the
// episodes before it, or lengths do not agree: that is the fault of the caller. A
// part that one episode lacks is never dropped for the others. An episode without a
// decision was left out: it adds its person, and counts in [Dataset.LeftOut].
func (b *Builder) Add(e *Episode) {
	if !b.begun {
		b.begin(e)
	}
	n, w := e.Len(), len(b.columns)
	switch {
	case !slices.Equal(e.Columns, b.columns) || e.ActionProbs != nil && e.Actions != b.actions:
		panic("trajectory: episodes of different columns")
	case partsOf(e) != b.parts || e.EndUnknown == b.endKnown:
		panic("trajectory: episodes of different parts")
	case len(e.Obs) != n*w || e.Final != nil && len(e.Final) != w:
		panic("trajectory: an episode whose columns differ in length")
	case e.Person < 0 || e.Person > b.persons:
		panic("trajectory: a person out of turn")
	case e.File < 0 || e.File > math.MaxUint16 || e.Number < -1 || int64(e.Number) >= math.MaxUint32:
		panic("trajectory: a file or an episode's name out of range")
	}
	if n == 0 {
		b.persons = max(b.persons, e.Person+1)
		b.lost.Lose(e.Person, e)
		return
	}
	b.place(e)
	b.rows += n
	b.obs.append(e.Obs)
	b.reward.append(e.Reward)
	appendPart(&b.action, e.Action, n)
	appendPart(&b.behavior, e.BehaviorProb, n)
	appendPart(&b.probs, e.ActionProbs, n*b.actions)
	appendPart(&b.target, e.TargetProb, n)
	appendPart(&b.discount, e.Discount, n)
}

// partsOf tells which optional parts an episode has. A final observation is a
// matter of each episode.
func partsOf(e *Episode) Parts {
	var p Parts
	if e.Action != nil {
		p |= Action
	}
	if e.BehaviorProb != nil {
		p |= BehaviorProb
	}
	if e.ActionProbs != nil {
		p |= ActionProbs
	}
	if e.TargetProb != nil {
		p |= TargetProb
	}
	if e.Discount != nil {
		p |= Discount
	}
	return p
}

func (b *Builder) begin(e *Episode) {
	b.begun = true
	b.columns, b.actions = slices.Clone(e.Columns), e.Actions
	if b.columns == nil {
		b.columns = []string{}
	}
	b.parts, b.endKnown, b.sorted, b.inTurn, b.lastPerson = partsOf(e), !e.EndUnknown, true, true, -1
	b.records.width, b.action.width = 1, 1
	b.obs.width, b.final.width, b.probs.width = len(e.Columns), len(e.Columns), e.Actions
	for _, c := range []*column[float64]{&b.reward, &b.behavior, &b.target, &b.discount} {
		c.width = 1
	}
}

// place records whose the episode is and how it ends.
func (b *Builder) place(e *Episode) {
	r := record{row: e.Row, rows: uint32(e.Len()), person: uint32(e.Person), file: uint16(e.File),
		number: uint32(e.Number), terminated: e.Terminated, final: e.Final != nil, lacks: e.Lacks}
	b.anyLacks = b.anyLacks || e.Lacks != 0
	b.inTurn = b.inTurn && e.Number == b.records.n
	b.records.append([]record{r})
	b.sorted = b.sorted && e.Person >= b.lastPerson
	b.lastPerson = e.Person
	b.persons = max(b.persons, e.Person+1)
	b.final.append(e.Final)
	b.anyFinal = b.anyFinal || e.Final != nil
}

// appendPart adds an episode's part, or nothing where the episodes have none.
func appendPart[T any](c *column[T], values []T, n int) {
	if values != nil && len(values) != n {
		panic("trajectory: an episode whose columns differ in length")
	}
	c.append(values)
}

// Dataset makes the dataset and empties the builder. Its rows, episodes and
// persons are none if nothing was added.
func (b *Builder) Dataset() *Dataset {
	return b.Named(nil, func() (_, _ []string) { return nil, nil })
}

// Named is like Dataset and fills in what the source calls its files, episodes
// and persons, by the numbers [Episode.File], [Episode.Number] and
// [Episode.Person]; nil or empty where it has no names. It panics where a number
// has no name. The names of episodes and persons are asked for once the columns
// are made, so that not all of it needs memory at one time; the dataset keeps
// the slices.
func (b *Builder) Named(files []string, names func() (episodes, persons []string)) *Dataset {
	d := &Dataset{Columns: b.columns, PersonStart: []int{0}, EpisodeStart: []int{0}}
	if !b.begun {
		return d
	}
	order, spans := b.order()
	b.index(d, order)
	d.Obs, d.Reward = b.obs.flatten(spans), b.reward.flatten(spans)
	if b.parts&Action != 0 {
		d.Action = b.action.flatten(spans)
	}
	for _, c := range []struct {
		part Parts
		from *column[float64]
		to   *[]float64
	}{{BehaviorProb, &b.behavior, &d.BehaviorProb}, {ActionProbs, &b.probs, &d.ActionProbs},
		{TargetProb, &b.target, &d.TargetProb}, {Discount, &b.discount, &d.Discount}} {
		if b.parts&c.part != 0 {
			*c.to = c.from.flatten(spans)
		}
	}
	if d.ActionProbs != nil {
		d.Actions = b.actions
	}
	b.finals(d, order)
	episodes, persons := names()
	b.named(d, order, files, episodes, persons)
	*b = Builder{}
	return d
}

// order gives the episodes person by person, and the spans of their rows; both
// nil when they are in that order already.
func (b *Builder) order() ([]int, []span) {
	if b.sorted {
		return nil, nil
	}
	n := b.records.n
	order, spans := make([]int, n), make([]span, n)
	start := 0
	for e := range n {
		order[e] = e
		next := start + int(b.records.row(e).rows)
		spans[e] = span{start, next}
		start = next
	}
	slices.SortStableFunc(order, func(i, j int) int {
		return cmp.Compare(b.records.row(i).person, b.records.row(j).person)
	})
	sorted := make([]span, n)
	for i, e := range order {
		sorted[i] = spans[e]
	}
	return order, sorted
}

// at is the i-th episode in order.
func at(order []int, i int) int {
	if order == nil {
		return i
	}
	return order[i]
}

// index fills the offsets and how episodes end.
func (b *Builder) index(d *Dataset, order []int) {
	n := b.records.n
	d.EpisodeStart = make([]int, 1, n+1)
	if d.LeftOut, d.Lost = b.lost.LeftOut, b.lost.Lost; d.LeftOut != nil {
		d.keepCounts(b.persons, len(b.columns))
	}
	single := b.persons == b.rows && d.LeftOut == nil // one episode of one row each: both offsets are 0, 1, 2, ...
	if !single {
		d.PersonStart = make([]int, 1, b.persons+1)
	}
	if b.endKnown {
		d.Terminated = make([]bool, n)
	}
	if b.anyLacks {
		d.Lacks = make([]uint8, n)
	}
	d.FirstRow = make([]int, n)
	person := 0
	for i := range n {
		r := b.records.row(at(order, i))
		for ; !single && person < int(r.person); person++ {
			d.PersonStart = append(d.PersonStart, i)
		}
		d.EpisodeStart = append(d.EpisodeStart, d.EpisodeStart[i]+int(r.rows))
		d.FirstRow[i] = r.row
		if b.endKnown {
			d.Terminated[i] = r.terminated
		}
		if b.anyLacks {
			d.Lacks[i] = r.lacks
		}
	}
	if single {
		d.PersonStart = d.EpisodeStart
	} else {
		for ; person < b.persons; person++ {
			d.PersonStart = append(d.PersonStart, n)
		}
	}
}

// finals fills the final observations; zeros stand where there is none.
func (b *Builder) finals(d *Dataset, order []int) {
	if !b.anyFinal {
		return
	}
	w, n := len(b.columns), b.records.n
	known := b.final.flatten(nil)
	place := make([]int, n) // of an episode's observation among those known
	k := 0
	for e := range n {
		place[e] = k
		if b.records.row(e).final {
			k++
		}
	}
	d.Final, d.HasFinal = make([]float64, n*w), make([]bool, n)
	for i := range n {
		if e := at(order, i); b.records.row(e).final {
			d.HasFinal[i] = true
			copy(d.Final[i*w:(i+1)*w], known[place[e]*w:])
		}
	}
}

// named fills the names, as far as they are known.
func (b *Builder) named(d *Dataset, order []int, files, episodes, persons []string) {
	n := b.records.n
	if len(files) > 0 {
		d.Origin = make([]string, n)
		for i := range n {
			d.Origin[i] = files[b.records.row(at(order, i)).file]
		}
	}
	switch {
	case len(episodes) == 0:
	case order == nil && b.inTurn && len(episodes) == n:
		d.EpisodeID = episodes
	default:
		d.EpisodeID = make([]string, n)
		for i := range n {
			d.EpisodeID[i] = episodes[b.records.row(at(order, i)).number]
		}
	}
	if len(persons) > 0 {
		if len(persons) < b.persons {
			panic("trajectory: a person without a name")
		}
		d.PersonID = persons[:b.persons]
	}
}
