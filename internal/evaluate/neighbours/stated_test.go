package neighbours_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/neighbours"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// byLot is a design that draws an action at the first decision and then keeps it.
func byLot(t *testing.T) policy.Policy {
	p, err := policy.NewByStep([][]float64{{0.5, 0.5, 0}, {1}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestRecordsAreAsStated: where nothing is lost everybody has a decision, each drawn with
// a probability above 0 and read whole, and no episode was cut off where all ended.
func TestRecordsAreAsStated(t *testing.T) {
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		for _, complete := range []bool{false, true} {
			p := public(t, adjacency)
			p.Design = &evaluate.Design{Ratios: []float64{2}, Squares: []float64{2}}
			p.Complete = complete
			s, err := neighbours.New(p, []string{"obs_state"}, byLot(t), 3)
			if err != nil {
				t.Fatal(err)
			}
			nobody, places := 0, map[int]bool{}
			for range 300 {
				pair, err := s.Pair()
				if err != nil {
					t.Fatal(err)
				}
				at := differ(records(pair.Data), records(pair.Neighbour), adjacency)
				if at < 0 {
					t.Fatalf("%v, %s: no neighbours", adjacency, pair.Kind)
				}
				places[at] = true
				d := pair.Data
				for i := range d.Persons() {
					if d.PersonStart[i] == d.PersonStart[i+1] {
						nobody++
					}
				}
				for e, from := range d.EpisodeStart[:d.Episodes()] {
					if d.Action[from] == 2 || complete && !d.Terminated[e] {
						t.Fatalf("%s: an episode begins with action %d, ended %v; action 2 is never drawn first, and all of complete data ended", pair.Kind, d.Action[from], d.Terminated[e])
					}
				}
				for row, x := range d.Obs {
					if x != float64(int(x)) || x < 0 || x > 3 {
						t.Fatalf("%s: row %d has state %v", pair.Kind, row, x)
					}
				}
			}
			if complete && nobody > 0 || !complete && nobody < 100 {
				t.Errorf("%v, complete %v: %d persons without a decision", adjacency, complete, nobody)
			}
			if len(places) < 5 {
				t.Errorf("%v: the two differ at %v alone", adjacency, places)
			}
		}
	}
}

// TestSizesStayWhereADesignLeavesOut: where groups are fixed nobody loses all records to
// the design, which would change the size of a group.
func TestSizesStayWhereADesignLeavesOut(t *testing.T) {
	p := public(t, dp.ReplaceOne)
	p.By = &evaluate.Groups{Column: "obs_sex", Fixed: true, Of: []evaluate.Group{{Name: "f", Number: 1, Persons: 3}, {Name: "m", Number: 0, Persons: 2}}}
	s, err := neighbours.New(p, []string{"obs_state", "obs_sex"}, byLot(t), 3)
	if err != nil {
		t.Fatal(err)
	}
	for range 300 {
		pair, err := s.Pair()
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range []*trajectory.Dataset{pair.Data, pair.Neighbour} {
			if members, err := p.By.Members(d); err != nil || !slices.Equal(members, []int{0, 0, 0, 1, 1}) {
				t.Fatalf("%s: members %v, %v", pair.Kind, members, err)
			}
		}
	}
}

// TestNoRecordFits: facts that no record meets are refused, not met by leaving out.
func TestNoRecordFits(t *testing.T) {
	p := public(t, dp.ReplaceOne)
	p.Design = &evaluate.Design{Ratios: []float64{2}, Squares: []float64{2}}
	p.Complete = true
	never, err := policy.NewConstant(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	s, err := neighbours.New(p, []string{"obs_state"}, never, 3)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Pair(); !errors.Is(err, neighbours.ErrFacts) {
		t.Errorf("%v; want ErrFacts", err)
	}
}
