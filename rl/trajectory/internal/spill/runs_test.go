package spill_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/spill"
)

// Runs give the episodes of all of them in the order of persons, and those of one person in
// the order in which they were put, as often as they are asked.
func TestRunsAreMerged(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		const most = 5
		var frame spill.Frame
		runs := spill.NewRuns(dir, most, &frame)
		type put struct {
			person string
			number int
		}
		var all []put
		for run := range most {
			var records [][]byte
			for range rapid.IntRange(0, 6).Draw(t, "records") {
				p := put{fmt.Sprintf("%d-%d", rapid.IntRange(0, 11).Draw(t, "person"), run), len(all)} // whole in one run
				e := trajectory.Episode{Reward: make([]float64, 1+p.number%3), Terminated: true, Row: p.number}
				records = append(records, frame.Append(nil, []byte(p.person), []byte("e"), &e))
				all = append(all, p)
			}
			if err := frame.Sort(records); err != nil {
				t.Fatal(err)
			}
			for _, record := range records {
				if err := runs.Put(run, record); err != nil {
					t.Fatal(err)
				}
			}
		}
		slices.SortStableFunc(all, func(a, b put) int { return cmp.Compare(a.person, b.person) })
		for range 2 {
			var got []put
			err := runs.Each(context.Background(), func(record []byte) error {
				var e trajectory.Episode
				person, _, err := frame.Read(record, &e)
				if _, rows, bad := frame.Head(record); rows != e.Len() || bad != nil {
					t.Fatalf("%d rows (%v), want %d", rows, bad, e.Len())
				}
				got = append(got, put{string(person), e.Row})
				return err
			})
			if err != nil || !slices.Equal(got, all) {
				t.Fatalf("got %v (%v), want %v", got, err, all)
			}
		}
	})
}

// A record that is cut is an error, not another person.
func TestRunsOfDamagedRecords(t *testing.T) {
	var frame spill.Frame
	record := frame.Append(nil, []byte("ann"), nil, &trajectory.Episode{Reward: []float64{1}})
	for n := range 9 {
		if err := frame.Sort([][]byte{record[:n]}); err == nil {
			t.Errorf("%d bytes: no error", n)
		}
	}
}
