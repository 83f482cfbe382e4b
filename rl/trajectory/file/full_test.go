package file_test

import (
	"errors"
	"io"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/csvfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ndjsonfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/parquetfile"
)

var errFull = errors.New("no space left on device")

// room takes so many bytes, and then fails.
type room int

func (r *room) Write(b []byte) (int, error) {
	if *r -= room(len(b)); *r < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// A disk that is full is told once, whether that shows while rows are written or at the end.
func TestAFullDiskIsToldOnce(t *testing.T) {
	var b trajectory.Builder
	for range 50_000 {
		b.Add(&trajectory.Episode{Columns: []string{"obs_state"}, Obs: []float64{0.25}, Reward: []float64{0.5}, Terminated: true})
	}
	d := b.Dataset()
	for name, write := range map[string]func(io.Writer, *trajectory.Dataset) error{"CSV": csvfile.Write, "NDJSON": ndjsonfile.Write, "Parquet": parquetfile.Write} {
		all := room(1 << 30)
		if err := write(&all, d); err != nil {
			t.Fatal(err)
		}
		whole := 1<<30 - all
		for _, r := range []room{0, 100, whole / 2, whole - 1} {
			left := r
			if err := write(&left, d); err == nil || err.Error() != errFull.Error() {
				t.Errorf("%s with room for %d of %d bytes: %v", name, r, whole, err)
			}
		}
	}
}
