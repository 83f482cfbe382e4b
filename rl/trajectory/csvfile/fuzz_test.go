package csvfile_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/csvfile"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
	"github.com/discreet-rl/discreet/rl/trajectory/table"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// fields reads every field of a file as a key, with the lines of its rows.
func fields(data []byte) (rows [][]string, lines []int, err error) {
	t, err := csvfile.New(bytes.NewReader(data), "x")
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
		if bytes.ContainsRune(data, '\r') || bytes.HasPrefix(data, []byte("\ufeff")) {
			return // the library changes CRLF inside quotes, and keeps the mark
		}
		got, lines, err := fields(data)
		r := csv.NewReader(bytes.NewReader(data))
		var want [][]string
		var wantLines []int
		for {
			row, wantErr := r.Read()
			if wantErr == io.EOF {
				break
			}
			if wantErr != nil {
				if err == nil && !errors.Is(wantErr, csv.ErrBareQuote) {
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
	})
}

func readBytes(data []byte, o trajectory.Options) (*trajectory.Dataset, error) {
	f := table.Format{Name: "csv", Open: func(path string) (table.Table, error) {
		return csvfile.New(bytes.NewReader(data), path)
	}}
	d, _, err := file.ReadFormat(context.Background(), f, []string{"x.csv"}, o)
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
