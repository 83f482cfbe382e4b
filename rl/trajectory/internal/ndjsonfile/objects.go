package ndjsonfile

import (
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Columns in objects are those that somebody names, by their keys with dots between them.

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

func (t *reader) ambiguous(name string) error {
	return t.fault(name, "is a key, and by its keys with dots between them also one in an object", "rename one of the two", trajectory.ErrColumn)
}

// objects is how many objects a field was met in, or could have been.
func (t *reader) objects(f field) int {
	name := f.name[:strings.LastIndexByte(f.name, '.')]
	return t.fields[t.levels[f.level].byName[name]].count
}
