package neighbours_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/neighbours"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

func public(t testing.TB, adjacency dp.Adjacency) evaluate.Public {
	states, err := feature.NewTabular(4, "obs_state")
	if err != nil {
		t.Fatal(err)
	}
	return evaluate.Public{Persons: 5, Gamma: 1, Horizon: 6, Episodes: 2, Reward: evaluate.Range{Min: -1, Max: 2}, Features: states, Target: policy.ProbColumn{},
		Privacy: &evaluate.Privacy{Adjacency: adjacency, Budget: dp.Budget{Epsilon: 1, Delta: 1e-3}}}
}

// records are the persons of a dataset, one text each.
func records(d *trajectory.Dataset) []string {
	var all []string
	for p := range d.Persons() {
		text := ""
		for e := d.PersonStart[p]; e < d.PersonStart[p+1]; e++ {
			text += fmt.Sprint("|", d.Terminated[e], d.HasFinal[e], d.FinalObservation(e))
			for row := d.EpisodeStart[e]; row < d.EpisodeStart[e+1]; row++ {
				text += fmt.Sprint(d.Observation(row), d.Action[row], d.Reward[row], d.BehaviorProb[row], d.TargetProb[row], ";")
			}
		}
		all = append(all, text)
	}
	return all
}

// TestPairsAreNeighbours: the two differ in one person, replaced or added, and keep the
// caps; first and last persons have their turn, and so have ends of the range.
func TestPairsAreNeighbours(t *testing.T) {
	for _, c := range []struct {
		adjacency dp.Adjacency
		longest   int64
	}{{dp.ReplaceOne, 0}, {dp.AddRemoveOne, 0}, {dp.ReplaceOne, 2}} {
		adjacency, p := c.adjacency, public(t, c.adjacency)
		p.EpisodeHorizon = c.longest
		s, err := neighbours.New(p, []string{"obs_state"}, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		ends, places := map[float64]bool{}, map[int]bool{}
		for range 200 {
			pair, err := s.Pair()
			if err != nil {
				t.Fatal(err)
			}
			a, b := records(pair.Data), records(pair.Neighbour)
			if at := differ(a, b, adjacency); at < 0 {
				t.Fatalf("%v, %s: %q and %q are no neighbours", adjacency, pair.Kind, a, b)
			} else {
				places[at] = true
			}
			for _, r := range pair.Data.Reward {
				ends[r] = true
			}
			for i := range pair.Data.Persons() {
				from, to := pair.Data.PersonStart[i], pair.Data.PersonStart[i+1]
				if to-from > 2 || pair.Data.EpisodeStart[to]-pair.Data.EpisodeStart[from] > 6 {
					t.Fatalf("%s: person %d passes a cap", pair.Kind, i)
				}
				for e := from; e < to && c.longest > 0; e++ {
					if int64(pair.Data.EpisodeStart[e+1]-pair.Data.EpisodeStart[e]) > c.longest {
						t.Fatalf("%s: an episode passes its cap", pair.Kind)
					}
				}
			}
		}
		if !ends[-1] || !ends[2] || !places[0] || !places[4] {
			t.Errorf("%v: rewards %v, places %v", adjacency, ends, places)
		}
	}
}

// differ is where two lists differ in one person at most, -1 where in more.
func differ(a, b []string, adjacency dp.Adjacency) int {
	if adjacency == dp.AddRemoveOne {
		if len(a) < len(b) {
			a, b = b, a
		}
		for i := range a {
			if len(a) == len(b)+1 && slices.Equal(slices.Delete(slices.Clone(a), i, i+1), b) {
				return i
			}
		}
		return -1
	}
	at, n := 0, 0
	for i := range a {
		if len(a) != len(b) || a[i] != b[i] {
			at, n = i, n+1
		}
	}
	if n > 1 || len(a) != len(b) {
		return -1
	}
	return at
}

func TestASeedMakesTheSamePairs(t *testing.T) {
	var texts [2]string
	for i := range texts {
		s, err := neighbours.New(public(t, dp.ReplaceOne), []string{"obs_state"}, nil, 9)
		if err != nil {
			t.Fatal(err)
		}
		for range 30 {
			pair, err := s.Pair()
			if err != nil {
				t.Fatal(err)
			}
			texts[i] += fmt.Sprint(pair.Kind, records(pair.Data), records(pair.Neighbour))
		}
	}
	if texts[0] != texts[1] {
		t.Error("two sources of one seed draw different pairs")
	}
}

func TestFactsWithoutNeighboursAreRefused(t *testing.T) {
	none, many, nobody := public(t, dp.ReplaceOne), public(t, dp.ReplaceOne), public(t, dp.ReplaceOne)
	none.Privacy = nil
	many.Persons = 1 << 40
	nobody.Persons = 0
	for i, p := range []evaluate.Public{none, many, nobody} {
		if _, err := neighbours.New(p, nil, nil, 1); !errors.Is(err, neighbours.ErrFacts) {
			t.Errorf("%d: %v; want ErrFacts", i, err)
		}
	}
}

func Example() {
	s, err := neighbours.New(evaluate.Public{
		Persons: 3, Gamma: 1, Horizon: 1, Reward: evaluate.Range{Min: 0, Max: 1}, Target: policy.Logged{},
		Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne},
	}, nil, nil, 1)
	if err != nil {
		panic(err)
	}
	for range 2 {
		pair, err := s.Pair()
		if err != nil {
			panic(err)
		}
		fmt.Printf("%s: %d and %d persons\n", pair.Kind, pair.Data.Persons(), pair.Neighbour.Persons())
	}
	// Output:
	// random extremes: 3 and 3 persons
	// largest against smallest rewards: 3 and 3 persons
}

// TestPersonsMoveBetweenGroups: where groups may change the two differ in whose group a
// person is, or in who is in none; where they are fixed all sizes stay what they are.
func TestPersonsMoveBetweenGroups(t *testing.T) {
	for _, fixed := range []bool{false, true} {
		p := public(t, dp.ReplaceOne)
		p.By = &evaluate.Groups{Column: "obs_sex", Fixed: fixed, Of: []evaluate.Group{{Name: "f", Number: 1}, {Name: "m", Number: 0}}}
		if fixed {
			p.By.Of[0].Persons, p.By.Of[1].Persons = 3, 1
		}
		s, err := neighbours.New(p, []string{"obs_state", "obs_sex"}, nil, 1)
		if err != nil {
			t.Fatal(err)
		}
		changes := map[[2]int]int{}
		for range 200 {
			pair, err := s.Pair()
			if err != nil {
				t.Fatal(err)
			}
			a, b := records(pair.Data), records(pair.Neighbour)
			at := differ(a, b, dp.ReplaceOne)
			if at < 0 {
				t.Fatalf("%s: no neighbours", pair.Kind)
			}
			before, err := p.By.Members(pair.Data)
			if err != nil {
				t.Fatal(err)
			}
			after, err := p.By.Members(pair.Neighbour)
			if err != nil {
				t.Fatal(err)
			}
			changes[[2]int{before[at], after[at]}]++
			if fixed && !slices.Equal(before, []int{0, 0, 0, 1, -1}) {
				t.Fatalf("%s: members %v", pair.Kind, before)
			}
		}
		moved := changes[[2]int{0, 1}] + changes[[2]int{1, 0}]
		left := changes[[2]int{0, -1}] + changes[[2]int{-1, 0}]
		if fixed && moved+left > 0 || !fixed && (moved < 20 || left < 5 || changes[[2]int{0, 0}] < 10) {
			t.Errorf("fixed %v: changes of group %v", fixed, changes)
		}
	}
	p := public(t, dp.ReplaceOne)
	p.By = &evaluate.Groups{Column: "obs_other"}
	if _, err := neighbours.New(p, []string{"obs_state"}, nil, 1); !errors.Is(err, neighbours.ErrFacts) {
		t.Errorf("a column that is not read: %v; want ErrFacts", err)
	}
}
