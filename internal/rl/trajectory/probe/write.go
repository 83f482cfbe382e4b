package probe

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/discreet-rl/discreet/internal/parquet"
)

// writers make a file of rows, by format.
var writers = map[string]func(*log, []row) ([]byte, error){"csv": asCSV, "ndjson": asNDJSON, "parquet": asParquet}

// plain is the text of a value without quotes, "" for none.
func plain(value string) string {
	var text string
	switch {
	case value == "null":
		return ""
	case json.Unmarshal([]byte(value), &text) == nil:
		return text
	}
	return value
}

func asCSV(l *log, rows []row) ([]byte, error) {
	separator := string(rune(l.o.Separator))
	if l.o.Separator == 0 {
		separator = ","
	}
	field := func(text string) string {
		if bare, ok := strings.CutPrefix(text, unquoted); ok {
			return bare
		}
		if strings.ContainsAny(text, separator+"\"\r\n") {
			return `"` + strings.ReplaceAll(text, `"`, `""`) + `"`
		}
		return text
	}
	var b bytes.Buffer
	line := func(cell func(column) string, how string) {
		var cells []string
		for _, c := range l.columns {
			cells = append(cells, field(cell(c)))
		}
		switch how {
		case "cut":
			cells = cells[:len(cells)-1]
		case "more":
			cells = append(cells, "1")
		}
		b.WriteString(strings.Join(cells, separator) + "\n")
	}
	line(func(c column) string { return c.name }, "")
	for _, r := range rows {
		line(func(c column) string { return plain(r[c.name]) }, r[broken])
	}
	return b.Bytes(), nil
}

func asNDJSON(l *log, rows []row) ([]byte, error) {
	var b bytes.Buffer
	person, listed := "", ""
	if l.o.Rows != "" {
		for _, c := range l.columns {
			if c.kind == unit {
				person = c.name
			}
		}
	}
	for i, r := range rows {
		var fields []string
		for _, name := range slices.Sorted(maps.Keys(r)) {
			if name != broken && name != person {
				fields = append(fields, strconv.Quote(name)+":"+r[name])
			}
		}
		text := "{" + strings.Join(fields, ",") + "}"
		switch r[broken] {
		case "cut":
			text = text[:len(text)/2]
		case "more":
			text = text[:len(text)-1] + "," + fields[0] + "}"
		}
		if l.o.Rows != "" {
			if listed += text; i+1 < len(rows) && rows[i+1][person] == r[person] {
				listed += ","
				continue
			}
			text, listed = inLists(l.o.Rows, listed, person, r), ""
		}
		b.WriteString(text + "\n")
	}
	return b.Bytes(), nil
}

// inLists is a line with a list of rows, and the id of whose they are.
func inLists(path, rows, person string, r row) string {
	keys := strings.Split(path, ".")
	line := "[" + rows + "]"
	for i := len(keys) - 1; i >= 0; i-- {
		id := ""
		if value, ok := r[person]; i == 0 && ok {
			id = strconv.Quote(person) + ":" + value + ","
		}
		line = "{" + id + strconv.Quote(keys[i]) + ":" + line + "}"
	}
	return line
}

// asParquet writes columns of doubles, of flags and of texts, all of which may be null;
// a value of another type is null.
func asParquet(l *log, rows []row) ([]byte, error) {
	columns := slices.Clone(l.columns)
	slices.SortFunc(columns, func(a, b column) int { return strings.Compare(a.name, b.name) })
	var leaves []parquet.Leaf
	for _, c := range columns {
		leaf := parquet.Leaf{Path: []string{c.name}, Optional: true}
		switch {
		case c.text:
			leaf.Type = parquet.Text
		case c.flag():
			leaf.Type = parquet.Flag
		}
		leaves = append(leaves, leaf)
	}
	var b bytes.Buffer
	w := parquet.NewWriter(&b, "log", leaves)
	for _, r := range rows {
		for i, c := range columns {
			c.put(w.Column(i), plain(r[c.name]))
		}
		if err := w.Advance(1); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// flag tells a column of true and false.
func (c column) flag() bool { return (c.kind == terminated || c.kind == truncated) && c.words == nil }

// put adds a value of the column's type, or none.
func (c column) put(to *parquet.Sink, text string) {
	if text != "" && c.text {
		to.Text(text, 1)
		return
	}
	if v, err := strconv.ParseBool(text); err == nil && c.flag() {
		to.Flag(v)
		return
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil && !c.flag() && !c.text {
		to.Double(v)
		return
	}
	to.Null()
}
