package trajectory

import (
	"bytes"
	"hash/maphash"
)

// names numbers distinct keys in order of first appearance. Their text lies in
// one arena: a key costs its bytes and about 14 more, not a string and a map
// entry. The hash is seeded afresh, so that no file can be made to collide.
type names struct {
	seed  maphash.Seed
	text  []byte
	end   []int
	table []uint32 // number + 1, or 0
}

func newNames() *names {
	return &names{seed: maphash.MakeSeed(), table: make([]uint32, 16)}
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

// add gives the number of a key, and whether it is new.
func (n *names) add(key []byte) (int, bool) {
	mask := uint64(len(n.table) - 1)
	h := maphash.Bytes(n.seed, key) & mask
	for ; n.table[h] != 0; h = (h + 1) & mask {
		if i := int(n.table[h] - 1); bytes.Equal(n.at(i), key) {
			return i, false
		}
	}
	n.text = append(n.text, key...)
	n.end = append(n.end, len(n.text))
	n.table[h] = uint32(len(n.end))
	if 4*len(n.end) > 3*len(n.table) {
		n.grow()
	}
	return len(n.end) - 1, true
}

// addUnnamed takes a number that no key has.
func (n *names) addUnnamed() int {
	n.end = append(n.end, len(n.text))
	return len(n.end) - 1
}

func (n *names) grow() {
	n.table = make([]uint32, 2*len(n.table))
	mask := uint64(len(n.table) - 1)
	for i := range n.end {
		key := n.at(i)
		if len(key) == 0 {
			continue // unnamed: never looked up
		}
		h := maphash.Bytes(n.seed, key) & mask
		for n.table[h] != 0 {
			h = (h + 1) & mask
		}
		n.table[h] = uint32(i + 1)
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
