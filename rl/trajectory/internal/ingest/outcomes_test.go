package ingest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ingest"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// TestOutcomesOfAnotherFile: the last decision of an episode has the value of the one row with
// its id, wherever batches of either file end; no row (where nothing is stated of that), two rows and no value leave it out, or
// are errors, and nobody else is read differently for them.
func TestOutcomesOfAnotherFile(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		by := rapid.SampledFrom([]string{"unit_id", "episode_id"}).Draw(rt, "by")
		lengths := rapid.SliceOfN(rapid.IntRange(1, 3), 1, 5).Draw(rt, "lengths")
		rows := rapid.SliceOfN(rapid.IntRange(0, 7), 1, 8).Draw(rt, "ids")
		values := rapid.SliceOfN(rapid.SampledFrom([]string{"1", "0.5", "-1", ""}), len(rows), len(rows)).Draw(rt, "values")
		absent := rapid.SampledFrom([]*float64{nil, new(float64)}).Draw(rt, "absent")
		data, outcomes, want, sound := "unit_id,episode_id,action", by+",alive", "", true
		for i, id := range rows {
			outcomes += fmt.Sprintf("\n%d,%s", id, values[i])
		}
		for e, n := range lengths {
			data += strings.Repeat(fmt.Sprintf("\n%d,%[1]d,0", e), n)
			found, value := 0, ""
			for i, id := range rows {
				if id == e {
					found, value = found+1, values[i]
				}
			}
			if found == 0 && absent != nil {
				found, value = 1, "0"
			}
			if found != 1 || value == "" {
				want, sound = want+"[];", false
				continue
			}
			want += "[" + strings.Repeat("0 ", n-1) + value + "];"
		}
		files := map[string]string{"data": data, "outcomes": outcomes}
		for batch := range 5 {
			open := 0
			format := table.Format{Name: "memory", Open: func(_ context.Context, path string) (table.Table, error) {
				m := parse(files[path], batch+1)
				m.open = &open
				open++
				return m, nil
			}}
			for _, repair := range []bool{true, false} {
				o := trajectory.Options{Repair: repair, Unit: trajectory.UnitPerson, OutcomeFiles: []string{"outcomes"}, OutcomeBy: by, OutcomeColumn: "alive", OutcomeAbsent: absent}
				s, err := ingest.NewStream(context.Background(), format, []string{"data"}, o)
				if err != nil {
					rt.Fatal(err)
				}
				s.Beside(format, o.OutcomeFiles)
				d, _, err := ingest.Collect(s)
				if open != 0 {
					rt.Fatalf("%d tables are left open", open)
				}
				if !repair {
					if (err == nil) != sound {
						rt.Fatalf("rejecting gives %v, want sound %v:\n%s\n%s", err, sound, data, outcomes)
					}
					continue
				}
				if err != nil {
					rt.Fatal(err)
				}
				got := ""
				for p := range d.Persons() {
					e := d.PersonStart[p]
					if d.PersonStart[p+1] == e {
						got += "[];"
						continue
					}
					got += fmt.Sprintf("%v;", d.Reward[d.EpisodeStart[e]:d.EpisodeStart[e+1]])
				}
				if got != want {
					rt.Fatalf("batches of %d: %s, want %s, of\n%s\n%s", batch+1, got, want, data, outcomes)
				}
			}
		}
	})
}
