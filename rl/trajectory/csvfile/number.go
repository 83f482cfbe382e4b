package csvfile

import (
	"errors"
	"math"
	"strconv"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// powers holds the powers of ten that a float64 holds exactly.
var powers = [23]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// scanNumber reads a plain decimal number that starts at b[p] and is followed by
// a comma or the end of a line, and returns the place after it. It is exact
// (Clinger 1990): a mantissa below 2^53 and a power of ten up to 10^22 are both
// float64 values, so that one multiplication or division rounds once. Whatever
// it is not sure of it leaves to parseNumber and reports false. b must end in a
// byte that is part of no number.
func scanNumber(b []byte, p int) (float64, int, bool) {
	negative := b[p] == '-'
	if negative {
		p++
	}
	var m uint64
	start := p
	for ; b[p]-'0' <= 9; p++ {
		m = m*10 + uint64(b[p]-'0')
	}
	digits, scale := p-start, 0
	if b[p] == '.' {
		p++
		start = p
		for ; b[p]-'0' <= 9; p++ {
			m = m*10 + uint64(b[p]-'0')
		}
		scale = p - start
		digits += scale
	}
	if digits == 0 || digits > 19 || m > 1<<53 || scale > 22 {
		return 0, 0, false
	}
	if c := b[p]; c != ',' && c != '\n' && (c != '\r' || b[p+1] != '\n') {
		return 0, 0, false
	}
	v := float64(m)
	if scale > 0 {
		v /= powers[scale]
	}
	if negative {
		v = -v
	}
	return v, p, true
}

var (
	errNotNumber = errors.New("not a number")
	errNotFinite = errors.New("not a finite number")
)

// parseNumber reads the text of a whole field: a decimal number, true or false,
// or nothing, which is a missing value.
func parseNumber(text []byte) (float64, error) {
	if len(text) == 0 {
		return trajectory.Null(), nil
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
