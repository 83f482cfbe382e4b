package ingest

import (
	"encoding/binary"
	"hash/maphash"
	"sort"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// names numbers distinct ids in order of first appearance. A number takes 4 or 8 bytes, a
// UUID 16, another id those of its text and 4, and what finds them about 13 more. The hash is seeded
// afresh, so that no file can be made to collide, and ids are compared in full.
type names struct {
	ids  idList
	seed maphash.Seed
	// parts are the table, by hash. It is nil as long as every id was larger than the one
	// before it, as in sorted data: then one that is larger again is new.
	parts *[nameParts]namePart
	// sorted are numbers that were joined in several orders, as those of sorted files: then there
	// is no table either, until it is asked for.
	sorted []int64
	// of are other names whose first ones these are, count of them, and nil elsewhere: an
	// episode may have the id of its person.
	of    *names
	count int
	// last tells that only the last id is kept, as number 0: one is new that differs
	// from the one before it.
	last bool
}

// nameParts is into how many the table is divided, which grow one by one.
const nameParts = 64

// namePart is open addressed: 32 bits of the hash above the id's number + 1, or 0.
type namePart struct {
	table []uint64
	used  int
}

func newNames() *names { return &names{seed: maphash.MakeSeed()} }

func (n *names) len() int {
	if n.of != nil {
		return n.count
	}
	return n.ids.n
}

// id is id i.
func (n *names) id(i int) table.ID {
	switch {
	case n.of != nil:
		return n.of.id(i)
	case n.ids.kind != table.TextID:
		return n.ids.at(i)
	}
	return table.IDOf(n.at(i))
}

// at is the text of id i.
func (n *names) at(i int) []byte {
	switch {
	case n.of != nil:
		return n.of.at(i)
	case n.ids.kind == table.TextID:
		return n.ids.at(i).Text
	}
	id := n.ids.at(i)
	return id.Append(nil)
}

// is tells whether an id has number i.
func (n *names) is(i int, id *table.ID) bool {
	if n.of != nil {
		return n.of.is(i, id)
	}
	var at forNumber
	held, ok := n.ids.held(id, &at)
	has := n.ids.at(i)
	return ok && has.Equal(&held)
}

// find gives the number of an id, if it has one.
func (n *names) find(id *table.ID) (int, bool) {
	if n.of != nil {
		i, ok := n.of.find(id)
		return i, ok && i < n.count
	}
	var at forNumber
	held, ok := n.ids.held(id, &at)
	if !ok || n.ids.n == 0 {
		return 0, false
	}
	if n.sorted != nil {
		n.index()
	}
	if n.parts == nil {
		if last := n.ids.at(n.ids.n - 1); held.Compare(&last) > 0 {
			return 0, false
		}
		return sort.Find(n.ids.n, func(i int) int {
			has := n.ids.at(i)
			return held.Compare(&has)
		})
	}
	hash := n.hash(&held)
	i, _ := n.seek(&n.parts[hash%nameParts], hash, &held)
	return i, i >= 0
}

// hash is that of an id as it is held.
func (n *names) hash(id *table.ID) uint64 {
	if id.Kind == table.TextID {
		return maphash.Bytes(n.seed, id.Text)
	}
	var b [16]byte
	binary.LittleEndian.PutUint64(b[:], id.Low)
	binary.LittleEndian.PutUint64(b[8:], id.High)
	return maphash.Bytes(n.seed, b[:])
}

// start is where the search for a hash begins.
func (p *namePart) start(tag uint64) int { return int(tag * uint64(len(p.table)) >> 32) }

// seek finds the number of an id as it is held, or -1, and the place that it has in the table or
// may take.
func (n *names) seek(p *namePart, hash uint64, id *table.ID) (number, place int) {
	if len(p.table) == 0 {
		return -1, 0
	}
	tag := hash >> 32
	for h := p.start(tag); ; h++ {
		if h == len(p.table) {
			h = 0
		}
		entry := p.table[h]
		if entry == 0 {
			return -1, h
		}
		if entry>>32 == tag {
			i := int(uint32(entry) - 1)
			if has := n.ids.at(i); has.Equal(id) {
				return i, h
			}
		}
	}
}

// add gives the number of an id, and whether it is new.
func (n *names) add(id *table.ID) (int, bool) {
	switch {
	case n.last:
		return n.addLast(id)
	case n.of != nil:
		n.part()
	case n.sorted != nil:
		n.index()
	case n.parts == nil && n.ids.goesOn(id):
		n.ids.add(id)
		return n.ids.n - 1, true
	}
	var at forNumber
	held, ok := n.ids.held(id, &at)
	if !ok {
		if n.ids.admit(id.Kind); n.ids.n > 0 { // in another order
			n.index()
		}
		held, _ = n.ids.held(id, &at)
	}
	if n.parts == nil {
		last, c := n.ids.n-1, 1
		if last >= 0 {
			before := n.ids.at(last)
			c = held.Compare(&before)
		}
		switch {
		case c == 0:
			return last, false
		case c > 0:
			n.ids.add(&held)
			return last + 1, true
		}
		n.index()
	}
	hash := n.hash(&held)
	p := &n.parts[hash%nameParts]
	number, place := n.seek(p, hash, &held)
	if number >= 0 {
		return number, false
	}
	n.ids.add(&held)
	p.put(place, hash, n.ids.n)
	return n.ids.n - 1, true
}

func (n *names) addLast(id *table.ID) (int, bool) {
	if n.ids.n > 0 && n.is(0, id) {
		return 0, false
	}
	if n.ids.n == 0 {
		n.ids.add(&table.ID{Text: id.Append(nil)})
		return 0, true
	}
	c := &n.ids.chunks[0]
	c.text = id.Append(c.text[:0])
	c.end[0] = uint32(len(c.text))
	return 0, true
}

// put enters an id's number + 1 in its place.
func (p *namePart) put(place int, hash uint64, number int) {
	if 4*(p.used+1) > 3*len(p.table) {
		p.grow(max(16, len(p.table)*3/2))
		place = p.free(hash >> 32)
	}
	p.table[place] = hash>>32<<32 | uint64(number)
	p.used++
}

// free is the place for a hash that is new.
func (p *namePart) free(tag uint64) int {
	h := p.start(tag)
	for p.table[h] != 0 {
		if h++; h == len(p.table) {
			h = 0
		}
	}
	return h
}

func (p *namePart) grow(size int) {
	old := p.table
	p.table = make([]uint64, size)
	for _, entry := range old {
		if entry != 0 {
			p.table[p.free(entry>>32)] = entry
		}
	}
}

// index makes the table.
func (n *names) index() {
	n.parts, n.sorted = new([nameParts]namePart), nil
	if each := n.ids.n / nameParts * 3 / 2; each > 16 {
		for i := range n.parts {
			n.parts[i].table = make([]uint64, each)
		}
	}
	for i := range n.ids.n {
		id := n.ids.at(i)
		hash := n.hash(&id)
		p, place := &n.parts[hash%nameParts], 0
		if len(p.table) > 0 {
			place = p.free(hash >> 32)
		}
		p.put(place, hash, i+1)
	}
}

// pair is add of an id beside which another one follows, in the names that these are the
// first of so far.
func (n *names) pair(id, beside *table.ID) (int, bool) {
	if n.of == nil || n.last {
		return n.add(id)
	}
	if i, ok := n.find(id); ok {
		return i, false
	}
	if n.of.len() != n.count || !id.Equal(beside) || id.Missing() {
		return n.add(id)
	}
	n.count++
	return n.count - 1, true
}

// allOf tells that all of others are these.
func (n *names) allOf(of *names) bool { return n.of == of && n.count == of.len() }

// part makes the names a list of their own.
func (n *names) part() {
	of, count := n.of, n.count
	n.of = nil
	n.ids = of.ids.first(count)
	if of.parts != nil || of.sorted != nil {
		n.index()
	}
}

// join adds all ids of another, in order. It reports false where one of them is known.
func (n *names) join(o *names) bool {
	if n.rising() && o.rising() && o.sorted == nil && n.ids.n/o.ids.n < fewJoined {
		return n.joinRising(o.ids.low.all())
	}
	for i := range o.len() {
		id := o.id(i)
		if _, fresh := n.add(&id); !fresh {
			return false
		}
	}
	return true
}

// fewJoined is to how many times as many ids others are so few that a table costs less than to look at all.
const fewJoined = 64

// rising tells that the ids are numbers, of their own, and without a table.
func (n *names) rising() bool {
	return n.of == nil && !n.last && n.parts == nil && n.ids.kind == table.NumberID && n.ids.n > 0
}

// joinRising is join of numbers that rise.
func (n *names) joinRising(numbers []int64) bool {
	if low := &n.ids.low; n.sorted != nil || low.at(low.n-1) >= numbers[0] {
		if n.sorted == nil {
			n.sorted = low.all()
		}
		last, left := len(n.sorted)-1, numbers
		n.sorted = append(n.sorted, numbers...)
		for to := len(n.sorted) - 1; len(left) > 0; to-- {
			v := left[len(left)-1]
			switch {
			case last < 0 || n.sorted[last] < v:
				n.sorted[to], left = v, left[:len(left)-1]
			case n.sorted[last] == v:
				return false
			default:
				n.sorted[to] = n.sorted[last]
				last--
			}
		}
	}
	for _, v := range numbers {
		n.ids.add(&table.ID{Kind: table.NumberID, Low: uint64(v)})
	}
	return true
}

// strings gives the text of every id.
func (n *names) strings() []string {
	if n.of != nil {
		return n.of.strings()[:n.count]
	}
	return n.ids.strings()
}
