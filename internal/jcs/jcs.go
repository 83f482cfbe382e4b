package jcs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// ErrForm marks text that has no canonical form.
var ErrForm = errors.New("no canonical form")

// maxDepth bounds the nesting of arrays and objects, so that a hostile document
// cannot exhaust the stack.
const maxDepth = 256

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
	if err := w.value("", 0); err != nil {
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

func (w *writer) value(path string, depth int) error {
	if depth > maxDepth {
		return fmt.Errorf("%w: nested deeper than %d", ErrForm, maxDepth)
	}
	token, err := w.decoder.Token()
	if err != nil {
		return fmt.Errorf("%w: %s: %v", ErrForm, place(path), err)
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

func (w *writer) array(path string, depth int) error {
	w.out = append(w.out, '[')
	for i := 0; w.decoder.More(); i++ {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		if err := w.value(fmt.Sprintf("%s/%d", path, i), depth+1); err != nil {
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

func (w *writer) object(path string, depth int) error {
	members, err := w.members(path, depth)
	if err != nil {
		return err
	}
	slices.SortFunc(members, func(a, b member) int { return slices.Compare(a.units, b.units) })
	w.out = append(w.out, '{')
	written := 0
	for i, m := range members {
		if i > 0 && m.name == members[i-1].name {
			return fmt.Errorf("%w: %s: member %q is repeated", ErrForm, place(path), m.name)
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

func (w *writer) members(path string, depth int) ([]member, error) {
	var members []member
	outer := w.out
	defer func() { w.out = outer }()
	for w.decoder.More() {
		token, err := w.decoder.Token()
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %v", ErrForm, place(path), err)
		}
		name, ok := token.(string)
		if !ok {
			return nil, fmt.Errorf("%w: %s: a member without a name", ErrForm, place(path))
		}
		w.out = nil
		if err := w.value(path+"/"+name, depth+1); err != nil {
			return nil, err
		}
		members = append(members, member{name, utf16.Encode([]rune(name)), w.out})
	}
	return members, nil
}

// end reads the delimiter that closes an array or object and writes it.
func (w *writer) end(path string, delimiter byte) error {
	if _, err := w.decoder.Token(); err != nil {
		return fmt.Errorf("%w: %s: %v", ErrForm, place(path), err)
	}
	w.out = append(w.out, delimiter)
	return nil
}

func (w *writer) number(path string, n json.Number) error {
	x, err := n.Float64()
	if err != nil || math.IsInf(x, 0) {
		return fmt.Errorf("%w: %s: a number beyond float64", ErrForm, place(path))
	}
	start := len(w.out)
	w.out = appendNumber(w.out, x)
	// A reader with 64-bit integers would see a whole number that the signed form
	// does not hold.
	if whole, err := strconv.ParseInt(n.String(), 10, 64); err == nil && whole != 0 && string(w.out[start:]) != n.String() {
		return fmt.Errorf("%w: %s: a whole number beyond 2^53 that no float64 holds", ErrForm, place(path))
	}
	return nil
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

// escape reads \uXXXX at the start of text.
func escape(text []byte) (rune, bool) {
	if len(text) < 6 || text[0] != '\\' || text[1] != 'u' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:6]), 16, 16)
	return rune(n), err == nil
}

func place(path string) string {
	if path == "" {
		return "the document"
	}
	return path
}
