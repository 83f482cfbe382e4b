package ndjsonfile

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// What may be wrong with a value or a line. None of them holds any of it.
var (
	errSyntax    = errors.New("not JSON")
	errNotNumber = errors.New("not a number")
	errNotFinite = errors.New("not a finite number")
	errLongKey   = errors.New("longer than a key may be")
	errNotKey    = errors.New("neither text nor a number")
	errNotList   = errors.New("not a list")
	errLength    = errors.New("a list of another length")
)

func space(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// skipSpace is the place of the next byte that is not a space; len(b) when there
// is none.
func skipSpace(b []byte, p int) int {
	for p < len(b) && space(b[p]) {
		p++
	}
	return p
}

// skipString is the place after the string whose opening quote is at p, and
// whether a backslash is in it.
func skipString(b []byte, p int) (int, bool, error) {
	escaped := false
	for p++; p < len(b); p++ {
		switch c := b[p]; {
		case c == '"':
			return p + 1, escaped, nil
		case c == '\\':
			escaped = true
			p++
		case c < 0x20:
			return 0, false, errSyntax
		}
	}
	return 0, false, errSyntax
}

// skipValue is the place after the value at p. What is inside is looked at only
// as far as finding its end needs.
func skipValue(b []byte, p int) (int, error) {
	depth := 0
	for p < len(b) {
		switch c := b[p]; {
		case c == '"':
			end, _, err := skipString(b, p)
			if err != nil {
				return 0, err
			}
			p = end
		case c == '[' || c == '{':
			depth++
			p++
			continue
		case c == ']' || c == '}':
			if depth--; depth < 0 {
				return 0, errSyntax
			}
			p++
		case c == ',' || c == ':' || space(c):
			if depth == 0 {
				return 0, errSyntax
			}
			p++
			continue
		default:
			if p = scalar(b, p); p == 0 {
				return 0, errSyntax
			}
		}
		if depth == 0 {
			return p, nil
		}
	}
	return 0, errSyntax
}

// scalar is the place after the number or the word at p; 0 when there is none.
func scalar(b []byte, p int) int {
	start := p
	for p < len(b) && (b[p]|0x20 >= 'a' && b[p]|0x20 <= 'z' || b[p] >= '0' && b[p] <= '9' || b[p] == '-' || b[p] == '+' || b[p] == '.') {
		p++
	}
	if p == start {
		return 0
	}
	return p
}

// text gives what the string in b, quotes included, stands for.
func text(b []byte, escaped bool) ([]byte, error) {
	if !escaped {
		return b[1 : len(b)-1], nil
	}
	var s string
	if err := json.Unmarshal(b, &s); err != nil {
		return nil, errSyntax
	}
	// Half a surrogate pair becomes the replacement character, and two ids would
	// become one.
	if bytes.ContainsRune([]byte(s), utf8.RuneError) {
		return nil, errSyntax
	}
	return []byte(s), nil
}

// number reads the scalar b: a number, true, false or null.
func number(b []byte) (float64, error) {
	if len(b) == 0 {
		return 0, errSyntax
	}
	switch c := b[0]; {
	case c == 't' && string(b) == "true":
		return 1, nil
	case c == 'f' && string(b) == "false":
		return 0, nil
	case c == 'n' && string(b) == "null":
		return table.Null(), nil
	case c != '-' && c-'0' > 9:
		return word(b)
	}
	if v, ok := plain(b); ok {
		return v, nil
	}
	if !grammatical(b) {
		return word(b)
	}
	v, err := strconv.ParseFloat(string(b), 64)
	switch {
	case math.IsInf(v, 0):
		return 0, errNotFinite
	case err != nil && !errors.Is(err, strconv.ErrRange):
		return 0, errNotNumber
	}
	return v, nil
}

// word is about what is no number of JSON; some writers put NaN there.
func word(b []byte) (float64, error) {
	switch string(bytes.ToLower(bytes.TrimLeft(b, "+-"))) {
	case "nan", "inf", "infinity":
		return 0, errNotFinite
	}
	return 0, errNotNumber
}

// plain reads a decimal number without exponent whose digits and power of ten
// float64 holds exactly, so that one division rounds once (Clinger 1990).
func plain(b []byte) (float64, bool) {
	p := 0
	negative := b[0] == '-'
	if negative {
		p++
	}
	start := p
	var m uint64
	for ; p < len(b) && b[p]-'0' <= 9; p++ {
		m = m*10 + uint64(b[p]-'0')
	}
	digits := p - start
	if digits == 0 || digits > 1 && b[start] == '0' {
		return 0, false
	}
	scale := 1.0
	if p < len(b) && b[p] == '.' {
		p++
		dot := p
		for ; p < len(b) && b[p]-'0' <= 9; p++ {
			m = m*10 + uint64(b[p]-'0')
			scale *= 10
		}
		if p == dot {
			return 0, false
		}
		digits += p - dot
	}
	if p < len(b) || digits > 15 {
		return 0, false
	}
	v := float64(m) / scale
	if negative {
		v = -v
	}
	return v, true
}

// grammatical reports whether b is a number by the grammar of JSON, which is
// narrower than that of ParseFloat.
func grammatical(b []byte) bool {
	digits := func() int {
		n := 0
		for n < len(b) && b[n]-'0' <= 9 {
			n++
		}
		b = b[n:]
		return n
	}
	if len(b) > 0 && b[0] == '-' {
		b = b[1:]
	}
	zero := len(b) > 0 && b[0] == '0'
	if n := digits(); n == 0 || zero && n > 1 {
		return false
	}
	if len(b) > 0 && b[0] == '.' {
		b = b[1:]
		if digits() == 0 {
			return false
		}
	}
	if len(b) > 0 && b[0]|0x20 == 'e' {
		b = b[1:]
		if len(b) > 0 && (b[0] == '+' || b[0] == '-') {
			b = b[1:]
		}
		if digits() == 0 {
			return false
		}
	}
	return len(b) == 0
}
