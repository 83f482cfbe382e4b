package ingest

import (
	"bytes"
	"math/big"
	"slices"
	"strconv"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// plainID is an id as one would write it plainly: in the compatibility form of Unicode
// (NFKC), with ASCII digits and hyphens in place of those of other scripts and widths, without
// joiners and selectors of variants, which are not seen, without spaces around it, and
// with one where there are several. What a spreadsheet puts around an id that it is to leave
// alone goes: quotes, an apostrophe or an equals sign before it. A number is decimal, without
// plus sign, leading zeros, a fraction of zeros, separators of thousands and, up to 40
// places, an exponent. To write a plain id plainly changes nothing.
func plainID(id []byte) []byte {
	switch {
	case isASCII(id):
	case !utf8.Valid(id): // Map would make all other bytes one
		id = norm.NFKC.Bytes(id)
	default:
		id = bytes.Map(usual, norm.NFKC.Bytes(bytes.Map(seen, id)))
	}
	if bytes.IndexFunc(id, unicode.IsSpace) >= 0 {
		id = bytes.Join(bytes.Fields(id), []byte(" "))
	}
	id = bare(id)
	if len(id) == 0 || bytes.IndexByte([]byte("+-.0123456789"), id[0]) < 0 {
		return id
	}
	if id[0] >= '1' && len(bytes.Trim(id, "0123456789")) == 0 { // mostly
		return id
	}
	if plain, ok := hexadecimal(id); ok {
		return plain
	}
	if plain, ok := plainNumber(ungrouped(id)); ok {
		return plain
	}
	return id
}

// seen leaves out what joins and is not seen.
func seen(r rune) rune {
	if joins(r) {
		return -1
	}
	return r
}

// usual is the ASCII character that a character of other scripts or widths stands for: a
// digit, a hyphen or a quote.
func usual(r rune) rune {
	switch {
	case unicode.Is(unicode.Nd, r):
		for _, t := range unicode.Nd.R16 { // decimal digits stand together, from 0 to 9
			if rune(t.Lo) <= r && r <= rune(t.Hi) {
				return '0' + (r-rune(t.Lo))%10
			}
		}
		for _, t := range unicode.Nd.R32 {
			if rune(t.Lo) <= r && r <= rune(t.Hi) {
				return '0' + (r-rune(t.Lo))%10
			}
		}
	case unicode.Is(unicode.Pd, r) || r == '\u2212' || r == '\u2043':
		return '-'
	case r == '\u2018' || r == '\u2019' || r == '\u201a' || r == '\u201b' || r == '\u2032':
		return '\''
	case r == '\u201c' || r == '\u201d' || r == '\u201e' || r == '\u201f' || r == '\u00ab' || r == '\u00bb':
		return '"'
	}
	return r
}

// bare is an id without quotes around it, and without an equals sign before it; an id of
// these alone stays as it is.
func bare(id []byte) []byte {
	for {
		out := bytes.TrimSpace(bytes.TrimRight(bytes.TrimLeft(id, "=\"'`"), "\"'`"))
		if len(out) == 0 || len(out) == len(id) {
			return id
		}
		id = out
	}
}

// hexadecimal writes a number such as 0x1f in decimal.
func hexadecimal(id []byte) ([]byte, bool) {
	if len(id) < 3 || id[0] != '0' || id[1]|0x20 != 'x' {
		return nil, false
	}
	n, ok := new(big.Int).SetString(string(id[2:]), 16)
	if !ok || n.Sign() < 0 || id[2] == '+' || id[2] == '-' || bytes.IndexByte(id, '_') >= 0 {
		return nil, false
	}
	return n.Append(nil, 10), true
}

// ungrouped is a number without what stands between groups of three digits, such as in
// 1,000, and with a point before a fraction of zeros, such as in 7,0.
func ungrouped(id []byte) []byte {
	for _, sep := range ", '" {
		parts := bytes.Split(id, []byte(string(sep)))
		if len(parts) < 2 || slices.ContainsFunc(parts[1:], func(p []byte) bool { return len(p) != 3 || len(bytes.Trim(p, "0123456789")) > 0 }) {
			continue
		}
		if first := bytes.TrimLeft(parts[0], "+-"); len(first) > 0 && len(first) <= 3 && len(bytes.Trim(first, "0123456789")) == 0 {
			return bytes.Join(parts, nil)
		}
	}
	if whole, fraction, ok := bytes.Cut(id, []byte(",")); ok && len(bytes.Trim(fraction, "0")) == 0 {
		return whole
	}
	return id
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
