package ingest

import (
	"bytes"
	"hash/maphash"
)

// names numbers distinct keys in order of first appearance. Their text lies in
// one arena: a key costs its bytes and about 24 more, not a string and a map
// entry. The hash is seeded afresh, so that no file can be made to collide.
type names struct {
	seed maphash.Seed
	text []byte
	end  []int
	// table is open addressed: half of the hash above the key's number + 1, or 0.
	table []uint64
}

func newNames() *names {
	return &names{seed: maphash.MakeSeed(), table: make([]uint64, 16)}
}

func (n *names) len() int { return len(n.end) }

// at is the text of key i.
func (n *names) at(i int) []byte {
	start := 0
	if i > 0 {
		start = n.end[i-1]
	}
	return n.text[start:n.end[i]]
}

// find gives the number of a key, if it has one.
func (n *names) find(key []byte) (int, bool) {
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
