package probe

import (
	"slices"
	"strings"
)

// id adds the columns of an id: of several, one tells ids apart, and the others are the same
// of all. Those of an episode that are of its person's id are there already.
func (l *log) id(k kind, canonical string) {
	columns := l.o.Joined[canonical]
	if columns == nil {
		l.add(k, canonical)
		return
	}
	for _, name := range columns {
		if slices.ContainsFunc(l.columns, func(c column) bool { return c.name == name }) {
			continue
		}
		l.columns = append(l.columns, column{name: name, kind: k, text: true})
		k = constant
	}
}

// dateLayout is the form of dates in package time.
func dateLayout(form string) string {
	switch form {
	case "iso":
		return "2006-01-02"
	case "iso_zone":
		return "2006-01-02T15:04:05Z07:00"
	}
	return strings.NewReplacer("%Y", "2006", "%m", "01", "%d", "02", "%H", "15", "%M", "04", "%S", "05", "%z", "Z07:00").Replace(form)
}
