package ingest

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// place is a row of a file, and what of it: names come before the rest, where others look
// at them later.
type place struct{ file, row, part int }

// The parts of a row.
const (
	ofEpisode = iota - 2
	ofPerson
)

// spellings finds ids of units that are one id in two spellings ([plainID]). A unit that
// is written in two ways would have its contribution counted, and its caps applied, twice.
type spellings struct {
	first integers // where each unit was first seen: file and row
	// odd holds the plain spelling of the ids that are not in it, and whose they
	// are. Mostly it is empty.
	odd  *names
	unit []int
	// joined tells that ids are of several columns, each of which has its spellings.
	joined bool
}

func newSpellings() *spellings { return &spellings{odd: newNames()} }

// rowBits is the room for a row in first; files have the rest.
const rowBits = 47

// add enters a unit, the next in number, and reports an earlier one of which it is
// another spelling.
func (s *spellings) add(ids *names, id *table.ID, unit int, at place) (place, bool) {
	s.first.add(int64(at.file)<<rowBits | int64(at.row))
	if s.isPlain(id) {
		if s.odd.len() == 0 {
			return place{}, false
		}
		i, clash := s.odd.find(id)
		if !clash {
			return place{}, false
		}
		return s.place(s.unit[i]), true
	}
	plain := table.IDOf(s.plainID(id.Append(nil)))
	if i, ok := s.odd.find(&plain); ok {
		return s.place(s.unit[i]), true
	}
	if plain.Equal(id) {
		return place{}, false
	}
	if i, ok := ids.find(&plain); ok {
		return s.place(i), true
	}
	s.odd.add(&plain)
	s.unit = append(s.unit, unit)
	return place{}, false
}

func (s *spellings) place(unit int) place {
	at := s.first.at(unit)
	return place{file: int(at >> rowBits), row: int(at & (1<<rowBits - 1))}
}

// isPlain tells of most ids that plainID gives them back: of letters, digits, hyphens
// and underscores, with a letter first, or of digits without a leading zero.
func isPlain(id []byte) bool {
	if len(id) == 0 || id[0] <= '0' {
		return false
	}
	number := id[0] <= '9'
	for _, b := range id {
		digit := b-'0' <= 9
		other := (b|0x20)-'a' <= 'z'-'a' || b == '-' || b == '_'
		if !digit && (number || !other) {
			return false
		}
	}
	return true
}

func isASCII(id []byte) bool {
	return !slices.ContainsFunc(id, func(b byte) bool { return b >= utf8.RuneSelf })
}

// joins tells the characters that some scripts need between letters, and that are
// not seen elsewhere.
func joins(r rune) bool {
	return r == 0x200c || r == 0x200d || unicode.Is(unicode.Variation_Selector, r)
}

// emptyBraille is a cell without dots, which fonts draw as a space.
const emptyBraille = 0x2800

// unseen tells that an id holds a character that no id needs and nobody sees: a
// control character other than white space, or a format character such as a zero-width space, a soft hyphen
// or a byte order mark, or a letter or mark that is drawn as nothing or as a blank (a Hangul
// filler, the grapheme joiner, an empty Braille cell).
func unseen(id []byte) bool {
	if bytes.IndexFunc(id, unicode.IsControl) < 0 && isASCII(id) {
		return false
	}
	return bytes.ContainsFunc(id, func(r rune) bool {
		return unicode.IsControl(r) && !unicode.IsSpace(r) || unicode.Is(unicode.Cf, r) && !joins(r) ||
			unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || r == emptyBraille
	})
}
