package ingest

import (
	"bytes"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// place is a row of a file, and what of it: names come before the rest, where others look
// at them later.
type place struct{ file, row, part int }

// The parts of a row.
const (
	ofEpisode = iota - 2
	ofPerson
)

// spellings finds ids of units that are one id in two spellings: "7", "07", "7.0",
// "7e0", "+7" and " 7" are one number, an accent may be a character of its own or
// not, and a unit that is written in two ways would have its contribution counted,
// and its caps applied, twice.
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
	if isPlain(id) {
		_, clash := s.odd.find(id)
		if !clash {
			return place{}, false
		}
	}
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
	return place{file: int(at >> rowBits), row: int(at & (1<<rowBits - 1))}
}

// plainID is an id as one would write it plainly: in the compatibility form of
// Unicode (NFKC), without spaces around it, with one where there are several, and
// without joiners and selectors of variants, which are not seen; and a number in decimal, without plus sign, leading
// zeros, a fraction of zeros and, up to 40 places, an exponent.
func plainID(id []byte) []byte {
	if !isASCII(id) {
		id = norm.NFKC.Bytes(bytes.Map(func(r rune) rune {
			if joins(r) {
				return -1
			}
			return r
		}, id))
	}
	if bytes.IndexFunc(id, unicode.IsSpace) >= 0 {
		id = bytes.Join(bytes.Fields(id), []byte(" "))
	}
	if len(id) == 0 || bytes.IndexByte([]byte("+-.0123456789"), id[0]) < 0 {
		return id
	}
	if id[0] >= '1' && len(bytes.Trim(id, "0123456789")) == 0 { // mostly
		return id
	}
	if plain, ok := plainNumber(id); ok {
		return plain
	}
	return id
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

// mostZeros bounds the zeros that stand for an exponent.
const mostZeros = 40

// plainNumber writes a decimal number plainly; it reports false for what is none.
func plainNumber(id []byte) ([]byte, bool) {
	digits, negative := bytes.CutPrefix(id, []byte("-"))
	if !negative {
		digits = bytes.TrimPrefix(id, []byte("+"))
	}
	exponent := 0
	if i := bytes.IndexAny(digits, "eE"); i >= 0 {
		n, err := strconv.Atoi(string(digits[i+1:]))
		if err != nil || n > 1e9 || n < -1e9 {
			return nil, false
		}
		digits, exponent = digits[:i], n
	}
	whole, fraction, _ := bytes.Cut(digits, []byte("."))
	all := append(bytes.Clone(whole), fraction...)
	if len(all) == 0 || len(bytes.Trim(all, "0123456789")) > 0 {
		return nil, false
	}
	exponent -= len(fraction)
	all = bytes.TrimLeft(all, "0")
	if len(all) == 0 {
		return []byte("0"), true
	}
	significant := bytes.TrimRight(all, "0")
	exponent += len(all) - len(significant)
	plain := placed(significant, exponent)
	if negative {
		plain = append([]byte("-"), plain...)
	}
	return plain, true
}

// placed writes digits times a power of ten.
func placed(digits []byte, exponent int) []byte {
	switch {
	case exponent > mostZeros || exponent < -len(digits)-mostZeros:
		return strconv.AppendInt(append(bytes.Clone(digits), 'e'), int64(exponent), 10)
	case exponent >= 0:
		return append(bytes.Clone(digits), bytes.Repeat([]byte("0"), exponent)...)
	case -exponent < len(digits):
		point := len(digits) + exponent
		return slices.Concat(digits[:point], []byte("."), digits[point:])
	}
	return slices.Concat([]byte("0."), bytes.Repeat([]byte("0"), -exponent-len(digits)), digits)
}
