package jcs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrForm marks text that has no canonical form.
var ErrForm = errors.New("no canonical form")

// maxDepth bounds the nesting of arrays and objects, so that a hostile document
// cannot exhaust the stack.
const maxDepth = 256

// maxNumber bounds the characters of a number. The longest that a float64 needs,
// to its last binary digit, has fewer than 800.
const maxNumber = 1100

// Canonical returns the canonical form of a JSON document. Errors wrap
// [ErrForm] and name the member by its path.
func Canonical(text []byte) ([]byte, error) { return canonical(text, "") }

// Without returns the canonical form of a JSON object that lacks its member of
// the given name: what a signature that stands in the document itself is over.
func Without(text []byte, member string) ([]byte, error) { return canonical(text, member) }

func canonical(text []byte, without string) ([]byte, error) {
	if !utf8.Valid(text) {
		return nil, fmt.Errorf("%w: the text is not UTF-8", ErrForm)
	}
	if err := loneSurrogate(text); err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	w := writer{decoder: d, without: without}
	if err := w.value(nil, 0); err != nil {
		return nil, err
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, fmt.Errorf("%w: text after the document", ErrForm)
	}
	return w.out, nil
}

// writer copies the tokens of one document into canonical form.
type writer struct {
	decoder *json.Decoder
	without string
	out     []byte
}

func (w *writer) value(path *place, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: nested deeper than %d", ErrForm, maxDepth)
	}
	token, err := w.decoder.Token()
	if err != nil {
		return fmt.Errorf("%w: %s: %v", ErrForm, path, err)
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '{' {
			return w.object(path, depth)
		}
		return w.array(path, depth)
	case json.Number:
		return w.number(path, token)
	case string:
		w.out = appendString(w.out, token)
	case bool:
		w.out = strconv.AppendBool(w.out, token)
	case nil:
		w.out = append(w.out, "null"...)
	}
	return nil
}

func (w *writer) array(path *place, depth int) error {
	w.out = append(w.out, '[')
	for i := 0; w.decoder.More(); i++ {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.value(&place{above: path, index: i}, depth+1); err != nil {
			return err
		}
	}
	return w.end(path, ']')
}

// member is one member of an object, its value in canonical form.
type member struct {
	name  string
	units []uint16
	value []byte
}

func (w *writer) object(path *place, depth int) error {
	members, err := w.members(path, depth)
	if err != nil {
		return err
	}
	slices.SortFunc(members, func(a, b member) int { return slices.Compare(a.units, b.units) })
	w.out = append(w.out, '{')
	written := 0
	for i, m := range members {
		if i > 0 && m.name == members[i-1].name {
			return fmt.Errorf("%w: %s: member %q is repeated", ErrForm, path, m.name)
		}
		if depth == 0 && m.name == w.without && w.without != "" {
			continue
		}
		if written > 0 {
			w.out = append(w.out, ',')
		}
		w.out = append(appendString(w.out, m.name), ':')
		w.out = append(w.out, m.value...)
		written++
	}
	return w.end(path, '}')
}

func (w *writer) members(path *place, depth int) ([]member, error) {
	var members []member
	outer := w.out
	defer func() { w.out = outer }()
	for w.decoder.More() {
		token, err := w.decoder.Token()
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %v", ErrForm, path, err)
		}
		name, ok := token.(string)
		if !ok {
			return nil, fmt.Errorf("%w: %s: a member without a name", ErrForm, path)
		}
		w.out = nil
		if err := w.value(&place{above: path, name: name, index: -1}, depth+1); err != nil {
			return nil, err
		}
		members = append(members, member{name, utf16.Encode([]rune(name)), w.out})
	}
	return members, nil
}

// end reads the delimiter that closes an array or object and writes it.
func (w *writer) end(path *place, delimiter byte) error {
	if _, err := w.decoder.Token(); err != nil {
		return fmt.Errorf("%w: %s: %v", ErrForm, path, err)
	}
	w.out = append(w.out, delimiter)
	return nil
}

func (w *writer) number(path *place, n json.Number) error {
	text := n.String()
	if len(text) > maxNumber {
		return fmt.Errorf("%w: %s: a number of more than %d characters", ErrForm, path, maxNumber)
	}
	x, err := n.Float64()
	// What is nearer to 0 than any float64 is refused as what is beyond them: a
	// reader with exact numbers would see another, and may take for ever over it.
	if err != nil || math.IsInf(x, 0) || x == 0 && !isZero(text) {
		return fmt.Errorf("%w: %s: a number beyond float64", ErrForm, path)
	}
	start := len(w.out)
	w.out = appendNumber(w.out, x)
	if isWhole(text) && !sameNumber(text, string(w.out[start:])) {
		return fmt.Errorf("%w: %s: a whole number beyond 2^53 that no float64 holds", ErrForm, path)
	}
	return nil
}

// isZero reports whether all digits before the exponent are 0.
func isZero(number string) bool {
	digits, _, _ := strings.Cut(strings.ToLower(number), "e")
	return !strings.ContainsAny(digits, "123456789")
}

func isWhole(number string) bool { return !strings.ContainsAny(number, ".eE") }

// sameNumber compares a whole number with its canonical form, exactly: a reader
// with large integers must see what was signed.
func sameNumber(whole, canonical string) bool {
	if whole == canonical {
		return true
	}
	a, aOK := new(big.Rat).SetString(whole)
	b, bOK := new(big.Rat).SetString(canonical)
	return aOK && bOK && a.Cmp(b) == 0
}

// appendNumber prints the shortest digits that read back as x, in the layout of
// ECMAScript's Number::toString.
func appendNumber(out []byte, x float64) []byte {
	if x == 0 {
		return append(out, '0') // a negative zero too
	}
	if a := math.Abs(x); a >= 1e-6 && a < 1e21 {
		return strconv.AppendFloat(out, x, 'f', -1, 64)
	}
	text := strconv.AppendFloat(nil, x, 'e', -1, 64)
	// ECMAScript writes e-7 where Go writes e-07.
	if n := len(text); n > 3 && text[n-2] == '0' && (text[n-3] == '-' || text[n-3] == '+') {
		text[n-2] = text[n-1]
		text = text[:n-1]
	}
	return append(out, text...)
}

func appendString(out []byte, s string) []byte {
	const hex = "0123456789abcdef"
	short := map[rune]byte{'\b': 'b', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r', '"': '"', '\\': '\\'}
	out = append(out, '"')
	for _, r := range s {
		switch c, ok := short[r]; {
		case ok:
			out = append(out, '\\', c)
		case r < ' ':
			out = append(out, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			out = utf8.AppendRune(out, r)
		}
	}
	return append(out, '"')
}

// loneSurrogate refuses \ud800 to \udfff outside a pair: encoding/json would
// replace it silently, and two documents would become one.
func loneSurrogate(text []byte) error {
	for i := 0; i < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		first, ok := escape(text[i:])
		if !ok {
			i++ // a short escape
			continue
		}
		i += 5
		if !utf16.IsSurrogate(first) {
			continue
		}
		second, ok := escape(text[i+1:])
		if !ok || utf16.DecodeRune(first, second) == utf8.RuneError {
			return fmt.Errorf("%w: a string holds half of a surrogate pair", ErrForm)
		}
		i += 6
	}
	return nil
}

// escape reads an escape of four hexadecimal digits at the start of text.
func escape(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil
}

// place is where in the document a value is: a member, or an element by its index.
// It becomes text in an error alone: names may be long.
type place struct {
	above *place
	name  string
	index int // -1 for a member
}

// longestPlace is what of a place is told.
const longestPlace = 200

// String is the place as a JSON pointer.
func (p *place) String() string {
	if p == nil {
		return "the document"
	}
	text := ""
	for ; p != nil && len(text) < longestPlace; p = p.above {
		name := p.name[:min(len(p.name), longestPlace)]
		if p.index >= 0 {
			name = strconv.Itoa(p.index)
		}
		text = "/" + name + text
	}
	if p != nil {
		text = "..." + text
	}
	return strings.ToValidUTF8(text, "")
}
