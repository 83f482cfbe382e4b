package ingest

import (
	"strings"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/canon"
)

// index looks at the header as a whole.
func (x *binder) index() error {
	for i, f := range x.fields {
		if f.Name == "" {
			continue
		}
		if _, twice := x.byName[f.Name]; twice {
			return x.fail(f.Name, "two columns have this name", "rename or remove one")
		}
		x.byName[f.Name] = i
	}
	for _, canonical := range sortedKeys(x.o.Columns) {
		column := x.o.Columns[canonical]
		i, ok := x.byName[column]
		switch {
		case column == trajectory.NoColumn && ok:
			return x.fail(column, "the file has a column of this name, and the mapping of "+canonical+" to it would mean that there is none", "rename the column")
		case column == trajectory.NoColumn:
		case !ok:
			return x.unmapped(column, canonical)
		default:
			x.claimed[i] = true
		}
	}
	for _, canonical := range sortedKeys(x.o.Joined) {
		for _, column := range x.o.Joined[canonical] {
			i, ok := x.byName[column]
			if !ok {
				return x.unmapped(column, canonical)
			}
			// A part of one id may be the whole of the other.
			if means := canon.Means(column); means != canon.Unit && means != canon.Episode || means == canonical {
				x.claimed[i] = true
			}
		}
	}
	return nil
}

// unmapped refuses a name that no column of the file has.
func (x *binder) unmapped(column, canonical string) error {
	named := "the mapping names for " + canonical
	if canonical == canon.Reward {
		named = "data.columns.reward, data.outcome.column or data.outcome.time names"
	}
	return x.fail(column, "the file has no such column, which "+named, "correct the mapping"+x.nearest(column))
}

// mapped is the column that the mapping names, -1 where it says that there is none.
func (x *binder) mapped(canonical string) (int, bool) {
	column, ok := x.o.Columns[canonical]
	if i, there := x.byName[column]; there {
		return i, ok
	}
	return -1, ok
}

// named is the column of the file for a name that has no aliases, -1 if none.
func (x *binder) named(canonical string) int {
	if i, ok := x.mapped(canonical); ok {
		return i
	}
	if i, ok := x.byName[canonical]; ok {
		return i
	}
	return -1
}

// lookup finds the column for a canonical name: as mapped, else of that name,
// else of an alias. It returns -1 when there is none.
func (x *binder) lookup(canonical string) (int, error) {
	i, err := x.resolve(canonical)
	if i >= 0 && err == nil {
		x.b.source[canonical] = x.fields[i].Name
	}
	return i, err
}

func (x *binder) resolve(canonical string) (int, error) {
	if i, ok := x.mapped(canonical); ok {
		return i, nil
	}
	if i, ok := x.byName[canonical]; ok && !x.claimed[i] {
		return i, x.oneUnit(canonical)
	}
	found := -1
	for _, a := range canon.Aliases(canonical) {
		i, ok := x.byName[a]
		if !ok || x.claimed[i] {
			continue
		}
		if found >= 0 {
			return -1, x.fail(a, "this column and "+x.fields[found].Name+" are both names for "+canonical,
				"map "+canonical+" to one of them")
		}
		found = i
	}
	if found >= 0 {
		x.notice("column %s is read as %s", x.fields[found].Name, canonical)
		if x.fields[found].Name == "terminal" {
			x.notice("column terminal is read as terminated; logs of SCOPE-RL mean truncated by it: map truncated to terminal for those")
		}
	}
	return found, nil
}

// oneUnit refuses a file that names units twice, which may be two kinds of unit: the
// name must then be mapped.
func (x *binder) oneUnit(canonical string) error {
	if canonical != canon.Unit {
		return nil
	}
	for _, a := range canon.Aliases(canonical) {
		if i, ok := x.byName[a]; ok && !x.claimed[i] {
			return x.fail(a, "this column and "+canonical+" are both names for "+canonical, "map "+canonical+" to the one that is to be protected")
		}
	}
	return nil
}

func (x *binder) missing(canonical string) error {
	remedy := "add the column, or map " + canonical + " to the column that holds it"
	if x.o.Columns[canonical] == trajectory.NoColumn {
		return x.fail(canonical, "is needed, and mapped to "+trajectory.NoColumn, "map it to the column that holds it")
	}
	if a := canon.Aliases(canonical); len(a) > 0 {
		remedy += " (also known: " + strings.Join(a, ", ") + ")"
	}
	for _, f := range x.fields {
		if f.Rows {
			remedy += "; if the rows are in the list " + f.Name + " of a line, set data.rows: " + f.Name
		}
	}
	return x.fail(canonical, "the file has no such column", remedy)
}

// canUnit is the column that would name the person, empty if there is none.
func (x *binder) canUnit() string {
	for _, name := range append([]string{canon.Unit}, canon.Aliases(canon.Unit)...) {
		if i := x.named(name); i >= 0 {
			return x.fields[i].Name
		}
	}
	return ""
}

// taken is a column of the file that an alias would have found, had it not been
// mapped to another canonical name; empty if there is none.
func (x *binder) taken(canonical string) string {
	for _, a := range canon.Aliases(canonical) {
		if i, ok := x.byName[a]; ok && x.claimed[i] {
			return a
		}
	}
	return ""
}
