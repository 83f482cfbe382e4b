package evaluate

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// The halves share nobody and leave nobody out; who is in which changes from run to run, with
// everybody as often as the share says (at five standard errors), and pairs of persons
// independently; a person's name alone, not their place or who else is there, decides under
// add_remove_one.
func TestHalvesAreDrawnAfresh(t *testing.T) {
	const persons, runs = 12, 4000
	d := &trajectory.Dataset{PersonStart: make([]int, persons+1)}
	for i := range persons {
		d.PersonID = append(d.PersonID, "p"+strconv.Itoa(i))
	}
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		q := learnQuestion{learnOn: 3, public: Public{Persons: persons, Privacy: &Privacy{Adjacency: adjacency}}}
		src := noise.NewSeeded(6)
		var in [persons]float64
		both := 0.0
		for range runs {
			learn, judge := q.halves(d, src)
			all := slices.Concat(learn, judge)
			if slices.Sort(all); len(all) != persons || slices.Compact(all)[persons-1] != persons-1 {
				t.Fatalf("%v: %v and %v", adjacency, learn, judge)
			}
			if adjacency == dp.ReplaceOne && len(learn) != 3 {
				t.Fatalf("%d are learned from; want 3", len(learn))
			}
			for _, i := range learn {
				in[i]++
			}
			if slices.Contains(learn, 0) && slices.Contains(learn, 1) {
				both++
			}
		}
		for i, n := range in {
			if math.Abs(n/runs-0.25) > 5*math.Sqrt(0.25*0.75/runs) {
				t.Errorf("%v: person %d is learned from in %v of %d runs; want a quarter", adjacency, i, n, runs)
			}
		}
		want := 0.25 * 0.25
		if adjacency == dp.ReplaceOne {
			want = 3. / 12 * 2 / 11
		}
		if math.Abs(both/runs-want) > 5*math.Sqrt(want/runs) {
			t.Errorf("%v: two persons together in %v of %d runs; want a share of %v", adjacency, both, runs, want)
		}
	}
	lot := newLots(noise.NewSeeded(9))
	swapped := &trajectory.Dataset{PersonStart: d.PersonStart, PersonID: slices.Clone(d.PersonID)}
	slices.Reverse(swapped.PersonID)
	for i := range persons {
		if lot.of(d, i) != lot.of(swapped, persons-1-i) {
			t.Errorf("the lot of %s depends on where they stand", d.PersonID[i])
		}
	}
}
