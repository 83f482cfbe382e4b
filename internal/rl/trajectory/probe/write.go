package probe

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
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

func asNDJSON(_ *log, rows []row) ([]byte, error) {
	var b bytes.Buffer
	for _, r := range rows {
		var fields []string
		for _, name := range slices.Sorted(maps.Keys(r)) {
			if name != broken {
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
		b.WriteString(text + "\n")
	}
	return b.Bytes(), nil
}

// asParquet writes columns of doubles, of flags and of texts, all of which may be null;
// a value of another type is null.
func asParquet(l *log, rows []row) ([]byte, error) {
	group := parquet.Group{}
	kinds := map[string]column{}
	for _, c := range l.columns {
		leaf := parquet.Leaf(parquet.DoubleType)
		switch {
		case c.text:
			leaf = parquet.String()
		case c.flag():
			leaf = parquet.Leaf(parquet.BooleanType)
		}
		group[c.name], kinds[c.name] = parquet.Optional(leaf), c
	}
	var b bytes.Buffer
	w := parquet.NewGenericWriter[any](&b, parquet.NewSchema("log", group))
	names := slices.Sorted(maps.Keys(group))
	for _, r := range rows {
		var cells parquet.Row
		for i, name := range names {
			v, level := parquetValue(kinds[name], r[name])
			cells = append(cells, v.Level(0, level, i))
		}
		if _, err := w.WriteRows([]parquet.Row{cells}); err != nil {
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

// parquetValue is a value of a column's type, and 1; or none, and 0.
func parquetValue(c column, value string) (parquet.Value, int) {
	text := plain(value)
	if text == "" {
		return parquet.NullValue(), 0
	}
	if c.text {
		return parquet.ByteArrayValue([]byte(text)), 1
	}
	if c.flag() {
		if v, err := strconv.ParseBool(text); err == nil {
			return parquet.BooleanValue(v), 1
		}
		return parquet.NullValue(), 0
	}
	if v, err := strconv.ParseFloat(text, 64); err == nil {
		return parquet.DoubleValue(v), 1
	}
	return parquet.NullValue(), 0
}
