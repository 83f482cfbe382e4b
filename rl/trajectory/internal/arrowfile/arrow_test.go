package arrowfile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/arrowfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

func Example() {
	t, err := arrowfile.Open(context.Background(), filepath.Join("testdata", "duckdb.arrows"))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer t.Close()
	for _, f := range t.Fields() {
		fmt.Print(f.Name, " ")
	}
	fmt.Println()
	// Output:
	// unit_id episode_id action behavior_prob reward terminated step
}

// read gives the values of one column: numbers, or texts of keys, in which nothing is missing.
func read(t *testing.T, in io.Reader, column string, as table.PickKind) ([]any, error) {
	t.Helper()
	x, err := arrowfile.New(in, "x")
	if err != nil {
		return nil, err
	}
	at := -1
	for i, f := range x.Fields() {
		if f.Name == column {
			at = i
		}
	}
	if at < 0 {
		t.Fatalf("no column %s", column)
	}
	if err := x.Select([]table.Pick{{Field: at, Kind: as}}); err != nil {
		return nil, err
	}
	b := table.NewBatch([]int{1}, 1)
	b.Cap = 2
	var out []any
	for {
		b.Reset()
		if err := x.Read(b); errors.Is(err, io.EOF) {
			return out, nil
		} else if err != nil {
			return out, err
		}
		for i := range b.Rows {
			switch v := b.Blocks[0].Values[i]; {
			case as == table.Key:
				out = append(out, string(b.Keys[0].At(i)))
			case table.IsNull(v):
				out = append(out, nil)
			default:
				out = append(out, v)
			}
		}
	}
}

func open(t *testing.T, name string) *os.File {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// What testdata/make.py has PyArrow write, is read: from a stream of two batches and from a file.
func TestEveryTypeIsReadOrRefused(t *testing.T) {
	nan := math.NaN()
	day := 86400e6
	for _, c := range []struct {
		column string
		as     table.PickKind
		want   []any
	}{
		{"i8", table.Number, []any{1., nil, -128., 127.}},
		{"i8", table.Key, []any{"1", "", "-128", "127"}},
		{"u8", table.Number, []any{1., 255., nil, 0.}},
		{"i16", table.Number, []any{-300., nil, 300., 0.}},
		{"u16", table.Number, []any{65535., nil, 300., 0.}},
		{"i32", table.Number, []any{float64(1 << 30), -1., nil, 0.}},
		{"u32", table.Number, []any{float64(1 << 31), 1., nil, 0.}},
		{"i64", table.Number, []any{float64(1 << 62), -5., nil, 0.}},
		{"i64", table.Key, []any{"4611686018427387904", "-5", "", "0"}},
		{"u64", table.Number, []any{float64(1 << 63), 5., nil, 0.}},
		{"u64", table.Key, []any{"9223372036854775813", "5", "", "0"}},
		{"f32", table.Number, []any{float64(float32(0.1)), nil, nan, math.Inf(1)}},
		{"f64", table.Number, []any{0.1, nil, nan, -1e300}},
		{"flag", table.Number, []any{1., nil, 0., 1.}},
		{"money", table.Number, []any{12.34, nil, -0.07, 0.1}},
		{"wide", table.Number, []any{12.34, nil, -0.07, 0.1}},
		{"text", table.Key, []any{"ann", "", "", "a text that is longer than twelve"}},
		{"large", table.Key, []any{"é", "", "", "b"}},
		{"view", table.Key, []any{"ann", "", "", "a text that is longer than twelve"}},
		{"word", table.Key, []any{"drug", "", "placebo", "drug"}},
		{"word8", table.Key, []any{"drug", "", "placebo", "drug"}},
		{"day", table.Time, []any{19782 * day, nil, -day, 0.}},
		{"day64", table.Time, []any{19782 * day, nil, -day, 0.}},
		{"s", table.Time, []any{1e6, nil, -1e6, 0.}},
		{"ms", table.Time, []any{1e3, nil, -1e3, 0.}},
		{"us", table.Time, []any{1., nil, -1., 0.}},
		{"ns", table.Time, []any{1., nil, -1., 0.}}, // rounded down
		{"nothing", table.Number, []any{nil, nil, nil, nil}},
		{"nothing", table.Key, []any{"", "", "", ""}},
		{"pair", table.Presence, []any{1., nil, 1., 1.}},
		{"code", table.Presence, []any{1., nil, 1., 1.}},
		{"last", table.Number, []any{1., 2., 3., 4.}},

		{"f64", table.Key, nil}, {"flag", table.Key, nil}, {"text", table.Number, nil}, {"word", table.Number, nil}, {"day", table.Number, nil}, {"day", table.Key, nil},
		{"list", table.Number, nil}, {"fixed", table.Number, nil}, {"pair", table.Number, nil}, {"map", table.Key, nil}, {"union", table.Presence, nil},
		{"dense", table.Number, nil}, {"runs", table.Number, nil}, {"bytes", table.Key, nil}, {"blob", table.Key, nil}, {"time", table.Time, nil},
		{"span", table.Number, nil}, {"half", table.Number, nil}, {"months", table.Number, nil}, {"code", table.Number, nil}, {"code", table.Key, nil}, {"text", table.Time, nil},
	} {
		for _, name := range []string{"all.arrows", "all.arrow"} {
			got, err := read(t, open(t, name), c.column, c.as)
			var input *trajectory.InputError
			switch {
			case c.want == nil:
				if !errors.As(err, &input) || input.Column != c.column || !strings.HasPrefix(input.What, "has the Arrow type ") {
					t.Errorf("%s as %d: %v, %v; want it refused by name", c.column, c.as, got, err)
				}
			case err != nil || !cmp.Equal(got, c.want, cmpopts.EquateNaNs()):
				t.Errorf("%s, %s as %d: %v, %v; want %v", name, c.column, c.as, got, err, c.want)
			}
		}
	}
	x, err := arrowfile.New(open(t, "all.arrows"), "x")
	if err != nil {
		t.Fatal(err)
	}
	var dated, zoned []string
	for _, f := range x.Fields() {
		if f.Dated {
			dated = append(dated, f.Name)
		}
		if f.Zoned {
			zoned = append(zoned, f.Name)
		}
	}
	if got := fmt.Sprint(dated, zoned); got != "[day day64 s ms us ns] [ms us]" {
		t.Error(got)
	}
}

// Dictionaries of a stream grow, or are replaced.
func TestDictionariesChange(t *testing.T) {
	for name, want := range map[string]string{"delta.arrows": "[a a a b a c]", "replaced.arrows": "[a a a b z y]"} {
		if got, err := read(t, open(t, name), "word", table.Key); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: %v, %v; want %s", name, got, err, want)
		}
	}
	if got, err := read(t, open(t, "polars.arrows"), "arm", table.Key); err != nil || fmt.Sprint(got) != "[a b a]" {
		t.Errorf("of Polars %v, %v", got, err)
	}
	if got, err := read(t, open(t, "polars.arrow"), "arm", table.Key); !errors.Is(err, trajectory.ErrColumn) || !strings.Contains(err.Error(), "write_ipc_stream") {
		t.Errorf("words after their rows: %v, %v", got, err)
	}
	for _, name := range []string{"polars.arrows", "polars.arrow"} {
		if got, err := read(t, open(t, name), "unit_id", table.Key); err != nil || fmt.Sprint(got) != "[p0 p1 a name longer than twelve bytes]" {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// Compressed buffers are refused, and so is a stream that ends anywhere before its end: not
// even at the boundary of a batch are rows lost in silence.
func TestAStreamThatIsCutIsRefused(t *testing.T) {
	for _, name := range []string{"lz4.arrows", "zstd.arrows"} {
		if _, err := read(t, open(t, name), "x", table.Number); !errors.Is(err, trajectory.ErrInput) || !strings.Contains(err.Error(), "compressed") {
			t.Errorf("%s: %v", name, err)
		}
	}
	polars, err := io.ReadAll(open(t, "polars.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(polars) {
		if _, err := read(t, bytes.NewReader(polars[:n]), "reward", table.Number); !errors.Is(err, trajectory.ErrInput) {
			t.Fatalf("of the first %d of %d bytes of a file: %v", n, len(polars), err)
		}
	}
	whole, err := io.ReadAll(open(t, "duckdb.arrows"))
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(whole) {
		if _, err := read(t, bytes.NewReader(whole[:n]), "reward", table.Number); !errors.Is(err, trajectory.ErrInput) {
			t.Fatalf("of the first %d of %d bytes: %v", n, len(whole), err)
		}
	}
}

// Of streams that were joined not even the second is lost in silence.
func TestJoinedStreamsAreRefused(t *testing.T) {
	for name, column := range map[string]string{"duckdb.arrows": "reward", "polars.arrow": "reward", "all.arrow": "last"} {
		one, err := io.ReadAll(open(t, name))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := read(t, bytes.NewReader(append(one, one...)), column, table.Number); !errors.Is(err, trajectory.ErrInput) || !strings.Contains(err.Error(), "joined") {
			t.Errorf("two of %s in one: %v", name, err)
		}
	}
}

// Whatever the bytes, reading ends, with rows or an error about the file, and no value is
// taken for a missing one that is none.
func FuzzArrow(f *testing.F) {
	for _, name := range []string{"all.arrows", "all.arrow", "delta.arrows", "duckdb.arrows", "polars.arrows", "polars.arrow", "lz4.arrows"} {
		b, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		x, err := arrowfile.New(bytes.NewReader(data), "x")
		if err != nil {
			if !errors.Is(err, trajectory.ErrInput) {
				t.Fatal(err)
			}
			return
		}
		var picks []table.Pick
		fields := x.Fields()
		for i := range min(len(fields), 64) {
			p := table.Pick{Field: i, Kind: table.PickKind(i % 4), Offset: len(picks)}
			if p.Kind == table.Key {
				p.Offset = 0
			}
			if x.Select([]table.Pick{p}) == nil {
				picks = append(picks, p)
			}
		}
		b := table.NewBatch([]int{64}, 1)
		for range 100 {
			b.Reset()
			err := x.Read(b)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				if !errors.Is(err, trajectory.ErrInput) {
					t.Fatal(err)
				}
				return
			}
			if b.Rows < 1 || b.Rows > b.Cap {
				t.Fatalf("%d rows", b.Rows)
			}
		}
	})
}
