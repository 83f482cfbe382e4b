package ndjsonfile

import (
	"io"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Of a line that holds a list of rows each element is a row, and what else the line holds
// belongs to all of them. Columns in objects are those that somebody names.

// nested is how far the line at hand was read.
type nested struct {
	line    []byte
	next    int // the place of the next element; 0 before a line
	element int // that at hand, from 1; 0 outside of one
}

// maxPath bounds the names of columns in objects, in bytes.
const maxPath = 1 << 10

// within walks over the keys of an object at a place of its line, as far as somebody names them.
func (t *reader) within(level int, name string, b []byte, at int, visit func(field int, b []byte, p int) (int, error)) error {
	if b[0] != '{' {
		return nil // what lies in it is missing
	}
	if t.path = append(t.path[:0], name...); len(name) > maxPath {
		return nil
	}
	p := skipSpace(b, 1)
	if p < len(b) && b[p] == '}' {
		return nil
	}
	for {
		if p >= len(b) || b[p] != '"' {
			return errSyntax
		}
		end, escaped, err := skipString(b, p)
		if err != nil {
			return err
		}
		key, err := text(b[p:end], escaped)
		if err != nil {
			return err
		}
		t.path = append(append(append(t.path[:0], name...), '.'), key...)
		if p = skipSpace(b, end); p >= len(b) || b[p] != ':' {
			return errSyntax
		}
		p = skipSpace(b, p+1)
		if end, err = skipValue(b, p); err != nil {
			return err
		}
		if err := t.inner(level, b[p:end], at+p, visit); err != nil {
			return err
		}
		if p = skipSpace(b, end); p >= len(b) {
			return errSyntax
		}
		if b[p] == '}' {
			return nil
		}
		if b[p] != ',' {
			return errSyntax
		}
		p = skipSpace(b, p+1)
	}
}

// inner visits a value in an object, whose name is at hand, if it is wanted.
func (t *reader) inner(level int, value []byte, at int, visit func(field int, b []byte, p int) (int, error)) error {
	i, known := t.levels[level].byName[string(t.path)]
	if !known && t.sampled {
		return nil
	}
	if !known {
		name := string(t.path)
		above, wanted := t.above(level, name), t.nesting.All || slices.Contains(t.nesting.Inner, name) || level == 0 && name == t.nesting.Rows
		if !above && !wanted {
			return nil
		}
		i = t.found(level, name)
		t.fields[i].inner = true
	}
	f := &t.fields[i]
	switch {
	case !f.inner:
		return t.ambiguous(f.name)
	case f.seen == t.levels[level].stamp:
		return t.fault(f.name, "comes twice in a row", "write every key once", trajectory.ErrFormat)
	}
	f.seen = t.levels[level].stamp
	if _, err := visit(i, value, 0); err != nil {
		return err
	}
	t.fields[i].value = span{at, at + len(value)}
	if f := &t.fields[i]; f.above {
		return t.within(level, f.name, value, at, visit)
	}
	return nil
}

// above tells whether somebody names what lies in an object.
func (t *reader) above(level int, name string) bool {
	return t.nesting.All || level == 0 && table.Above(name, t.nesting.Rows) || slices.ContainsFunc(t.nesting.Inner, func(n string) bool { return table.Above(name, n) })
}

// found adds a field.
func (t *reader) found(level int, name string) int {
	i := len(t.fields)
	t.levels[level].byName[name] = i
	t.fields = append(t.fields, field{name: name, level: level, above: t.above(level, name), rows: level == 0 && t.nesting.Rows == name})
	return i
}

func (t *reader) ambiguous(name string) error {
	return t.fault(name, "is a key, and by its keys with dots between them also one in an object", "rename one of the two", trajectory.ErrColumn)
}

// twice is about a name that lines and their elements have.
func (t *reader) twice(name string) error {
	return &trajectory.InputError{File: t.name, Column: name, What: "is a key of lines, and of the rows in their lists", Remedy: "rename one of the two", Kind: trajectory.ErrColumn}
}

// list numbers the columns, once they are found: a name that lines and elements have is one.
func (t *reader) list() error {
	rows := false
	t.listed = make([]int, 0, len(t.fields))
	for i, f := range t.fields {
		first, twice := 0, false
		if f.level > 0 {
			first, twice = t.levels[0].byName[f.name]
			twice = twice && !t.fields[first].rows
		}
		switch {
		case f.rows:
			rows = true
		case f.above && (!t.nesting.All || f.objects && !f.list): // what is wanted lies in it
		case f.inner && t.nesting.All && 2*f.count < t.objects(f):
		case twice:
			t.fields[first].both = true
		default:
			t.listed = append(t.listed, i)
		}
	}
	if t.nesting.Rows != "" && !rows {
		return &trajectory.InputError{File: t.name, Column: t.nesting.Rows, What: "none of the first lines has this key of a list of rows", Remedy: "correct data.rows", Kind: trajectory.ErrColumn}
	}
	return nil
}

// objects is how many objects a field was met in, or could have been.
func (t *reader) objects(f field) int {
	name := f.name[:strings.LastIndexByte(f.name, '.')]
	return t.fields[t.levels[f.level].byName[name]].count
}

// rowsOf is the list of rows of the line that was walked over, nil if there is none.
func (t *reader) rowsOf(line []byte) []byte {
	i, ok := t.levels[0].byName[t.nesting.Rows]
	if !ok || t.fields[i].seen != t.levels[0].stamp {
		return nil
	}
	value := t.fields[i].value
	return line[value.from:value.to]
}

// discoverElements finds the columns of the rows in a line, and counts these.
func (t *reader) discoverElements(line []byte) (int, error) {
	if t.nesting.Rows == "" {
		return 0, nil
	}
	list := t.rowsOf(line)
	if len(list) == 0 || list[0] != '[' {
		return 0, nil
	}
	defer func() { t.nested.element = 0 }()
	for p := 1; ; {
		value, next, err := element(list, p)
		if value == nil {
			return t.nested.element, err
		}
		t.nested.element++
		if value[0] == '{' {
			if err := t.object(1, value, t.discover); err != nil {
				return 0, err
			}
		}
		p = next
	}
}

// element is the one of a list that starts at a place, and the place after it; nil after the last.
func element(list []byte, p int) (value []byte, next int, err error) {
	if p = skipSpace(list, p); list[p] == ']' {
		return nil, p, nil
	}
	end, err := skipValue(list, p)
	if err != nil {
		return nil, p, err
	}
	next = skipSpace(list, end)
	switch list[next] {
	case ',':
		if next = skipSpace(list, next+1); list[next] == ']' {
			return nil, p, errSyntax
		}
	case ']':
	default:
		return nil, p, errSyntax
	}
	return list[p:end], next, nil
}

// nextElement reads one row into the batch, or returns io.EOF.
func (t *reader) nextElement(b *table.Batch) error {
	fresh := t.nested.next == 0
	if fresh {
		t.nested.element = 0
		line, err := t.lines.next()
		if err == io.EOF {
			return err
		}
		if err != nil {
			return t.broken(err)
		}
		if err := t.object(0, line, t.placed); err != nil {
			return t.broken(err)
		}
		t.nested = nested{line: line}
	}
	list := t.rowsOf(t.nested.line)
	if fresh && (len(list) == 0 || list[0] != '[' || list[skipSpace(list, 1)] == ']') {
		what := "has no row"
		if len(list) > 0 && list[0] != '[' {
			what = "is no list of rows"
		}
		return t.give(b, nil, t.nesting.Rows+" "+what, "write the rows of this line, or leave the line out")
	}
	value, next, err := element(list, max(t.nested.next, 1))
	if err != nil {
		return t.broken(err)
	}
	t.nested.element++
	if t.nested.element > table.MostElements || t.lines.number > table.MostRecords {
		return t.broken(t.fault(t.nesting.Rows, "has more rows than can be read", "divide the line, or the file", trajectory.ErrFormat))
	}
	if value[0] != '{' {
		value = nil
	}
	if err := t.give(b, value, "this element of "+t.nesting.Rows+" is no object", "write a JSON object a row"); err != nil {
		return err
	}
	if t.nested.next = next; list[next] == ']' {
		t.nested.next = 0
	}
	return nil
}

// placed notes where the value of a key is.
func (t *reader) placed(i int, b []byte, p int) (int, error) {
	end, err := skipValue(b, p)
	t.fields[i].value = span{p, end}
	return end, err
}

// give adds a row: what its line holds, and what its element does. Where there is none all of
// that is missing, and faults say why.
func (t *reader) give(b *table.Batch, value []byte, why, remedy string) error {
	for i := range t.keys {
		t.keys[i].text = nil
	}
	faults := len(b.Faults)
	for i := range t.fields {
		f := &t.fields[i]
		if f.level > 0 || f.seen != t.levels[0].stamp || len(f.picks) == 0 && (!f.above || t.nesting.All) {
			continue
		}
		if _, err := t.value(b, i, t.nested.line, f.value.from); err != nil {
			b.Faults = b.Faults[:faults]
			return t.broken(err)
		}
	}
	t.absent(b, 0)
	if value == nil {
		t.nulled(b, why, remedy)
	} else {
		if err := t.object(1, value, func(i int, element []byte, p int) (int, error) { return t.value(b, i, element, p) }); err != nil {
			b.Faults = b.Faults[:faults]
			return t.broken(err)
		}
		t.absent(b, 1)
	}
	for i := range t.keys {
		b.Keys[t.keys[i].block].Append(t.keys[i].text, 1)
	}
	b.Row[b.Rows] = table.Numbered(t.lines.number, t.nested.element)
	b.Rows++
	return nil
}

// nulled makes null of what an element would hold.
func (t *reader) nulled(b *table.Batch, why, remedy string) {
	told := false
	for i := range t.fields {
		f := &t.fields[i]
		for k := range f.picks {
			p := &f.picks[k]
			if f.level == 0 || p.Kind == table.Key && !p.Word { // of an id that is missing it is told elsewhere
				continue
			}
			if told = true; !b.Faulty(b.Rows, f.name) {
				b.Fail(t.fault(f.name, "is missing: "+why, remedy, trajectory.ErrValue))
			}
			if p.Kind != table.Key {
				nulls(place(b, p))
			}
		}
	}
	if !told {
		b.Fail(t.fault(t.nesting.Rows, why, remedy, trajectory.ErrValue))
	}
}
