package csvfile

import (
	"bytes"
	"errors"
	"math"
	"math/bits"
	"strconv"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// floatPowers holds the powers of ten that a float64 holds exactly.
var floatPowers = [23]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// powers holds the powers of ten that a uint64 holds.
var powers = [20]uint64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19}

// scanNumber reads a plain decimal number that starts at b[p] and is followed by
// sep or the end of a line, and returns the place after it. The float64 is
// the nearest one, ties to even. Whatever is not plain it leaves to parseNumber
// and reports false. b must end in a newline.
func scanNumber(b []byte, p int, sep byte) (float64, int, bool) {
	negative := b[p] == '-'
	if negative {
		p++
	}
	var m uint64
	first := p
	for ; b[p] == '0'; p++ {
	}
	start := p
	for ; b[p]-'0' <= 9; p++ {
		m = m*10 + uint64(b[p]-'0')
	}
	digits, scale := p-start, 0
	hasDigits := p > first
	if b[p] == '.' {
		p++
		dot := p
		if m == 0 {
			for ; b[p] == '0'; p++ {
			}
		}
		start = p
		for ; b[p]-'0' <= 9; p++ {
			m = m*10 + uint64(b[p]-'0')
		}
		digits += p - start
		scale = p - dot
		hasDigits = hasDigits || scale > 0
	}
	if !hasDigits || digits > 19 {
		return 0, 0, false
	}
	if b[p]|0x20 == 'e' {
		var ok bool
		if scale, p, ok = scanExponent(b, p+1, scale); !ok {
			return 0, 0, false
		}
	}
	if c := b[p]; c != sep && c != '\n' && (c != '\r' || b[p+1] != '\n') {
		return 0, 0, false
	}
	v, ok := decimal(m, scale)
	if negative {
		v = -v
	}
	return v, p, ok
}

// scanFlag reads true or false at b[p], likewise.
func scanFlag(b []byte, p int, sep byte) (float64, int, bool) {
	word, v := "true", 1.0
	if b[p] == 'f' {
		word, v = "false", 0
	}
	end := p + len(word)
	if end >= len(b) || string(b[p:end]) != word {
		return 0, 0, false
	}
	if c := b[end]; c != sep && c != '\n' && (c != '\r' || b[end+1] != '\n') {
		return 0, 0, false
	}
	return v, end, true
}

// scanExponent reads an exponent of at most three digits and takes it off the
// scale.
func scanExponent(b []byte, p, scale int) (int, int, bool) {
	negative := b[p] == '-'
	if negative || b[p] == '+' {
		p++
	}
	e, start := 0, p
	for ; b[p]-'0' <= 9 && p-start < 4; p++ {
		e = e*10 + int(b[p]-'0')
	}
	if p == start || p-start > 3 {
		return 0, 0, false
	}
	if negative {
		e = -e
	}
	return scale - e, p, true
}

// decimal is m / 10^scale as the nearest float64. It reports false outside the
// range in which it is certain.
//
// If m and the power of ten are float64 values, one operation rounds once
// (Clinger 1990). Otherwise m and 10^scale, both normalised to 64 bits, are
// divided in integers: the quotient has at least 63 bits, and a remainder is
// marked in its last bit, which is below the place where a float64 rounds, so
// that the conversion rounds as the exact quotient would. What is left is a
// power of two, far from the subnormal numbers.
func decimal(m uint64, scale int) (float64, bool) {
	switch {
	case m <= 1<<53 && 0 <= scale && scale <= 22:
		return float64(m) / floatPowers[scale], true
	case m <= 1<<53 && -22 <= scale && scale < 0:
		return float64(m) * floatPowers[-scale], true
	case scale < 0 || scale > 19:
		return 0, false
	}
	up, down := bits.LeadingZeros64(m), bits.LeadingZeros64(powers[scale])
	m <<= up
	q, rest := bits.Div64(m>>1, m<<63, powers[scale]<<down)
	if rest != 0 {
		q |= 1
	}
	return float64(q) * math.Float64frombits(uint64(1023-63-up+down)<<52), true
}

var (
	errNotNumber = errors.New("not a number")
	errNotFinite = errors.New("not a finite number")
)

// parseNumber reads the text of a whole field: a decimal number, true or false,
// or nothing, which is a missing value.
func parseNumber(text []byte) (float64, error) {
	if len(text) == 0 {
		return table.Null(), nil
	}
	for _, c := range text {
		switch {
		case c-'0' <= 9, c == '.', c == '-', c == '+', c == 'e', c == 'E':
		default:
			return parseWord(text)
		}
	}
	v, err := strconv.ParseFloat(string(text), 64)
	if errors.Is(err, strconv.ErrRange) {
		if math.IsInf(v, 0) {
			return 0, errNotFinite
		}
		return v, nil
	}
	if err != nil {
		return parseWord(text)
	}
	return v, nil
}

// decimalComma reports whether a text would be a number if its one comma were a point.
func decimalComma(text []byte) bool {
	if bytes.Count(text, []byte{','}) != 1 {
		return false
	}
	_, err := parseNumber(bytes.Replace(text, []byte{','}, []byte{'.'}, 1))
	return err == nil
}

func parseWord(text []byte) (float64, error) {
	lower := make([]byte, 0, 10)
	for _, c := range text[:min(len(text), 10)] {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		lower = append(lower, c)
	}
	if len(lower) > 0 && (lower[0] == '+' || lower[0] == '-') && len(text) > 1 {
		lower = lower[1:]
	}
	switch string(lower) {
	case "nan", "inf", "infinity":
		return 0, errNotFinite
	}
	switch string(text) {
	case "true", "True", "TRUE":
		return 1, nil
	case "false", "False", "FALSE":
		return 0, nil
	}
	return 0, errNotNumber
}
