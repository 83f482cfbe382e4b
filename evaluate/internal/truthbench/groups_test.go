//go:build slow

package truthbench_test

import (
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// groupShares are the shares of the persons that groups have: some have few.
var groupShares = []float64{0.5, 0.3, 0.15, 0.05}

// promises are the guarantees that groups come under.
var promises = []struct {
	name      string
	adjacency dp.Adjacency
	fixed     bool
}{{"may_change", dp.ReplaceOne, false}, {"fixed", dp.ReplaceOne, true}, {"add_remove_one", dp.AddRemoveOne, false}}

func groupSizes(persons int) []int {
	var out []int
	for _, share := range groupShares {
		out = append(out, int(share*float64(persons)))
	}
	return out
}

// inGroups draws the log of a problem in which the first persons are of the first group,
// and so on: observation obs_group tells.
func inGroups(p truthbench.Problem, persons int, seed uint64) *trajectory.Dataset {
	d := *p.Draw(persons, seed)
	d.Columns = append(slices.Clone(d.Columns), "obs_group")
	width, obs := len(d.Columns)-1, []float64{}
	person, group, last := 0, 0, groupSizes(persons)[0]
	for row := range d.Rows() {
		for row >= d.EpisodeStart[d.PersonStart[person+1]] {
			person++
		}
		for ; person >= last && group < len(groupShares)-1; group++ {
			last += groupSizes(persons)[group+1]
		}
		obs = append(append(obs, d.Obs[row*width:(row+1)*width]...), float64(group))
	}
	d.Obs = obs
	return &d
}

// groupsPublic asks about the groups of inGroups. The sizes that are not public are
// guessed to be equal.
func groupsPublic(p truthbench.Problem, persons int, epsilon float64, adjacency dp.Adjacency, fixed bool) evaluate.Public {
	public := p.Public(persons, epsilon, adjacency)
	public.By = &evaluate.Groups{Column: "obs_group", Fixed: fixed}
	for g, n := range groupSizes(persons) {
		one := evaluate.Group{Name: string(rune('a' + g)), Number: float64(g)}
		if fixed {
			one.Persons = int64(n)
		}
		public.By.Of = append(public.By.Of, one)
	}
	return public
}
