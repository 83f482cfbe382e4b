package ingest

import "bytes"

// place is a row of a file.
type place struct{ file, row int }

// spellings finds ids of units that are one id in two spellings: "7", "07", "7.0",
// "+7" and " 7" are one number, and a unit that is written in two ways would have
// its contribution counted, and its caps applied, twice.
type spellings struct {
	first []uint64 // where each unit was first seen: file and row
	// odd holds the plain spelling of the ids that are not in it, and whose they
	// are. Mostly it is empty.
	odd  *names
	unit []int
}

func newSpellings() *spellings { return &spellings{odd: newNames()} }

// rowBits is the room for a row in first; files have the rest.
const rowBits = 47

// add enters a unit, the next in number, and reports an earlier one of which it is
// another spelling.
func (s *spellings) add(ids *names, unit int, at place) (place, bool) {
	s.first = append(s.first, uint64(at.file)<<rowBits|uint64(at.row))
	id := ids.at(unit)
	plain := plainID(id)
	if i, ok := s.odd.find(plain); ok {
		return s.place(s.unit[i]), true
	}
	if bytes.Equal(plain, id) {
		return place{}, false
	}
	if i, ok := ids.find(plain); ok {
		return s.place(i), true
	}
	s.odd.add(plain)
	s.unit = append(s.unit, unit)
	return place{}, false
}

func (s *spellings) place(unit int) place {
	at := s.first[unit]
	return place{int(at >> rowBits), int(at & (1<<rowBits - 1))}
}

// plainID is an id without spaces around it and, where it is a number of decimal
// digits, without plus sign, leading zeros and a fraction of zeros.
func plainID(id []byte) []byte {
	id = bytes.TrimSpace(id)
	digits, negative := bytes.CutPrefix(id, []byte("-"))
	if !negative {
		digits = bytes.TrimPrefix(id, []byte("+"))
	}
	whole, fraction, _ := bytes.Cut(digits, []byte("."))
	if len(whole) == 0 || len(bytes.Trim(whole, "0123456789")) > 0 || len(bytes.Trim(fraction, "0")) > 0 {
		return id
	}
	whole = bytes.TrimLeft(whole, "0")
	switch {
	case len(whole) == 0:
		return []byte("0")
	case negative:
		return append([]byte("-"), whole...)
	}
	return whole
}
