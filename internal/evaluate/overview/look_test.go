package overview_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/discreet-rl/discreet/internal/evaluate/overview"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Persons with up to three episodes of up to fifteen decisions, in parts of any size: some actions
// are known to one part alone, and some are none.
func TestAReportOfPartsIsThatOfTheWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for try := range 50 {
		d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}}
		for range 1 + r.IntN(40) {
			for range r.IntN(4) {
				for range 1 + r.IntN(15) {
					d.Action, d.Reward = append(d.Action, int32(r.IntN(5)*r.IntN(2)-r.IntN(2)*r.IntN(2))), append(d.Reward, float64(r.IntN(4))/3)
					d.BehaviorProb = append(d.BehaviorProb, float64(1+r.IntN(2))/2)
				}
				d.EpisodeStart = append(d.EpisodeStart, len(d.Reward))
			}
			d.PersonStart = append(d.PersonStart, d.Episodes())
		}
		f := facts()
		if f.Report = true; try%2 == 0 {
			f.Words = map[int]string{1: "more", 6: "less"}
		}
		whole, err := overview.Look(d, f)
		if err != nil {
			t.Fatal(err)
		}
		sum := overview.NewWatch(f)
		for from := 0; from < d.Persons(); {
			var of []int
			for range min(1+r.IntN(9), d.Persons()-from) {
				of, from = append(of, from), from+1
			}
			part, w := d.Take(of), overview.NewWatch(f)
			rho := make([]float64, part.Rows())
			if err := policy.Ratios(rho, f.Target, part); err != nil {
				t.Fatal(err)
			}
			w.Add(part, rho)
			sum.Merge(w)
		}
		if got, err := sum.Report(); err != nil || !reflect.DeepEqual(got, whole) {
			t.Fatalf("try %d: %v\n%+v, want\n%+v", try, err, got, whole)
		}
	}
}
