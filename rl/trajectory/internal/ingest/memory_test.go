package ingest_test

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ingest"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// memory is a table written as text: the first line names the columns, with []
// after that of a list; an empty cell is a missing value, and a list is numbers
// with bars between them. Rows are numbered from 1 and come in batches of the
// given size.
type memory struct {
	fields []table.Field
	rows   [][]string
	batch  int
	picks  []table.Pick
	next   int
	open   *int // counts down when closed
}

func parse(text string, batch int) *memory {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	m := &memory{batch: batch}
	for _, name := range strings.Split(strings.TrimSpace(lines[0]), ",") {
		name, list := strings.CutSuffix(name, "[]")
		m.fields = append(m.fields, table.Field{Name: name, List: list})
	}
	for _, line := range lines[1:] {
		m.rows = append(m.rows, strings.Split(strings.TrimSpace(line), ","))
	}
	return m
}

func (m *memory) Fields() []table.Field { return m.fields }

func (m *memory) Width(field int) (int, error) {
	if len(m.rows) == 0 || m.rows[0][field] == "" {
		return 0, nil
	}
	return strings.Count(m.rows[0][field], "|") + 1, nil
}

func (m *memory) Select(picks []table.Pick) error { m.picks = picks; return nil }
func (m *memory) Progress() int64                 { return int64(m.next) }
func (m *memory) Close() error                    { *m.open--; return nil }

func (m *memory) Read(b *table.Batch) error {
	if m.next == len(m.rows) {
		return io.EOF
	}
	for b.Rows < min(m.batch, b.Cap) && m.next < len(m.rows) {
		row := m.rows[m.next]
		m.next++
		b.Row[b.Rows] = m.next
		for _, p := range m.picks {
			cell := row[p.Field]
			switch p.Kind {
			case table.Key:
				b.Keys[p.Block].Append([]byte(cell), 1)
			case table.Presence:
				b.Blocks[p.Block].Values[b.Rows] = table.Null()
				if cell != "" {
					b.Blocks[p.Block].Values[b.Rows] = 1
				}
			default:
				block := &b.Blocks[p.Block]
				for i, text := range strings.Split(cell, "|") {
					block.Values[b.Rows*block.Width+p.Offset+i] = number(text)
				}
			}
		}
		b.Rows++
	}
	return nil
}

func number(text string) float64 {
	switch text {
	case "":
		return table.Null()
	case "true":
		return 1
	case "false":
		return 0
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(err)
	}
	return v
}

// stream opens files named a, b, ... in batches of the given size. Every table
// must be closed by the end of the test.
func stream(t testing.TB, o trajectory.Options, batch int, files ...string) (*ingest.Stream, func()) {
	t.Helper()
	s, open, err := newStream(o, batch, files)
	if err != nil {
		t.Fatal(err)
	}
	return s, func() {
		t.Helper()
		if *open != 0 {
			t.Errorf("%d tables are left open", *open)
		}
	}
}

// newStream gives the stream and the number of tables that are open.
func newStream(o trajectory.Options, batch int, files []string) (*ingest.Stream, *int, error) {
	open := 0
	byName := map[string]string{}
	var names []string
	for i, text := range files {
		names = append(names, string(rune('a'+i)))
		byName[names[i]] = text
	}
	format := table.Format{Name: "memory", Open: func(_ context.Context, path string) (table.Table, error) {
		m := parse(byName[path], batch)
		m.open = &open
		open++
		return m, nil
	}}
	s, err := ingest.NewStream(context.Background(), format, names, o)
	return s, &open, err
}

func collect(o trajectory.Options, batch int, files []string) (*trajectory.Dataset, []string, error) {
	s, _, err := newStream(o, batch, files)
	if err != nil {
		return nil, nil, err
	}
	return ingest.Collect(s)
}

// outcome is all that reading tells, as text.
type outcome struct {
	data    *trajectory.Dataset
	notices []string
	unused  trajectory.Unused
	err     string
}

func read(t testing.TB, o trajectory.Options, batch int, files ...string) (outcome, error) {
	t.Helper()
	s, check := stream(t, o, batch, files...)
	d, notices, err := ingest.Collect(s)
	check()
	return outcome{d, notices, s.Unused(), fmt.Sprint(err)}, err
}

func mustRead(t testing.TB, o trajectory.Options, batch int, files ...string) outcome {
	t.Helper()
	out, err := read(t, o, batch, files...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
