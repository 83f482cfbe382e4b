//go:build slow

package parquetfile_test

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/parquetfile"
)

// What this package writes it reads as it was, at row counts around the ends of
// groups and batches, with and without lists of probabilities.
func TestOwnWriterAtRowCounts(t *testing.T) {
	for _, rows := range rowCounts {
		source := fmt.Sprintf("%s/writers/duckdb_%d.parquet", shared, rows)
		for _, parts := range []trajectory.Parts{trajectory.AllParts, trajectory.AllParts &^ trajectory.ActionProbs} {
			o := trajectory.Options{Optional: parts, Missing: trajectory.MissingZero}
			want, _, err := read(source, o)
			if err != nil {
				t.Fatal(err)
			}
			var file bytes.Buffer
			if err := parquetfile.Write(&file, want); err != nil {
				t.Fatal(err)
			}
			got, err := readBytes(file.Bytes())
			if err != nil {
				t.Fatalf("%d rows: %v", rows, err)
			}
			if a, b := fmt.Sprint(contents(want)), fmt.Sprint(contents(got)); a != b {
				t.Errorf("%d rows: wrote %.300s, read %.300s", rows, a, b)
			}
		}
	}
}

func contents(d *trajectory.Dataset) []any {
	return []any{d.Columns, d.Obs, d.Action, d.ActionProbs, d.Reward, d.Terminated, d.EpisodeStart, d.EpisodeID, d.PersonStart, d.PersonID}
}
