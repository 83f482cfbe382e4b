package parquetfile_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// What is wrong in columns of which a dictionary bounds all values is what is wrong where each is looked at, beside
// an observation without a dictionary too, and where rows are put in order. Each of two row groups has its dictionaries.
func TestBoundsOfADictionaryHideNoFault(t *testing.T) {
	columns := []string{"action", "behavior_prob", "episode_id", "obs_a", "obs_b", "reward", "step"} // in the order of a group
	file := func(dictionary bool, change string, value float64) []byte {
		node := parquet.Leaf(parquet.DoubleType)
		if dictionary {
			node = parquet.Encoded(node, &parquet.RLEDictionary)
		}
		g := parquet.Group{}
		for _, name := range columns {
			g[name] = node
		}
		g["episode_id"], g["obs_b"] = parquet.Int(64), parquet.Leaf(parquet.DoubleType)
		var out bytes.Buffer
		w := parquet.NewGenericWriter[any](&out, parquet.NewSchema("rows", g))
		for i := range 3000 {
			if i == 1500 {
				if err := w.Flush(); err != nil {
					t.Fatal(err)
				}
			}
			row := parquet.Row{}
			for j, v := range []float64{float64(i % 2), .5, 0, float64(i % 7), float64(i%3) / 2, float64(i%5) / 4, float64(i % 10)} {
				if i == 1700 && columns[j] == change {
					v = value
				}
				row = append(row, parquet.DoubleValue(v).Level(0, 0, j))
			}
			row[slices.Index(columns, "episode_id")] = parquet.Int64Value(int64(i/10)).Level(0, 0, 2)
			if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	for _, c := range []struct {
		column string
		value  float64
		wrong  bool
	}{
		{"", 0, false}, {"action", -1, true}, {"action", .5, true}, {"action", 1 << 33, true}, {"action", math.NaN(), true}, {"behavior_prob", 0, true}, {"behavior_prob", 1.5, true},
		{"behavior_prob", math.NaN(), true}, {"obs_a", math.Inf(1), true}, {"obs_b", math.NaN(), true}, {"obs_b", -1e300, false}, {"reward", math.Inf(-1), true}, {"reward", math.NaN(), true},
	} {
		want, wantErr := readBytes(file(false, c.column, c.value))
		for _, sort := range []bool{false, true} {
			o := trajectory.Options{Optional: trajectory.AllParts, Missing: trajectory.MissingZero, Steps: trajectory.Steps{Sort: sort}}
			got, err := readWith(file(true, c.column, c.value), o)
			if (err != nil) != c.wrong || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
				t.Errorf("%s %v, sorted %v: %v; want %v", c.column, c.value, sort, err, wantErr)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s %v, sorted %v: %s", c.column, c.value, sort, diff)
			}
		}
	}
}
