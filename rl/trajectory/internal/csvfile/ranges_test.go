package csvfile_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/csvfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// told is all that a table delivers, row by row, and the error at its end.
type told struct {
	Rows  []string
	Lines int
	Err   string
}

// tell reads a file by one reader, or, where step is not 0, in ranges of so many bytes.
func tell(t interface{ Fatal(...any) }, d csvfile.Dialect, path string, workers int, step int64) told {
	in, err := d.Open(context.Background(), path)
	if err != nil {
		return told{Err: err.Error()}
	}
	var picks []table.Pick
	n := len(in.Fields())
	for i := range n {
		p := table.Pick{Field: i, Offset: i / 2}
		if i%2 == 0 {
			p = table.Pick{Field: i, Kind: table.Key, Block: i / 2}
		}
		picks = append(picks, p)
	}
	if err := in.Select(picks); err != nil {
		t.Fatal(err)
	}
	batch := func() *table.Batch { return table.NewBatch([]int{n / 2}, (n+1)/2) }
	if step != 0 {
		if divided := csvfile.DivideBy(in, workers, batch, step); divided != nil {
			in = divided
		}
	}
	defer in.Close()
	out := told{}
	last := int64(0)
	for b := batch(); ; {
		b.Reset()
		err := in.Read(b)
		if now := in.Progress(); now < last {
			t.Fatal("progress goes back")
		} else {
			last = now
		}
		if err != nil {
			if out.Err = err.Error(); err == io.EOF {
				out.Lines = in.(table.Lined).Lines()
			}
			return out
		}
		for r := range b.Rows {
			row := fmt.Sprintf("line %d: %x", b.Row[r], b.Blocks[0].Values[r*(n/2):(r+1)*(n/2)])
			for k := range b.Keys {
				row += fmt.Sprintf(" %q", b.Keys[k].At(r))
			}
			for _, f := range b.FaultsOf(r) {
				row += " " + f.Err.Error()
			}
			out.Rows = append(out.Rows, row)
		}
	}
}

// text is a CSV file of two columns: plain or hostile, with fields in quotes that hold
// ends of lines, quotes and separators, quotes in the middle of fields, blank lines, both
// ends of lines, faults of values, and rows that are cut or broken.
func text(t *rapid.T) string {
	field := rapid.OneOf(
		rapid.SampledFrom([]string{"1", "-2.5", "x", "", "\"\"", "\"a\nb\"", "\"\n\"", "\"1\"", "a\"b", "\"a\"\"\n\"\"b\"", "\"a,\r\nb\"", "NaN", "\"\n1,2\n3,4\n\""}),
		rapid.StringMatching(`[a-z]{0,6}`))
	odd := rapid.SampledFrom([]string{"", "", "", "", "\n", "\r\n", "1\n", "\"a\"b,1\n", "\"open,1\n"})
	end := rapid.SampledFrom([]string{"\n", "\n", "\n", "\r\n"})
	var s strings.Builder
	s.WriteString(rapid.SampledFrom([]string{"", "\ufeff", "\n\n"}).Draw(t, "start") + "name,number\n")
	often := rapid.IntRange(0, 20).Draw(t, "often")
	for range rapid.IntRange(0, 30).Draw(t, "rows") {
		if rapid.IntRange(0, 20).Draw(t, "odd") < often/10 {
			s.WriteString(odd.Draw(t, "between"))
		}
		s.WriteString(field.Draw(t, "a") + "," + field.Draw(t, "b") + end.Draw(t, "end"))
	}
	if rapid.Bool().Draw(t, "cut") {
		return strings.TrimSuffix(s.String(), "\n")
	}
	return s.String()
}

// Several readers of ranges deliver what one reader of the file delivers: rows, lines,
// values, faults and the error that ends it, wherever the ranges end.
func TestRangesDeliverTheFile(t *testing.T) {
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		path := filepath.Join(dir, "x.csv")
		data := text(t)
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		d := csvfile.Dialect{Multiline: rapid.Bool().Draw(t, "multiline")}
		want := tell(t, d, path, 0, 0)
		step := rapid.Int64Range(1, 64).Draw(t, "step")
		got := tell(t, d, path, rapid.IntRange(2, 4).Draw(t, "workers"), step)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("ranges of %d bytes (-one reader +ranges)\n%s\n%q", step, d, data)
		}
	})
}

// Any bytes are read in ranges as by one reader.
func FuzzRanges(f *testing.F) {
	f.Add([]byte("a,b\n\"x\ny\",1\n\n2,\"\n\"\n3,4"), uint8(3))
	f.Add([]byte("a,b\n\"x\ny\",1\n\n2,\"\n\"\n3,4"), uint8(131))
	f.Add([]byte("a,b\r\n1,\"\"\"\r\n2,3\r\n"), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, step uint8) {
		path := filepath.Join(t.TempDir(), "x.csv")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		d := csvfile.Dialect{Multiline: step >= 128}
		want, got := tell(t, d, path, 0, 0), tell(t, d, path, 3, int64(step%64)+1)
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("(-one reader +ranges)\n%s", d)
		}
	})
}

// A range that starts in a field in quotes, whose closing quote seems to open one that
// is longer than a worker may hold, is read when its turn comes.
func TestARangeThatSeemsNeverToEndIsReadInTurn(t *testing.T) {
	const inside, after = 10_000, 1500
	path := filepath.Join(t.TempDir(), "x.csv")
	data := "a,b\n1,2\n\"" + strings.Repeat("1,2\n", inside) + "\",3\n" + strings.Repeat(strings.Repeat("k", 1000)+",5\n", after)
	if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	quotes := csvfile.Dialect{Multiline: true}
	want, got := tell(t, quotes, path, 0, 0), tell(t, quotes, path, 2, 1<<14)
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("(-one reader +ranges)\n%s", d)
	}
	if last := fmt.Sprintf("line %d: ", 3+inside+after); len(got.Rows) != 2+after || !strings.HasPrefix(got.Rows[1+after], last) || got.Err != "EOF" {
		t.Fatalf("%d rows and %s, the last %.20s; want %d, the last %s", len(got.Rows), got.Err, got.Rows[len(got.Rows)-1], 2+after, last)
	}
}

// What is compressed, short, or for one worker is not divided.
func TestWhatIsNotDivided(t *testing.T) {
	dir := t.TempDir()
	plain := []byte("a,b\n" + strings.Repeat("1,2\n", 100))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(plain)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	batch := func() *table.Batch { return table.NewBatch([]int{1}, 0) }
	for name, c := range map[string]struct {
		data    []byte
		workers int
		step    int64
		want    bool
	}{
		"plain.csv":     {plain, 2, 100, true},
		"short.csv":     {plain, 2, 300, false},
		"one.csv":       {plain, 1, 100, false},
		"packed.csv.gz": {packed.Bytes(), 2, 1, false},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, c.data, 0o600); err != nil {
			t.Fatal(err)
		}
		in, err := csvfile.Open(context.Background(), path)
		if err != nil {
			t.Fatal(err)
		}
		divided := csvfile.DivideBy(in, c.workers, batch, c.step)
		if (divided != nil) != c.want {
			t.Errorf("%s: divided: %v, want %v", name, divided != nil, c.want)
		}
		if divided != nil {
			in = divided
		}
		if err := in.Close(); err != nil {
			t.Error(err)
		}
	}
	in, err := csvfile.New(bytes.NewReader(plain), "x")
	if err != nil {
		t.Fatal(err)
	}
	if csvfile.DivideBy(in, 2, batch, 1) != nil {
		t.Error("what is no file is divided")
	}
}
