package parquet

import "hash/maphash"

// lexicon is a dictionary that grows: each number or text has the place at which it came
// first.
type lexicon struct {
	texts   bool
	n       int
	numbers []uint64
	arena   []byte // of texts, one after another
	ends    []uint32
	table   []uint32 // one more than the place, 0 where there is none; a power of two of them
}

var lexiconSeed = maphash.MakeSeed()

func (l *lexicon) reset() {
	l.n, l.numbers, l.arena, l.ends = 0, l.numbers[:0], l.arena[:0], l.ends[:0]
	clear(l.table)
}

func (l *lexicon) size() int { return 8*len(l.numbers) + len(l.arena) + 4*len(l.ends) }

// text is an entry. It is overwritten once the lexicon is reset.
func (l *lexicon) text(i uint32) []byte {
	from := uint32(0)
	if i > 0 {
		from = l.ends[i-1]
	}
	return l.arena[from:l.ends[i]]
}

func hashNumber(v uint64) uint64 {
	v *= 0x9e3779b97f4a7c15
	return v ^ v>>32
}

func (l *lexicon) addNumber(v uint64) uint32 {
	l.widen()
	mask := uint64(len(l.table) - 1)
	for at := hashNumber(v) & mask; ; at = (at + 1) & mask {
		switch i := l.table[at]; {
		case i == 0:
			l.n++
			l.numbers = append(l.numbers, v)
			l.table[at] = uint32(l.n)
			return uint32(l.n - 1)
		case l.numbers[i-1] == v:
			return i - 1
		}
	}
}

func (l *lexicon) addText(v string) uint32 {
	l.widen()
	mask := uint64(len(l.table) - 1)
	for at := maphash.String(lexiconSeed, v) & mask; ; at = (at + 1) & mask {
		switch i := l.table[at]; {
		case i == 0:
			l.n++
			l.arena = append(l.arena, v...)
			l.ends = append(l.ends, uint32(len(l.arena)))
			l.table[at] = uint32(l.n)
			return uint32(l.n - 1)
		case string(l.text(i-1)) == v:
			return i - 1
		}
	}
}

// widen keeps half of the table free.
func (l *lexicon) widen() {
	if 2*l.n < len(l.table) {
		return
	}
	l.table = make([]uint32, max(2*len(l.table), 16))
	mask := uint64(len(l.table) - 1)
	for i := range uint32(l.n) {
		var at uint64
		if l.texts {
			at = maphash.Bytes(lexiconSeed, l.text(i))
		} else {
			at = hashNumber(l.numbers[i])
		}
		for at &= mask; l.table[at] != 0; {
			at = (at + 1) & mask
		}
		l.table[at] = i + 1
	}
}

// appendPlain appends the entries as a page of plain values has them.
func (l *lexicon) appendPlain(dst []byte) []byte {
	for _, v := range l.numbers {
		dst = appendUint64(dst, v)
	}
	if l.texts {
		for i := range uint32(l.n) {
			v := l.text(i)
			dst = append(appendUint32(dst, uint32(len(v))), v...)
		}
	}
	return dst
}
