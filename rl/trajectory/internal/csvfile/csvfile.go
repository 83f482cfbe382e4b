package csvfile

import (
	"cmp"
	"context"
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/textfile"
)

// Format reads and names CSV files whose fields are separated by commas.
func Format() table.Format { return Dialect{}.Format() }

// Open opens a file of commas and reads its header; see [Dialect.Open].
func Open(ctx context.Context, path string) (table.Table, error) { return Dialect{}.Open(ctx, path) }

// Dialect is what CSV files differ in. The zero value is RFC 4180.
type Dialect struct {
	// Separator stands between fields: a comma, which 0 means too, a semicolon, a
	// tab or a bar. It is never guessed.
	Separator byte
	// NA lists texts that stand for a missing value, beside the empty one. They are
	// compared byte by byte, in the columns that are read.
	NA []string
	// Multiline lets a field in quotes hold line ends. It is a statement about the
	// program that wrote the file: it puts every text in quotes that could hold a quote
	// or a line end, and doubles its quotes. Where that is not so, one person's text
	// can swallow the records of others. Without it a record is a line.
	Multiline bool
}

// Format reads and names files of the dialect.
func (d Dialect) Format() table.Format {
	return table.Format{Name: "csv", Extensions: []string{".csv", ".csv.gz"}, Open: d.Open, Write: Write}
}

// Open opens a file and reads its header. A file whose name ends in .gz is
// decompressed.
func (d Dialect) Open(ctx context.Context, path string) (table.Table, error) {
	in, err := textfile.Open(ctx, path, ".csv")
	if err != nil {
		return nil, err
	}
	t, err := d.table(in, path)
	if err != nil {
		in.Close()
		return nil, err
	}
	return t, nil
}

// New reads commas from r; name stands for the file in errors. The table does not
// close r.
func New(r io.Reader, name string) (table.Table, error) { return Dialect{}.New(r, name) }

// New reads the dialect from r; name stands for the file in errors. The table does
// not close r.
func (d Dialect) New(r io.Reader, name string) (table.Table, error) {
	t, err := d.table(textfile.From(r), name)
	if err != nil {
		return nil, err
	}
	return t, nil
}

// reader is an open CSV file.
type reader struct {
	name   string
	in     *textfile.Input
	scan   scanner
	fields []table.Field
	picks  []table.Pick
	keys   []key
	na     map[string]bool
	// numericNA tells that a marker may look like a number.
	numericNA bool
	failed    error
}

// The separators beside the comma.
const separators = ";\t|"

func (d Dialect) table(in *textfile.Input, name string) (*reader, error) {
	t := &reader{name: name, in: in, scan: newScanner(in, cmp.Or(d.Separator, ','), d.Multiline, 0, 1), na: map[string]bool{}}
	for _, marker := range d.NA {
		t.na[marker] = true
		_, err := parseNumber([]byte(marker))
		t.numericNA = t.numericNA || marker != "" && err == nil
	}
	if err := t.header(); err != nil {
		return nil, err
	}
	return t, nil
}

// isNA reports whether a text is a marker of a missing value.
func (t *reader) isNA(text []byte) bool { return len(t.na) > 0 && t.na[string(text)] }

// separatorName is a separator in words.
func separatorName(sep byte) string {
	switch sep {
	case ';':
		return "a semicolon"
	case '\t':
		return "a tab"
	case '|':
		return "a bar"
	}
	return "a comma"
}

// Fields implements [table.Table].
func (t *reader) Fields() []table.Field { return t.fields }

// Width implements [table.Table]; CSV has no lists.
func (t *reader) Width(int) (int, error) { return 1, nil }

// Select implements [table.Table].
func (t *reader) Select(picks []table.Pick) error {
	t.picks = append(t.picks, picks...)
	for _, p := range picks {
		if p.Kind == table.Key {
			t.keys = append(t.keys, key{block: p.Block})
		}
	}
	return nil
}

// Lines implements [table.Lined].
func (t *reader) Lines() int { return t.scan.line - 1 }

// Progress implements [table.Table].
func (t *reader) Progress() int64 { return t.in.Consumed() }

// Close implements [table.Table].
func (t *reader) Close() error { return t.in.Close() }

// Read implements [table.Table].
func (t *reader) Read(b *table.Batch) error {
	for t.failed == nil && b.Rows < b.Cap {
		t.failed = t.record(b)
	}
	if b.Rows > 0 {
		return nil
	}
	return t.failed
}
