package ingest

import (
	"bytes"
	"hash/maphash"
	"slices"
	"sort"
)

// names numbers distinct keys in order of first appearance. Their text lies in
// one arena: a key costs its bytes and about 24 more, not a string and a map
// entry. The hash is seeded afresh, so that no file can be made to collide.
type names struct {
	seed maphash.Seed
	text []byte
	end  []int
	// table is open addressed: half of the hash above the key's number + 1, or 0. It is
	// nil as long as every key was longer than the one before it, or as long and larger,
	// as numbers are that count up: then a key that goes on so is new.
	table []uint64
	// last tells that only the last key is kept, as number 0: one is new that differs
	// from the one before it.
	last bool
}

func newNames() *names { return &names{seed: maphash.MakeSeed()} }

func (n *names) len() int { return len(n.end) }

// at is the text of key i.
func (n *names) at(i int) []byte {
	start := 0
	if i > 0 {
		start = n.end[i-1]
	}
	return n.text[start:n.end[i]]
}

// order compares keys by length, and those of one length byte by byte.
func order(a, b []byte) int {
	if len(a) != len(b) {
		return len(a) - len(b)
	}
	return bytes.Compare(a, b)
}

// find gives the number of a key, if it has one.
func (n *names) find(key []byte) (int, bool) {
	if n.table == nil {
		return sort.Find(len(n.end), func(i int) int { return order(key, n.at(i)) })
	}
	mask := uint64(len(n.table) - 1)
	tag := maphash.Bytes(n.seed, key) >> 32
	for h := tag & mask; n.table[h] != 0; h = (h + 1) & mask {
		if n.table[h]>>32 != tag {
			continue
		}
		if i := int(uint32(n.table[h]) - 1); bytes.Equal(n.at(i), key) {
			return i, true
		}
	}
	return 0, false
}

// add gives the number of a key, and whether it is new.
func (n *names) add(key []byte) (int, bool) {
	if n.last {
		if len(n.end) > 0 && bytes.Equal(n.text, key) {
			return 0, false
		}
		n.text = append(n.text[:0], key...)
		n.end = append(n.end[:0], len(n.text))
		return 0, true
	}
	if n.table == nil {
		last := len(n.end) - 1
		c := 1
		if last >= 0 {
			c = order(key, n.at(last))
		}
		switch {
		case c == 0:
			return last, false
		case c > 0:
			n.text = append(n.text, key...)
			n.end = append(n.end, len(n.text))
			return last + 1, true
		}
		n.index()
	}
	mask := uint64(len(n.table) - 1)
	tag := maphash.Bytes(n.seed, key) >> 32
	h := tag & mask
	for ; n.table[h] != 0; h = (h + 1) & mask {
		if n.table[h]>>32 != tag {
			continue
		}
		if i := int(uint32(n.table[h]) - 1); bytes.Equal(n.at(i), key) {
			return i, false
		}
	}
	n.text = append(n.text, key...)
	n.end = append(n.end, len(n.text))
	n.table[h] = tag<<32 | uint64(len(n.end))
	if 4*len(n.end) > 3*len(n.table) {
		n.grow()
	}
	return len(n.end) - 1, true
}

// index makes the table.
func (n *names) index() {
	size := 16
	for 4*(len(n.end)+1) > 3*size {
		size *= 2
	}
	n.table = make([]uint64, size)
	mask := uint64(size - 1)
	for i := range n.end {
		tag := maphash.Bytes(n.seed, n.at(i)) >> 32
		h := tag & mask
		for n.table[h] != 0 {
			h = (h + 1) & mask
		}
		n.table[h] = tag<<32 | uint64(i+1)
	}
}

// join adds all keys of another, in order. It reports false where one of them is known.
func (n *names) join(o *names) bool {
	if n.table == nil && o.table == nil && len(n.end) > 0 && len(o.end) > 0 && order(o.at(0), n.at(len(n.end)-1)) > 0 {
		before := len(n.text)
		n.text = append(n.text, o.text...)
		n.end = slices.Grow(n.end, len(o.end))
		for _, end := range o.end {
			n.end = append(n.end, before+end)
		}
		return true
	}
	for i := range o.len() {
		if _, fresh := n.add(o.at(i)); !fresh {
			return false
		}
	}
	return true
}

func (n *names) grow() {
	old := n.table
	n.table = make([]uint64, 2*len(old))
	mask := uint64(len(n.table) - 1)
	for _, entry := range old {
		if entry == 0 {
			continue
		}
		h := entry >> 32 & mask
		for n.table[h] != 0 {
			h = (h + 1) & mask
		}
		n.table[h] = entry
	}
}

// strings gives the text of every key; they share one allocation.
func (n *names) strings() []string {
	all := string(n.text)
	out := make([]string, len(n.end))
	start := 0
	for i, end := range n.end {
		out[i] = all[start:end]
		start = end
	}
	return out
}
