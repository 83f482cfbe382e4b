package csvfile_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/csvfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ingest"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// fields reads every field of a file as a key, with the lines of its rows.
func fields(d csvfile.Dialect, data []byte) (rows [][]string, lines []int, err error) {
	t, err := d.New(bytes.NewReader(data), "x")
	if err != nil {
		return nil, nil, err
	}
	var names []string
	var picks []table.Pick
	for i, f := range t.Fields() {
		names = append(names, f.Name)
		picks = append(picks, table.Pick{Field: i, Kind: table.Key, Block: i})
	}
	rows = append(rows, names)
	if err := t.Select(picks); err != nil {
		return nil, nil, err
	}
	for b := table.NewBatch(nil, len(picks)); ; {
		b.Reset()
		if err := t.Read(b); err == io.EOF {
			return rows, lines, nil
		} else if err != nil {
			return nil, nil, err
		}
		for r := range b.Rows {
			row := make([]string, len(picks))
			for k := range row {
				row[k] = string(b.Keys[k].At(r))
			}
			rows, lines = append(rows, row), append(lines, b.Row[r])
		}
	}
}

// Where the standard library reads a file, this reader finds the same fields on
// the same lines.
func FuzzFieldsAgainstEncodingCSV(f *testing.F) {
	for _, s := range []string{"a,b\n1,2\n", "a\n\n\"x\ny\"\"\"\nz", "\"a\",\"\"\n\"1\",\n", "a,b\n1\n", "a,b\n\"1,2\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		if bytes.ContainsRune(data, '\r') || bytes.HasPrefix(data, []byte("\ufeff")) || bytes.IndexByte(data, 0) >= 0 {
			return // the library changes CRLF inside quotes, keeps the mark, and reads NUL
		}
		got, lines, err := fields(csvfile.Dialect{Multiline: true}, data)
		r := csv.NewReader(bytes.NewReader(data))
		var want [][]string
		var wantLines []int
		for {
			row, wantErr := r.Read()
			if wantErr == io.EOF {
				break
			}
			if wantErr != nil {
				if err == nil {
					t.Fatalf("the library says %v, and this reader nothing", wantErr)
				}
				return
			}
			line, _ := r.FieldPos(0)
			want, wantLines = append(want, row), append(wantLines, line)
		}
		if err != nil {
			if errors.Is(err, trajectory.ErrFormat) && len(want) > 0 && len(want[0]) == 1 {
				return // a header without commas is refused if it looks like another format
			}
			if !errors.Is(err, trajectory.ErrEmpty) || len(want) > 0 {
				if !bytes.HasPrefix(data, []byte("\xff\xfe")) && !bytes.HasPrefix(data, []byte("\xfe\xff")) {
					t.Fatalf("the library reads it, and this reader says %v", err)
				}
			}
			return
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Fatalf("(-library +this)\n%s", d)
		}
		if len(wantLines) > 0 && !slices.Equal(wantLines[1:], lines) {
			t.Fatalf("lines %v, the library has %v", lines, wantLines[1:])
		}
		spans := slices.ContainsFunc(want, func(row []string) bool {
			return slices.ContainsFunc(row, func(field string) bool { return strings.Contains(field, "\n") })
		})
		alone, at, err := fields(csvfile.Dialect{}, data)
		if spans != (err != nil) || err != nil && !errors.Is(err, trajectory.ErrFormat) {
			t.Fatalf("a field with a line end: %v; without leave for that: %v", spans, err)
		}
		if err == nil && (!slices.EqualFunc(got, alone, slices.Equal) || !slices.Equal(lines, at)) {
			t.Fatalf("without leave for line ends %q in %v; want %q in %v", alone, at, got, lines)
		}
	})
}

// numbers reads the first column of a file as numbers, nil where it cannot be.
func numbers(d csvfile.Dialect, data []byte) []float64 {
	t, err := d.New(bytes.NewReader(data), "x")
	if err != nil || t.Select([]table.Pick{{}}) != nil {
		return nil
	}
	out := []float64{}
	for b := table.NewBatch([]int{1}, 0); ; {
		b.Reset()
		if err := t.Read(b); err == io.EOF {
			return out
		} else if err != nil || len(b.Faults) > 0 {
			return nil
		}
		out = append(out, b.Blocks[0].Values[:b.Rows]...)
	}
}

// A dialect finds the fields that the standard library finds with that separator; a
// number is null where its text is a marker, and else as without markers.
func FuzzDialect(f *testing.F) {
	f.Add([]byte("a;b\n-9;1,5\nNA;x\n"), uint8(1), "-9", "NA")
	f.Add([]byte("a\tb\n1\t\"x\ty\"\n-9.0\t\n"), uint8(2), "-9", ".")
	f.Add([]byte("a|b\n\"NA\"|1e3\n1e3|2\n"), uint8(3), "NA", "1e3")
	f.Fuzz(func(t *testing.T, data []byte, which uint8, one, two string) {
		separator := ",;\t|"[which%4]
		if bytes.ContainsRune(data, '\r') || bytes.HasPrefix(data, []byte("\ufeff")) {
			return
		}
		r := csv.NewReader(bytes.NewReader(data))
		r.Comma = rune(separator)
		want, err := r.ReadAll()
		d := csvfile.Dialect{Separator: separator, Multiline: true}
		got, _, gotErr := fields(d, data)
		if err != nil || gotErr != nil {
			return // FuzzFieldsAgainstEncodingCSV compares refusals
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-library +this)\n%s", diff)
		}
		marked := numbers(csvfile.Dialect{Separator: separator, NA: []string{one, two}, Multiline: true}, data)
		for i, v := range marked {
			text := want[i+1][0]
			if text == one || text == two || text == "" {
				if !table.IsNull(v) {
					t.Fatalf("%q with the markers %q and %q is %v", text, one, two, v)
				}
				continue
			}
			plain := numbers(csvfile.Dialect{Multiline: true}, []byte("a,b\n\""+strings.ReplaceAll(text, `"`, `""`)+"\",\n"))
			if len(plain) != 1 || math.Float64bits(plain[0]) != math.Float64bits(v) {
				t.Fatalf("%q is %v with markers and %v without", text, v, plain)
			}
		}
	})
}

func readBytes(data []byte, o trajectory.Options) (*trajectory.Dataset, error) {
	f := table.Format{Name: "csv", Open: func(_ context.Context, path string) (table.Table, error) {
		return csvfile.Dialect{Multiline: true}.New(bytes.NewReader(data), path)
	}}
	d, _, err := ingest.Read(context.Background(), f, []string{"x.csv"}, o)
	return d, err
}

// Any bytes are an error or a dataset that is written and read back the same.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		"episode_id,step,unit_id,obs_a,obs_b,action,behavior_prob,prob_0,prob_1,target_prob,reward,terminated,truncated,next_obs_a,next_obs_b,discount\n" +
			"1,0,p,1,2,0,.5,.5,.5,1,0.25,false,false,3,4,1\n1,1,p,3,4,1,.5,.5,.5,0,-1e-3,false,true,5,6,0.5\n2,0,q,0,0,1,1,0,1,1,0,true,0,,,1\n",
		"episode_id,obs_a,action,reward\n1,1,0,1\n1,2,,\n",
		"reward,item_id,pscore\n1,2,.5\n",
		"\ufeff\"episode_id\",\"reward\"\r\n\"a\"\"\",1\r\n",
	} {
		f.Add([]byte(s), false)
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, data []byte, one bool) {
		o := trajectory.Options{Optional: trajectory.AllParts, OneRowEpisodes: one, Missing: trajectory.MissingZero}
		d, err := readBytes(data, o)
		if err != nil {
			if !errors.Is(err, trajectory.ErrInput) {
				t.Fatalf("%v is no input error", err)
			}
			return
		}
		for _, column := range [][]float64{d.Obs, d.Reward, d.BehaviorProb, d.ActionProbs, d.TargetProb, d.Discount, d.Final} {
			for _, v := range column {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Fatalf("a value that is not finite came through: %+v", d)
				}
			}
		}
		var b bytes.Buffer
		if err := csvfile.Write(&b, d); err != nil {
			t.Fatal(err)
		}
		again, err := readBytes(b.Bytes(), trajectory.Options{Optional: trajectory.AllParts})
		if err != nil {
			t.Fatalf("%v\n%s", err, b.Bytes())
		}
		if diff := cmp.Diff(d, again, cmpopts.IgnoreFields(trajectory.Dataset{}, "Origin", "FirstRow", "EpisodeID", "PersonID"), cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-read +written and read)\n%s\n%s", diff, b.Bytes())
		}
	})
}
