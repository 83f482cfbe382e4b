package table_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Runs give back the keys that went in, row by row and run by run, and no two
// neighbouring runs are equal. Keys are appended from memory that is written over.
func TestRunsKeepKeys(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := table.NewBatch(nil, 1)
		runs := &b.Keys[0]
		var scratch []byte
		for range 2 {
			b.Reset()
			var want []string
			for range rapid.IntRange(1, 20).Draw(t, "runs") {
				key := rapid.SampledFrom([]string{"", "a", "b", "ab", "ba", "0", "7", "07", "-7", "-0", "123456789012345678", "1234567890123456789",
					"0123abcd-0000-4000-8000-00000000000f", "0123ABCD-0000-4000-8000-00000000000f", "0123abcd-0000-4000-8000-00000000000g"}).Draw(t, "key")
				n := rapid.IntRange(1, 3).Draw(t, "rows")
				scratch = append(scratch[:0], key...)
				if v, err := strconv.ParseInt(key, 10, 64); err == nil && fmt.Sprint(v) == key && rapid.Bool().Draw(t, "as number") {
					runs.AppendNumber(v, n)
				} else if id := table.IDOf(scratch); id.Kind == table.UUIDID && rapid.Bool().Draw(t, "as UUID") {
					var b [16]byte
					binary.BigEndian.PutUint64(b[:], id.High)
					binary.BigEndian.PutUint64(b[8:], id.Low)
					runs.AppendUUID(b, n)
				} else {
					runs.Append(scratch, n)
				}
				for range n {
					want = append(want, key)
				}
			}
			row := 0
			for run := 0; row < len(want); run++ {
				if run > 0 && string(runs.Key(run)) == string(runs.Key(run-1)) {
					t.Fatalf("runs %d and %d have one key", run-1, run)
				}
				if id, as := runs.ID(run), table.IDOf([]byte(want[row])); !id.Equal(&as) || string(id.Append(nil)) != want[row] || id.Missing() != (want[row] == "") {
					t.Fatalf("row %d: %v, want %q", row, id, want[row])
				}
				for ; row < runs.End(run); row++ {
					if got := runs.At(row); string(got) != want[row] || string(runs.Key(run)) != want[row] || (got == nil) != (want[row] == "") {
						t.Fatalf("row %d: %q and %q, want %q", row, got, runs.Key(run), want[row])
					}
				}
			}
		}
	})
}

// Arithmetic gives no missing number, and a NaN is not missing.
func TestNull(t *testing.T) {
	if !table.IsNull(table.Null()) {
		t.Error("Null is not missing")
	}
	inf, zero := math.Inf(1), 0.0
	for _, v := range []float64{0, math.NaN(), inf - inf, zero / zero, inf * zero, math.Sqrt(-1)} {
		if table.IsNull(v) {
			t.Errorf("%v (%x) is missing", v, math.Float64bits(v))
		}
	}
}

// Wide rows make small batches, and there is always room for one.
func TestBatchIsBounded(t *testing.T) {
	for _, c := range []struct{ width, rows int }{{0, 1024}, {8, 1024}, {1 << 12, 511}, {1 << 22, 1}} {
		if got := table.NewBatch([]int{c.width}, 0).Cap; got != c.rows {
			t.Errorf("%d values a row: room for %d rows, want %d", c.width, got, c.rows)
		}
	}
}

func ExampleRuns() {
	b := table.NewBatch(nil, 1)
	b.Reset()
	b.Keys[0].Append([]byte("ann"), 2)
	b.Keys[0].Append([]byte("bob"), 1)
	fmt.Printf("%s %s %d\n", b.Keys[0].At(1), b.Keys[0].At(2), b.Keys[0].End(0))
	// Output: ann bob 2
}
