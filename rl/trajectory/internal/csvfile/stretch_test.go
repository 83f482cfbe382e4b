package csvfile_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/csvfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// rest reads two columns of a table until it ends. Lines are counted on from a number.
func rest(in table.Table, after int) (rows []string, err error) {
	b := table.NewBatch([]int{1}, 1)
	for {
		b.Reset()
		if err := in.Read(b); err != nil {
			return rows, err
		}
		for r := range b.Rows {
			row := fmt.Sprintf("line %d: %x %q", b.Row[r]+after, b.Blocks[0].Values[r], b.Keys[0].At(r))
			for _, f := range b.FaultsOf(r) {
				row += " " + f.Err.Column + " " + f.Err.What
			}
			rows = append(rows, row)
		}
	}
}

// Stretches that start where the one before them ends deliver the rows of the file, each
// its own and, beyond its end, all others, wherever they are cut; only ends of lines in
// quotes make one start elsewhere.
func TestStretchesDeliverTheFile(t *testing.T) {
	dir := t.TempDir()
	whole := 0
	delivers := func(t *rapid.T) {
		path := filepath.Join(dir, "x.csv")
		data := text(t)
		dialect := csvfile.Dialect{Multiline: rapid.Bool().Draw(t, "multiline")}
		if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
		picks := []table.Pick{{Field: 0, Kind: table.Key}, {Field: 1}}
		open := func() table.Table {
			in, err := dialect.Open(context.Background(), path)
			if err != nil {
				t.Skip(err)
			}
			return in
		}
		one := open()
		defer one.Close()
		if len(one.Fields()) != 2 {
			t.Skip("another header")
		}
		if err := one.Select(picks); err != nil {
			t.Fatal(err)
		}
		want, end := rest(one, 0)

		in := open()
		defer in.Close()
		var got []string
		place, after := int64(-1), 0
		for _, stretch := range csvfile.CutBy(in, 2, int64(rapid.IntRange(1, 40).Draw(t, "bytes"))) {
			s, err := stretch()
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Select(picks); err != nil {
				t.Fatal(err)
			}
			start, _ := s.Span()
			if place >= 0 && start != place {
				if !dialect.Multiline && start < int64(len(data)) {
					t.Fatalf("a stretch starts at %d and the one before it ends at %d, and a record is a line", start, place)
				}
				return
			}
			rows, err := rest(s, after)
			if got = append(got, rows...); err != io.EOF {
				if diff := cmp.Diff(want, got); diff != "" || end == io.EOF {
					t.Fatalf("%v where one reader has %v\n%s", err, end, diff)
				}
				return
			}
			s.Beyond()
			_, place = s.Span()
			beyond, _ := rest(s, after)
			if diff := cmp.Diff(want, slices.Concat(got, beyond)); diff != "" {
				t.Fatalf("%q beyond %d: %s", data, place, diff)
			}
			after += s.Numbered()
		}
		if got != nil {
			whole++
			if diff := cmp.Diff(want, got); diff != "" || end != io.EOF {
				t.Fatal(end, diff)
			}
		}
	}
	// Some ten of a hundred files that are drawn are read to their end.
	for range 20 {
		if rapid.Check(t, delivers); whole >= 5 {
			return
		}
	}
	t.Errorf("%d files were read to their end; want 5 at least", whole)
}

// The parts of a file, each of an opening of its own, deliver it with its numbers of lines, however many there are, and
// where one reader cannot read on, they end there too; of a file whose records may be several lines there are none.
func TestPartsDeliverTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.csv")
	rapid.Check(t, func(t *rapid.T) {
		if err := os.WriteFile(path, []byte(text(t)), 0o600); err != nil {
			t.Fatal(err)
		}
		picks := []table.Pick{{Field: 0, Kind: table.Key}, {Field: 1}}
		open := func(d csvfile.Dialect) table.Table {
			in, err := d.Open(context.Background(), path)
			if err != nil {
				t.Skip(err)
			}
			if len(in.Fields()) != 2 {
				t.Skip("another header")
			}
			return in
		}
		one := open(csvfile.Dialect{})
		defer one.Close()
		if err := one.Select(picks); err != nil {
			t.Fatal(err)
		}
		want, end := rest(one, 0)
		var got []string
		n, after, ended := rapid.IntRange(1, 60).Draw(t, "parts"), 0, error(nil)
		for i := 0; i < n && (ended == nil || ended == io.EOF); i++ {
			in := open(csvfile.Dialect{})
			defer in.Close()
			s, err := in.(table.Cuttable).Part(i, n)
			if err == nil {
				err = s.Select(picks)
			}
			if err != nil {
				t.Fatal(err)
			}
			rows, err := rest(s, after)
			got, ended = append(got, rows...), err
			s.Beyond()
			after += s.Numbered()
		}
		if diff := cmp.Diff(want, got); diff != "" || (end == io.EOF) != (ended == io.EOF) {
			t.Fatalf("%d parts end in %v, one reader in %v: %s", n, ended, end, diff)
		}
		several := open(csvfile.Dialect{Multiline: true})
		defer several.Close()
		if s, err := several.(table.Cuttable).Part(0, n); s != nil || err != nil {
			t.Errorf("a part of records of several lines: %v, %v", s, err)
		}
	})
}
