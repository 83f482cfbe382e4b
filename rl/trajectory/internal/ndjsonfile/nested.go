package ndjsonfile

import (
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Of a line that holds a list of rows each element is a row, and what else the line holds
// belongs to all of them.

// nested is how far the line at hand was read.
type nested struct {
	line    []byte
	next    int // the place of the next element; 0 before a line
	element int // that at hand, from 1; 0 outside of one
}

// found adds a field.
func (t *reader) found(level int, name string) int {
	i := len(t.fields)
	t.levels[level].byName[name] = i
	t.fields = append(t.fields, field{name: name, level: level, above: t.above(level, name), rows: level == 0 && t.nesting.Rows == name})
	return i
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
