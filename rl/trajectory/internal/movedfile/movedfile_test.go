package movedfile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

const name = source.MemoryScheme + "rows"

// made is a table of batches that a test gives.
type made struct {
	table.Table
	fields []table.Field
}

func (m made) Fields() []table.Field { return m.fields }

var (
	fields = []table.Field{{Name: "id"}, {Name: "x"}, {Name: "list", List: true}}
	picks  = []table.Pick{{Field: 0, Kind: table.Key}, {Field: 1, Block: 0, Offset: 1}, {Field: 2, Block: 1, List: 3}}
)

// drawn fills a batch with values of every kind: whole numbers, fractions, infinities, both zeros, NaN, missing ones, keys that repeat or are missing,
// and flaws.
func drawn(rng *rand.Rand, b *table.Batch, rows, from int) {
	values := []float64{0, math.Copysign(0, -1), 1, -7, 1 << 31, 0.1, math.Inf(1), math.NaN(), table.Null(), -math.MaxFloat64}
	whole := rng.IntN(2) == 0
	draw := func() float64 {
		if whole {
			return float64(rng.IntN(100) - 50)
		}
		return values[rng.IntN(len(values))]
	}
	b.Reset()
	for b.Rows = 0; b.Rows < rows; b.Rows++ {
		b.Row[b.Rows] = from + 2*b.Rows
		b.Blocks[0].Values[2*b.Rows+1] = draw()
		for i := range 3 {
			b.Blocks[1].Values[3*b.Rows+i] = draw()
		}
		switch rng.IntN(4) {
		case 0:
			b.Keys[0].Append(nil, 1)
		case 1:
			b.Keys[0].AppendNumber(int64(rng.IntN(2)), 1)
		default:
			b.Keys[0].Append(fmt.Append(nil, "person ", rng.IntN(2)), 1)
		}
		if rng.IntN(5) == 0 {
			b.Fail(&trajectory.InputError{File: "f", Row: b.Row[b.Rows], Column: "x", What: "is no number", Remedy: "mend it", Kind: trajectory.ErrValue})
		}
		if rng.IntN(9) == 0 {
			b.Lack("list")
		}
	}
}

// said is all that a batch holds of a row.
func said(b *table.Batch, row int) string {
	text := fmt.Sprintf("%d %q %x", b.Row[row], b.Keys[0].At(row), math.Float64bits(b.Blocks[0].Values[2*row+1]))
	for _, v := range b.Blocks[1].Values[3*row : 3*row+3] {
		text += fmt.Sprintf(" %x", math.Float64bits(v))
	}
	for _, f := range b.FaultsOf(row) {
		text += fmt.Sprintf(" %v %v %v", &f.Err, errors.Is(&f.Err, trajectory.ErrValue), f.Form)
	}
	return text + fmt.Sprint(b.Lacks(row, "list"))
}

// TestMovedRowsAreTheRows, to the bit, whatever they hold and however they were divided into pieces and batches.
func TestMovedRowsAreTheRows(t *testing.T) {
	for seed := range uint64(50) {
		rng := rand.New(rand.NewPCG(seed, 1))
		head, err := NewHead(made{fields: fields}, picks)
		if err != nil {
			t.Fatal(err)
		}
		rows, b := NewRows(head), table.NewBatch([]int{2, 3}, 1)
		var want []string
		var file []byte
		take := func() {
			piece, err := rows.Take()
			if err != nil {
				t.Fatal(err)
			}
			file = append(file, piece...)
		}
		for k := range 5 {
			drawn(rng, b, 40, 100*k)
			for from := 0; from < 40; {
				to := min(40, from+1+rng.IntN(9))
				if rng.IntN(3) > 0 {
					rows.Add(b, from, to)
					for row := from; row < to; row++ {
						want = append(want, said(b, row))
					}
				}
				if from = to; rows.Len() > 0 && rng.IntN(6) == 0 {
					take()
				}
			}
		}
		if rows.Len() > 0 {
			take()
		}
		x, err := Format().Open(source.With(t.Context(), source.Memory{name: file}), name)
		if err != nil {
			t.Fatal(err)
		}
		if w, err := x.Width(2); err != nil || w != 3 {
			t.Errorf("lists of %d, %v; want 3", w, err)
		}
		if err := x.Select(picks); err != nil {
			t.Fatal(err)
		}
		var got []string
		b.Cap = 1 + rng.IntN(20)
		for {
			b.Reset()
			if err := x.Read(b); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			for row := range b.Rows {
				got = append(got, said(b, row))
			}
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Fatalf("seed %d: moved\n%q\nwant\n%q", seed, got, want)
		}
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestColumnsThatAreNotWanted tell nothing, and those that were not moved are refused by name.
func TestColumnsThatAreNotWanted(t *testing.T) {
	head, err := NewHead(made{fields: fields}, picks[:2])
	if err != nil {
		t.Fatal(err)
	}
	rows, b := NewRows(head), table.NewBatch([]int{2, 3}, 1)
	drawn(rand.New(rand.NewPCG(1, 1)), b, 40, 1)
	if rows.Add(b, 0, 40); len(b.Faults) == 0 {
		t.Fatal("no fault was drawn")
	}
	file, err := rows.Take()
	if err != nil {
		t.Fatal(err)
	}
	x, err := Format().Open(source.With(t.Context(), source.Memory{name: file}), name)
	if err != nil {
		t.Fatal(err)
	}
	var input *trajectory.InputError
	if err := x.Select(picks[2:]); !errors.As(err, &input) || input.Column != "list" {
		t.Errorf("a column that was not moved: %v", err)
	}
	if err := x.Select(picks[:1]); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := x.Read(b); err != nil || b.Rows != 40 || len(b.Faults) != 0 {
		t.Errorf("%d rows with %d faults, %v; want 40 and none", b.Rows, len(b.Faults), err)
	}
}

// FuzzOpen: any bytes are rows or an error of the data.
func FuzzOpen(f *testing.F) {
	head, err := NewHead(made{fields: fields}, picks)
	if err != nil {
		f.Fatal(err)
	}
	rows, b := NewRows(head), table.NewBatch([]int{2, 3}, 1)
	drawn(rand.New(rand.NewPCG(1, 1)), b, 9, 1)
	rows.Add(b, 0, 9)
	file, err := rows.Take()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Add(bytes.Repeat(file, 2))
	f.Add(file[:len(file)/2])
	f.Fuzz(func(t *testing.T, file []byte) {
		x, err := Format().Open(source.With(context.Background(), source.Memory{name: file}), name)
		for err == nil {
			b.Reset()
			if err = x.Select(nil); err == nil {
				err = x.Read(b)
			}
		}
		if !errors.Is(err, trajectory.ErrInput) && err != io.EOF {
			t.Fatalf("%v is no error of the data", err)
		}
	})
}

// TestLaterRowsHaveTheirNumbers: those after a part of a file, of which there may be rows or none.
func TestLaterRowsHaveTheirNumbers(t *testing.T) {
	head, err := NewHead(made{fields: fields}, picks)
	if err != nil {
		t.Fatal(err)
	}
	rows, b := NewRows(head), table.NewBatch([]int{2, 3}, 1)
	piece := func() []byte {
		b.Reset()
		for b.Rows = range 2 {
			b.Row[b.Rows] = 1 + b.Rows
			b.Keys[0].Append([]byte("p"), 1)
		}
		b.Rows++
		rows.Add(b, 0, 2)
		out, err := rows.Take()
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for file, want := range map[string][]int{
		string(piece()) + string(Later(0)) + string(piece()):                                          {1, 2, 1, 2},
		string(Later(300)) + string(piece()) + string(Later(2)) + string(Later(1)) + string(piece()):  {301, 302, 304, 305},
		string(piece()) + string(piece()) + string(Later(2)) + string(piece()) + string(Later(1<<40)): {1, 2, 1, 2, 3, 4},
	} {
		x, err := Format().Open(source.With(t.Context(), source.Memory{name: []byte(file)}), name)
		if err != nil {
			t.Fatal(err)
		}
		if err := x.Select(picks); err != nil {
			t.Fatal(err)
		}
		var got []int
		for b.Reset(); ; b.Reset() {
			if err := x.Read(b); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			got = append(got, b.Row[:b.Rows]...)
		}
		if !slices.Equal(got, want) {
			t.Errorf("rows %v; want %v", got, want)
		}
	}
	if _, err := Format().Open(source.With(t.Context(), source.Memory{name: {0, 0x80}}), name); !errors.Is(err, trajectory.ErrFormat) {
		t.Errorf("a number that is cut: %v", err)
	}
}
