package table

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"strconv"
)

// ID is a key: a whole number, a UUID, or another text; an empty one is missing. Two are
// equal if their texts are.
type ID struct {
	Kind IDKind
	// Text may be empty of a number or a UUID.
	Text []byte
	// High and Low are the bits of a UUID. Low are those of a number.
	High, Low uint64
}

// IDKind says what an id is as it is written.
type IDKind uint8

const (
	// TextID is what is of no other kind.
	TextID IDKind = iota
	// NumberID is a number in the one usual way.
	NumberID
	// UUIDID is a UUID in lower case.
	UUIDID
)

// IDOf is the key that is written as text.
func IDOf(text []byte) ID {
	id := ID{Text: text}
	if v, ok := wholeNumber(text); ok {
		id.Kind, id.Low = NumberID, uint64(v)
	} else if len(text) == uuidLength {
		id.readUUID()
	}
	return id
}

// NumberOf is a key that is a number of at most 18 digits.
func NumberOf(v int64) ID { return ID{Kind: NumberID, Low: uint64(v)} }

// Number is the value of a number.
func (id *ID) Number() int64 { return int64(id.Low) }

// Missing tells that there is no key.
func (id *ID) Missing() bool { return id.Kind == TextID && len(id.Text) == 0 }

// Equal compares keys.
func (id *ID) Equal(other *ID) bool {
	return id.Kind == other.Kind && id.High == other.High && id.Low == other.Low && (id.Kind != TextID || bytes.Equal(id.Text, other.Text))
}

// Compare gives keys of one kind an order: of numbers theirs, of texts that of their lengths
// and then of their bytes.
func (id *ID) Compare(other *ID) int {
	switch id.Kind {
	case NumberID:
		return cmp.Compare(int64(id.Low), int64(other.Low))
	case UUIDID:
		if c := cmp.Compare(id.High, other.High); c != 0 {
			return c
		}
		return cmp.Compare(id.Low, other.Low)
	}
	if len(id.Text) != len(other.Text) {
		return len(id.Text) - len(other.Text)
	}
	return bytes.Compare(id.Text, other.Text)
}

// Append appends the text.
func (id *ID) Append(dst []byte) []byte {
	switch {
	case len(id.Text) > 0:
		return append(dst, id.Text...)
	case id.Kind == NumberID:
		return strconv.AppendInt(dst, int64(id.Low), 10)
	case id.Kind == UUIDID:
		return id.appendUUID(dst)
	}
	return dst
}

// mostDigits is how many digits a number has that is kept as one.
const mostDigits = 18

// wholeNumber reads a number that is written in the one usual way.
func wholeNumber(text []byte) (int64, bool) {
	digits := text
	if len(text) > 0 && text[0] == '-' {
		digits = text[1:]
	}
	if len(digits) == 0 || len(digits) > mostDigits || digits[0] == '0' && len(text) > 1 {
		return 0, false
	}
	v := int64(0)
	for _, b := range digits {
		if b -= '0'; b > 9 {
			return 0, false
		}
		v = 10*v + int64(b)
	}
	if len(digits) < len(text) {
		v = -v
	}
	return v, true
}

const (
	uuidLength = 36
	hexDigits  = "0123456789abcdef"
	noDigit    = 0xff
)

// digitOf is the value of a digit of a UUID.
var digitOf = func() (of [256]uint8) {
	for b := range of {
		of[b] = noDigit
	}
	for v := range len(hexDigits) {
		of[hexDigits[v]] = uint8(v)
	}
	return of
}()

// readUUID makes a UUID of a text that is one.
func (id *ID) readUUID() {
	t := (*[uuidLength]byte)(id.Text)
	if t[8] != '-' || t[13] != '-' || t[18] != '-' || t[23] != '-' {
		return
	}
	var b [16]byte
	bad, at := uint8(0), 0
	for i := range b {
		high, low := digitOf[t[at]], digitOf[t[at+1]]
		bad |= high | low
		b[i] = high<<4 | low
		if at += 2; i == 3 || i == 5 || i == 7 || i == 9 {
			at++
		}
	}
	if bad < 16 {
		id.Kind, id.High, id.Low = UUIDID, binary.BigEndian.Uint64(b[:]), binary.BigEndian.Uint64(b[8:])
	}
}

func (id *ID) appendUUID(dst []byte) []byte {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], id.High)
	binary.BigEndian.PutUint64(b[8:], id.Low)
	for i, v := range b {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			dst = append(dst, '-')
		}
		dst = append(dst, hexDigits[v>>4], hexDigits[v&15])
	}
	return dst
}
