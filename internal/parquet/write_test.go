package parquet_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	goparquet "github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/internal/parquet"
)

// written is a table to write: of each leaf, the rows, and of each row its values as text,
// numbers by their bits.
type written struct {
	leaves []parquet.Leaf
	cells  [][][]string
	marks  [][2]string
}

// file writes the table, told of in parts of some rows.
func (w *written) file(part int) ([]byte, error) {
	var file bytes.Buffer
	x := parquet.NewWriter(&file, "table", w.leaves)
	for _, mark := range w.marks {
		x.Mark(mark[0], mark[1])
	}
	for from, rows := 0, len(w.cells[0]); from < rows; from += part {
		to := min(from+part, rows)
		for i, leaf := range w.leaves {
			for _, cell := range w.cells[i][from:to] {
				put(x.Column(i), leaf, cell)
			}
		}
		if err := x.Advance(to - from); err != nil {
			return nil, err
		}
	}
	err := x.Close()
	return file.Bytes(), err
}

func put(to *parquet.Sink, leaf parquet.Leaf, cell []string) {
	var bits []float64
	if leaf.Type != parquet.Text {
		for _, text := range cell {
			var v uint64
			fmt.Sscan(text, &v)
			bits = append(bits, math.Float64frombits(v))
		}
	}
	switch {
	case leaf.List:
		to.Doubles(bits)
	case len(cell) == 0:
		to.Null()
	case leaf.Type == parquet.Text:
		to.Text(cell[0], 1)
	case leaf.Type == parquet.Integer:
		to.Integer(int64(math.Float64bits(bits[0])))
	case leaf.Type == parquet.Flag:
		to.Flag(bits[0] != 0)
	default:
		to.Double(bits[0])
	}
}

// byModule reads a file by the parquet module, an independent reader, as the cells that
// were written.
func byModule(file []byte) ([][][]string, error) {
	f, err := goparquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		return nil, err
	}
	cells := make([][][]string, len(f.Schema().Columns()))
	for _, g := range f.RowGroups() {
		rows := g.Rows()
		buf := make([]goparquet.Row, 100)
		for {
			n, err := rows.ReadRows(buf)
			for _, row := range buf[:n] {
				row.Range(func(column int, values []goparquet.Value) bool {
					var cell []string
					for _, v := range values {
						switch {
						case v.IsNull():
						case v.Kind() == goparquet.ByteArray:
							cell = append(cell, string(v.ByteArray()))
						case v.Kind() == goparquet.Double:
							cell = append(cell, fmt.Sprint(math.Float64bits(v.Double())))
						case v.Kind() == goparquet.Int64:
							cell = append(cell, fmt.Sprint(uint64(v.Int64())))
						default:
							cell = append(cell, fmt.Sprint(v.Uint64()))
						}
					}
					cells[column] = append(cells[column], cell)
					return true
				})
			}
			if err != nil {
				break
			}
		}
		rows.Close()
	}
	return cells, nil
}

// check reads a file by both readers and holds them against what was written.
func (w *written) check(t interface{ Fatalf(string, ...any) }, file []byte) {
	byThem, err := byModule(file)
	if err != nil {
		t.Fatalf("the parquet module: %v", err)
	}
	ours, err := readAll(file, 1000)
	if err != nil {
		t.Fatalf("%v (%v)", err, cause(err))
	}
	rows := len(w.cells[0])
	if ours.rows != rows {
		t.Fatalf("%d rows, want %d", ours.rows, rows)
	}
	for i, leaf := range w.leaves {
		name := strings.Join(leaf.Path, ".")
		if rows > 0 && !slices.EqualFunc(byThem[i], w.cells[i], slices.Equal) {
			t.Fatalf("column %s of %v: the parquet module reads other values", name, leaf)
		}
		for r, cell := range w.cells[i] {
			var got, want string
			switch {
			case leaf.Type == parquet.Text:
				got, want = ours.keys[name][r], strings.Join(cell, "")
			case leaf.List:
				n := len(ours.numbers[name]) / rows
				got, want = fmt.Sprint(ours.numbers[name][r*n:(r+1)*n]), fmt.Sprint(numbersOf(leaf, cell, n))
			default:
				got, want = fmt.Sprint(ours.numbers[name][r]), fmt.Sprint(numbersOf(leaf, cell, 1)[0])
				if ours.numbers[name][r] == 0 {
					got, want = fmt.Sprint(math.Signbit(ours.numbers[name][r])), fmt.Sprint(math.Signbit(numbersOf(leaf, cell, 1)[0]))
				}
			}
			if got != want {
				t.Fatalf("column %s of %v, row %d: got %s, want %s", name, leaf, r, got, want)
			}
		}
	}
}

// numbersOf are the n numbers that a reader delivers of a cell.
func numbersOf(leaf parquet.Leaf, cell []string, n int) []float64 {
	out := slices.Repeat([]float64{null}, n)
	for i, text := range cell {
		var v uint64
		fmt.Sscan(text, &v)
		switch leaf.Type {
		case parquet.Integer:
			out[i] = float64(int64(v))
		case parquet.Flag:
			out[i] = float64(v)
		default:
			out[i] = math.Float64frombits(v)
		}
	}
	return out
}

// Random tables come back as they were, by this package and by the parquet module: NaNs,
// both zeros, missing values alone and in runs, empty texts, lists, structs, no rows.
func TestTablesRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := written{marks: [][2]string{{"discreet_schema_version", "1"}}}
		rows := rapid.SampledFrom([]int{0, 1, 7, 8, 9, 17, 70}).Draw(t, "rows")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		for i := range rapid.IntRange(1, 5).Draw(t, "columns") {
			leaf := parquet.Leaf{Path: []string{fmt.Sprint("c", i)}, Type: parquet.Type(rapid.IntRange(0, 3).Draw(t, "type"))}
			if rapid.Bool().Draw(t, "within a struct") {
				leaf.Path = []string{"infos", "deep", leaf.Path[0]}
			}
			kind := rapid.IntRange(0, 3).Draw(t, "kind")
			leaf.List = kind == 0 && leaf.Type == parquet.Double
			leaf.Optional = kind == 1 || kind == 2
			w.leaves = append(w.leaves, leaf)
			w.cells = append(w.cells, cells(r, leaf, rows, 1+r.IntN(5), kind == 2))
		}
		// The columns of a struct are neighbours.
		order := make([]int, len(w.leaves))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return len(w.leaves[a].Path) - len(w.leaves[b].Path) })
		sorted := written{marks: w.marks}
		for _, i := range order {
			sorted.leaves, sorted.cells = append(sorted.leaves, w.leaves[i]), append(sorted.cells, w.cells[i])
		}
		file, err := sorted.file(rapid.IntRange(1, 20).Draw(t, "part"))
		if err != nil {
			t.Fatal(err)
		}
		sorted.check(t, file)
	})
}

// cells draws the rows of a column of about so many values.
func cells(r *rand.Rand, leaf parquet.Leaf, rows, values int, none bool) [][]string {
	length := r.IntN(4)
	out := make([][]string, rows)
	for i := range out {
		n := 1
		switch {
		case leaf.List:
			if n = length; r.IntN(5) == 0 {
				n = 0
			}
		case leaf.Optional && (none || r.IntN(3) == 0 || i/9%3 == 0):
			n = 0
		}
		for range n {
			v := r.IntN(values)
			switch leaf.Type {
			case parquet.Text:
				out[i] = append(out[i], strings.Repeat("é", v)+fmt.Sprint(v)[:min(v, 1)])
			case parquet.Integer:
				out[i] = append(out[i], fmt.Sprint(uint64(v)*0x9e3779b97f4a7c15))
			case parquet.Flag:
				out[i] = append(out[i], fmt.Sprint(v&1))
			default:
				special := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1)}
				if v < len(special) {
					out[i] = append(out[i], fmt.Sprint(math.Float64bits(special[v])))
				} else {
					out[i] = append(out[i], fmt.Sprint(math.Float64bits(float64(v)/3)))
				}
			}
		}
	}
	return out
}

// zeros counts what is written, and forgets it.
type zeros struct{ n int64 }

func (z *zeros) Write(b []byte) (int, error) {
	z.n += int64(len(b))
	return len(b), nil
}

// A column of other rows than were said is an error.
func TestRaggedColumnsAreRefused(t *testing.T) {
	w := parquet.NewWriter(new(zeros), "table", []parquet.Leaf{{Path: []string{"x"}}, {Path: []string{"y"}}})
	w.Column(0).Double(1)
	if err := w.Advance(1); err == nil {
		t.Error("no error")
	}
}
