package ndjsonfile

import (
	"bytes"
	"errors"
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// sample finds the columns in the first rows, which stay to be read.
func (t *reader) sample() error {
	at, from := 0, 0
	for row := 0; row < sampleRows && at-from < sampleBytes; {
		line, err := t.lines.line(&at)
		if err == io.EOF {
			break
		}
		if err != nil {
			return t.broken(err)
		}
		t.lines.number++
		if line = t.lines.bare(line); len(line) == 0 {
			continue
		}
		if row == 0 && line[0] != '{' {
			return t.notObjects(line)
		}
		row++
		if err := t.object(0, line, t.discover); err != nil {
			return t.broken(err)
		}
		elements, err := t.discoverElements(line)
		if err != nil {
			return t.broken(err)
		}
		row += max(elements, 1) - 1
	}
	if len(t.fields) == 0 {
		return &trajectory.InputError{File: t.name, What: "the file is empty", Remedy: "write one JSON object a decision, each on its own line", Kind: trajectory.ErrEmpty}
	}
	t.lines.number, t.nested.element = 0, 0
	return nil
}

// notObjects recognises what else a file may begin with.
func (t *reader) notObjects(line []byte) error {
	what, remedy := "the first line is not a JSON object", "write one JSON object a decision, each on its own line"
	switch {
	case line[0] == '[':
		what = "is a JSON array"
	case line[0] == 0x1f, line[0] == 0xff, line[0] == 0xfe:
		what, remedy = "is compressed, or not UTF-8", "name a gzip file .ndjson.gz; write text as UTF-8"
	}
	return &trajectory.InputError{File: t.name, Row: t.lines.number, What: what, Remedy: remedy, Kind: trajectory.ErrFormat}
}

// object walks over the keys of a line and hands each value's place to visit,
// which returns the place after it.
func (t *reader) object(level int, b []byte, visit func(field int, b []byte, p int) (int, error)) error {
	if b[0] != '{' {
		return errSyntax
	}
	t.row++
	t.levels[level].stamp = t.row
	p := skipSpace(b, 1)
	if p < len(b) && b[p] == '}' {
		return t.end(b, p+1)
	}
	for guess := 0; ; guess++ {
		if p >= len(b) || b[p] != '"' {
			return errSyntax
		}
		end, escaped, err := skipString(b, p)
		if err != nil {
			return err
		}
		i, err := t.find(level, b[p:end], escaped, guess)
		if err != nil {
			return err
		}
		if p = skipSpace(b, end); p >= len(b) || b[p] != ':' {
			return errSyntax
		}
		if p = skipSpace(b, p+1); p >= len(b) {
			return errSyntax
		}
		from := p
		if p, err = visit(i, b, p); err != nil {
			return err
		}
		if t.fields[i].above {
			if err := t.within(level, t.fields[i].name, b[from:p], from, visit); err != nil {
				return err
			}
		}
		if p = skipSpace(b, p); p >= len(b) {
			return errSyntax
		}
		if b[p] == '}' {
			return t.end(b, p+1)
		}
		if b[p] != ',' {
			return errSyntax
		}
		p = skipSpace(b, p+1)
	}
}

func (t *reader) end(b []byte, p int) error {
	if skipSpace(b, p) != len(b) {
		return errSyntax
	}
	return nil
}

// find gives the number of the field that a key names. Keys mostly come in the
// same order, which is where it looks first.
func (t *reader) find(level int, quoted []byte, escaped bool, guess int) (int, error) {
	name, err := text(quoted, escaped)
	if err != nil {
		return 0, err
	}
	i, l := -1, &t.levels[level]
	if guess < len(l.order) && string(name) == t.fields[l.order[guess]].name {
		i = l.order[guess]
	} else if n, ok := l.byName[string(name)]; ok {
		i = n
	}
	if i < 0 {
		if t.sampled {
			return 0, t.fault("", "has a key that none of the first rows has", "write every key in the first row, null where it has no value", trajectory.ErrColumn)
		}
		i = t.found(level, string(name))
		l.order = append(l.order, i)
	}
	if t.fields[i].inner {
		return 0, t.ambiguous(t.fields[i].name)
	}
	if t.fields[i].seen == t.row {
		return 0, t.fault(t.fields[i].name, "comes twice in a row", "write every key once", trajectory.ErrFormat)
	}
	t.fields[i].seen = t.row
	return i, nil
}

// discover learns the type of a field from a value of the first rows.
func (t *reader) discover(i int, b []byte, p int) (int, error) {
	end, err := skipValue(b, p)
	if err != nil {
		return 0, err
	}
	f, value := &t.fields[i], b[p:end]
	f.value = span{p, end}
	f.count++
	if string(value) == "null" {
		return end, nil
	}
	if !f.typed {
		f.typed, f.list = true, value[0] == '['
		f.objects = value[0] == '{' || f.list && value[skipSpace(value, 1)] == '{'
	}
	if f.list && f.width == 0 && value[0] == '[' {
		f.width, err = elements(value, nil)
		if err != nil && err != errSyntax {
			err = nil // a list of something else is an error where it is wanted
		}
	}
	return end, err
}

// next reads one row into the batch, or returns io.EOF.
func (t *reader) next(b *table.Batch) error {
	line, err := t.lines.next()
	if err == io.EOF {
		return err
	}
	if err != nil {
		return t.broken(err)
	}
	for i := range t.keys {
		t.keys[i].text = nil
	}
	faults := len(b.Faults)
	if err := t.object(0, line, func(i int, line []byte, p int) (int, error) { return t.value(b, i, line, p) }); err != nil {
		b.Faults = b.Faults[:faults]
		return t.broken(err)
	}
	t.absent(b, 0)
	for i := range t.keys {
		b.Keys[t.keys[i].block].Append(t.keys[i].text, 1)
	}
	b.Row[b.Rows] = t.lines.number
	b.Rows++
	return nil
}

// absent makes null of what the row does not have. That is a fault where the
// column was found rather than asked for: whether the data have a column is not
// for other rows to say.
func (t *reader) absent(b *table.Batch, level int) {
	for i := range t.fields {
		f := &t.fields[i]
		if f.level != level || f.seen == t.levels[level].stamp {
			continue
		}
		for _, p := range f.picks {
			if p.Found {
				b.FailForm(t.fault(f.name, "the row lacks this key, which other rows have", "name the observation columns that are wanted, or write this one in every row, null where it has no value", trajectory.ErrColumn))
			}
			if p.Part {
				b.Lack(f.name)
			}
			if p.Kind != table.Key {
				nulls(place(b, &p))
			}
		}
	}
}

func nulls(dst []float64) {
	for i := range dst {
		dst[i] = table.Null()
	}
}

// place is where a number or a list of the next row belongs.
func place(b *table.Batch, p *pick) []float64 {
	block := &b.Blocks[p.Block]
	at := b.Rows*block.Width + p.Offset
	if p.Kind == table.Presence {
		return block.Values[at : at+1]
	}
	return block.Values[at : at+max(p.List, 1)]
}

// value delivers the value at p to whoever picked the field.
func (t *reader) value(b *table.Batch, i int, line []byte, p int) (int, error) {
	f := &t.fields[i]
	end, err := skipValue(line, p)
	if err != nil {
		return 0, err
	}
	value := line[p:end]
	if f.above && !t.nesting.All && value[0] != '{' && string(value) != "null" {
		b.Fail(t.fault(f.name, "is no object, and a column that lies in it is asked for", "write an object, or null", trajectory.ErrValue))
	}
	for k := range f.picks {
		if err := t.deliver(b, &f.picks[k], value); err != nil {
			fault := t.wrong(f.name, &f.picks[k], err)
			if fault == nil {
				return 0, err
			}
			// What is no id, lists where others have numbers, and lists of another length are a
			// matter of form: which of two rows is right is not to be told from one.
			number := (f.picks[k].List > 0 || value[0] != '[') && errors.Is(err, errNotNumber)
			if number || errors.Is(err, errNotFinite) || errors.Is(err, errLongKey) || f.picks[k].Word {
				b.Fail(fault)
			} else {
				b.FailForm(fault)
			}
			if f.picks[k].Word {
				t.keys[f.picks[k].key].text = nil
			}
			if f.picks[k].Kind == table.Number {
				nulls(place(b, &f.picks[k]))
			}
		}
	}
	return end, nil
}

func (t *reader) deliver(b *table.Batch, p *pick, value []byte) error {
	null := string(value) == "null"
	switch {
	case p.Kind == table.Key:
		if null {
			return nil
		}
		key, err := keyText(value)
		t.keys[p.key].text = key[:min(len(key), table.MaxKey)]
		if len(key) > table.MaxKey {
			return errLongKey
		}
		return err
	case p.Kind == table.Presence:
		place(b, p)[0] = 1
		if null {
			nulls(place(b, p))
		}
	case null:
		nulls(place(b, p))
	case p.List > 0:
		n, err := elements(value, place(b, p))
		if err == nil && n != p.List {
			err = errLength
		}
		return err
	default:
		v, err := number(value)
		if err == errSyntax {
			err = errNotNumber
		}
		place(b, p)[0] = v
		return err
	}
	return nil
}

// keyText is the id that a value stands for.
func keyText(value []byte) ([]byte, error) {
	switch c := value[0]; {
	case c == '"':
		return text(value, bytes.IndexByte(value, '\\') >= 0)
	case c == '-' || c-'0' <= 9:
		if !grammatical(value) {
			return nil, errNotKey
		}
		return value, nil
	}
	return nil, errNotKey
}

// elements reads an array of numbers into dst, as far as it goes, and counts
// them.
func elements(b []byte, dst []float64) (int, error) {
	if b[0] != '[' {
		return 0, errNotList
	}
	p := skipSpace(b, 1)
	if b[p] == ']' {
		return 0, nil
	}
	for n := 0; ; {
		end := scalar(b, p)
		if end == 0 {
			return n, errNotNumber
		}
		v, err := number(b[p:end])
		if err != nil {
			return n, err
		}
		if n < len(dst) {
			dst[n] = v
		}
		n++
		switch p = skipSpace(b, end); {
		case b[p] == ']':
			return n, nil
		case b[p] != ',':
			return n, errSyntax
		}
		p = skipSpace(b, p+1)
	}
}

// wrong says what is wrong with a value, nil where it is no JSON.
func (t *reader) wrong(column string, p *pick, err error) *trajectory.InputError {
	switch {
	case errors.Is(err, errNotFinite):
		return t.fault(column, "is NaN or infinite", "write missing values as empty (null), and numbers as finite ones", trajectory.ErrValue)
	case errors.Is(err, errNotNumber):
		return t.fault(column, "is not a number", p.Advise("write a number, true, false or null"), trajectory.ErrValue)
	case errors.Is(err, errNotKey):
		remedy := "write an id as a string or an integer"
		if p.Word {
			remedy = p.Advise("write a string or an integer")
		}
		return t.fault(column, "is neither text nor a number", remedy, trajectory.ErrValue)
	case errors.Is(err, errLongKey):
		return t.fault(column, "is longer than 4096 bytes", "write shorter ids", trajectory.ErrValue)
	case errors.Is(err, errNotList):
		return t.fault(column, "is not a list", "write a list in every row, or null", trajectory.ErrValue)
	case errors.Is(err, errLength):
		return t.fault(column, "the list is not as long as the first one", "give every row a list of the same length", trajectory.ErrValue)
	}
	return nil
}

func (t *reader) fault(column, what, remedy string, kind error) *trajectory.InputError {
	return &trajectory.InputError{File: t.name, Row: t.lines.number, Element: t.nested.element, Column: column, What: what, Remedy: remedy, Kind: kind}
}

// broken turns an error of the scanner into one for the curator.
func (t *reader) broken(err error) error {
	var input *trajectory.InputError
	switch {
	case errors.As(err, &input):
		return err
	case errors.Is(err, errSyntax):
		return t.fault("", "the line is not a JSON object", "the file may be cut short; write one object a line", trajectory.ErrFormat)
	case errors.Is(err, errTooLong):
		return t.fault("", "the line is longer than 256 MB", "write one object a line", trajectory.ErrFormat)
	}
	return &trajectory.InputError{File: t.name, Row: t.lines.number, What: "cannot be read on from here", Remedy: "the file may be cut short or damaged",
		Kind: trajectory.ErrFormat, Cause: err}
}
