package parquet

import (
	"hash/crc32"
	"math"
	"math/bits"

	"github.com/klauspost/compress/snappy"
)

// Sink takes the values of a column that is written, row by row, and makes pages of them:
// of indices into a dictionary as long as it has few entries, and of plain values from then
// on.
type Sink struct {
	leaf   Leaf
	most   int // values of a page
	budget int // entries of a dictionary

	// The file.
	all     int64 // values of the row groups before
	longest int   // of its lists; 1 without any

	// The page at hand: levels, and one of the forms of values.
	pageRows   int
	levels     int
	present    int
	def, rep   []uint32
	index      []uint32
	plainBytes []byte // numbers, texts or, a byte each, flags
	lastIndex  uint32
	lastBits   uint64

	// The row group at hand.
	rows, values   int
	pages, indices int // how many pages, and how many of them are of indices
	indexing       bool
	worn           bool // a dictionary has not paid: later groups have none
	full           bool // the row group had better end here
	entries        lexicon
	done           []byte
	raw            int64
	delivered      int64 // bytes of texts as a reader delivers them

	body, packed []byte
}

func newSink(leaf Leaf, columns int) *Sink {
	s := &Sink{leaf: leaf, longest: 1, most: max(min(pageValues, allPageValues/columns), 1<<6)}
	most := mostNumbers
	if leaf.Type == Text {
		most = mostTexts
	}
	s.budget = min(most, allEntries/columns)
	s.entries.texts = leaf.Type == Text
	s.reset()
	return s
}

// reset starts a row group.
func (s *Sink) reset() {
	s.rows, s.values, s.pages, s.indices, s.raw, s.delivered = 0, 0, 0, 0, 0, 0
	s.full = false
	s.done = s.done[:0]
	s.indexing = s.leaf.Type != Flag && !s.worn
	s.entries.reset()
}

// held is the bytes that the row group takes.
func (s *Sink) held() int { return len(s.done) + len(s.plainBytes) + 4*len(s.index) + s.entries.size() }

// Double adds a row of a column of doubles.
func (s *Sink) Double(v float64) { s.number(math.Float64bits(v)) }

// Integer adds a row of a column of integers.
func (s *Sink) Integer(v int64) { s.number(uint64(v)) }

// Flag adds a row of a column of flags.
func (s *Sink) Flag(v bool) {
	b := byte(0)
	if v {
		b = 1
	}
	s.plainBytes = append(s.plainBytes, b)
	s.there()
	s.row()
}

// Text adds rows of a column of texts, which all have the same one.
func (s *Sink) Text(v string, rows int) {
	for range rows {
		if !s.indexing {
			s.delivered += int64(len(v))
			s.plainBytes = append(appendUint32(s.plainBytes, uint32(len(v))), v...)
		} else {
			if s.present == 0 || string(s.entries.text(s.lastIndex)) != v {
				s.lastIndex = s.entries.addText(v)
				s.delivered += int64(len(v))
			}
			if s.rows%(atOnce/4) == 0 { // a reader tells of a run anew in each of its batches
				s.delivered += 2 * int64(len(v))
			}
			s.index = append(s.index, s.lastIndex)
		}
		s.there()
		s.row()
	}
}

// Null adds a row without a value to a column that is optional.
func (s *Sink) Null() {
	s.def = append(s.def, 0)
	s.levels++
	s.row()
}

// Doubles adds a row of a column of lists.
func (s *Sink) Doubles(list []float64) {
	if s.longest = max(s.longest, len(list)); len(list) == 0 {
		s.def, s.rep = append(s.def, 0), append(s.rep, 0)
		s.levels++
	}
	for i, v := range list {
		s.rep = append(s.rep, uint32(min(i, 1)))
		s.value(math.Float64bits(v))
		s.there()
	}
	s.row()
}

func (s *Sink) number(b uint64) {
	s.value(b)
	s.there()
	s.row()
}

func (s *Sink) value(b uint64) {
	switch {
	case !s.indexing:
		s.plainBytes = appendUint64(s.plainBytes, b)
	case s.present > 0 && b == s.lastBits:
		s.index = append(s.index, s.lastIndex)
	default:
		s.lastBits, s.lastIndex = b, s.entries.addNumber(b)
		s.index = append(s.index, s.lastIndex)
	}
}

// there counts a value that was added.
func (s *Sink) there() {
	if s.leaf.Optional || s.leaf.List {
		s.def = append(s.def, 1)
	}
	s.present++
	s.levels++
}

// row ends a row.
func (s *Sink) row() {
	s.rows++
	s.pageRows++
	if s.levels >= s.most || len(s.plainBytes) >= textBytes {
		s.cut()
	}
	if s.indexing && (s.entries.n > s.budget || len(s.entries.arena) > textBytes) {
		s.crowded()
	}
}

// crowded decides what becomes of a dictionary that is full: where each entry stands for
// several values a row group ends, and the next one has its own; else it has not paid.
func (s *Sink) crowded() {
	if s.leaf.Type == Text && s.values+s.present >= 4*s.entries.n {
		s.full = true
		return
	}
	s.cut()
	s.indexing, s.worn = false, true
}

// end ends the row group. Of few values a dictionary does not pay.
func (s *Sink) end() {
	if s.indexing && s.pages == 0 && 2*s.entries.n > s.present {
		s.spell()
		s.indexing = false
	}
	s.cut()
}

// spell puts plain values in the place of indices.
func (s *Sink) spell() {
	for _, i := range s.index {
		if s.leaf.Type == Text {
			v := s.entries.text(i)
			s.plainBytes = append(appendUint32(s.plainBytes, uint32(len(v))), v...)
		} else {
			s.plainBytes = appendUint64(s.plainBytes, s.entries.numbers[i])
		}
	}
	s.index = s.index[:0]
}

// cut makes a page of what there is.
func (s *Sink) cut() {
	if s.levels == 0 {
		return
	}
	b := s.body[:0]
	if s.leaf.List {
		b = appendLevels(b, s.rep)
	}
	if s.leaf.Optional || s.leaf.List {
		b = appendLevels(b, s.def)
	}
	encoding := int64(plain)
	switch {
	case s.indexing:
		width := max(bits.Len(uint(s.entries.n-1)), 1)
		if s.entries.n == 0 {
			width = 1
		}
		encoding = rleDictionary
		b = appendRuns(append(b, byte(width)), s.index, width)
		s.indices++
	case s.leaf.Type == Flag:
		b = appendBits(b, s.plainBytes)
	default:
		b = append(b, s.plainBytes...)
	}
	s.body = b
	s.page(dataPage, s.levels, encoding, b)
	s.pages++
	s.values += s.levels
	s.pageRows, s.levels, s.present = 0, 0, 0
	s.def, s.rep, s.index, s.plainBytes = s.def[:0], s.rep[:0], s.index[:0], s.plainBytes[:0]
}

// page compresses a page and puts it after those that are done.
func (s *Sink) page(kind int64, values int, encoding int64, body []byte) {
	s.packed = snappy.Encode(s.packed[:cap(s.packed)], body)
	before := len(s.done)
	s.done = appendPageHeader(s.done, kind, len(body), len(s.packed), crc32.ChecksumIEEE(s.packed), values, encoding)
	s.raw += int64(len(s.done) - before + len(body))
	s.done = append(s.done, s.packed...)
}

// dictionaryPage is the page of the dictionary, and its size before compression.
func (s *Sink) dictionaryPage() ([]byte, int64) {
	body := s.entries.appendPlain(s.body[:0])
	s.body = body
	s.packed = snappy.Encode(s.packed[:cap(s.packed)], body)
	page := appendPageHeader(nil, dictionaryPage, len(body), len(s.packed), crc32.ChecksumIEEE(s.packed), s.entries.n, plain)
	raw := int64(len(page) + len(body))
	return append(page, s.packed...), raw
}
