package evaluate

import (
	"context"
	"reflect"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// spread adds powers of a person's rewards, far beyond the clip for some.
type spread struct{}

func (spread) Outline(Public) (Outline, error) {
	return Outline{Method: "test/spread", Estimates: "nothing", Rounds: []Round{{Dim: 3, Clip: 0.7, Share: 1}}}, nil
}

func (spread) Contribution(dst []float64, _ int, _ [][]float64, p *trajectory.Dataset) {
	for i, r := range p.Reward {
		dst[i%3] += r * r / float64(i+1)
	}
}

func (spread) Answer(Public, []NoisySum) (Answer, error) { return Answer{}, nil }

// TestSevenShardsOfAForeignMethodAreOne: equal sums, and so under equal noise equal
// bytes, whoever is in which shard.
func TestSevenShardsOfAForeignMethodAreOne(t *testing.T) {
	const persons = 100
	d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}}
	for p := range persons {
		for k := range p % 5 {
			d.Reward = append(d.Reward, float64(p*k%7)/9)
		}
		if p%5 > 0 {
			d.EpisodeStart = append(d.EpisodeStart, len(d.Reward))
		}
		d.PersonStart = append(d.PersonStart, len(d.EpisodeStart)-1)
	}
	o, _ := spread{}.Outline(Public{})
	r := rounds{Outline: o, method: spread{}, public: Public{Privacy: &Privacy{Adjacency: dp.ReplaceOne}}, noise: []float64{2}}
	everyone := make([]int, persons)
	for p := range everyone {
		everyone[p] = p
	}
	release := func(cuts ...int) []float64 {
		var whole *mechanism.VectorSum
		for i := range len(cuts) - 1 {
			shard, err := r.sum(0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := r.collect(context.Background(), 0, nil, []*value.Part{value.Pack(d.Take(everyone[cuts[i]:cuts[i+1]]), nil)}, shard.Add); err != nil {
				t.Fatal(err)
			}
			if whole == nil {
				whole = shard
			} else if err := whole.Merge(shard); err != nil {
				t.Fatal(err)
			}
		}
		noisy, _, err := whole.Release(noise.NewSeeded(5))
		if err != nil {
			t.Fatal(err)
		}
		return noisy
	}
	one, seven := release(0, persons), release(0, 3, 20, 21, 50, 50, 99, persons)
	if !slices.Equal(one, seven) {
		t.Errorf("one shard %v, seven %v", one, seven)
	}
}

// TestAPersonAloneHasAllColumns but names, and those are that person's.
func TestAPersonAloneHasAllColumns(t *testing.T) {
	d := &trajectory.Dataset{
		Columns: []string{"a", "b"}, PersonStart: []int{0, 1, 1, 3}, EpisodeStart: []int{0, 2, 3, 5}, LeftOut: []int{0, 1, 4}, Lost: []float64{0, 1, 2, 3, 4, 5},
		Obs: []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, Action: []int32{0, 1, 2, 3, 4}, Reward: []float64{0, 1, 2, 3, 4},
		BehaviorProb: []float64{.1, .2, .3, .4, .5}, TargetProb: []float64{.1, .2, .3, .4, .5}, Discount: []float64{.1, .2, .3, .4, .5},
		ActionProbs: []float64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, Actions: 2,
		Terminated: []bool{true, false, true}, HasFinal: []bool{false, true, true}, Final: []float64{0, 1, 2, 3, 4, 5},
		PersonID: []string{"x", "y", "z"}, EpisodeID: []string{"1", "2", "3"}, Origin: []string{"f", "f", "f"}, FirstRow: []int{1, 2, 3},
	}
	want := &trajectory.Dataset{
		Columns: []string{"a", "b"}, PersonStart: []int{0, 2}, EpisodeStart: []int{0, 1, 3}, LeftOut: []int{4}, Lost: []float64{4, 5},
		Obs: []float64{4, 5, 6, 7, 8, 9}, Action: []int32{2, 3, 4}, Reward: []float64{2, 3, 4},
		BehaviorProb: []float64{.3, .4, .5}, TargetProb: []float64{.3, .4, .5}, Discount: []float64{.3, .4, .5},
		ActionProbs: []float64{4, 5, 6, 7, 8, 9}, Actions: 2,
		Terminated: []bool{false, true}, HasFinal: []bool{true, true}, Final: []float64{2, 3, 4, 5},
	}
	if got := onePerson(d, 2); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v\nwant\n%+v", got, want)
	}
	if got := onePerson(d, 1); got.Episodes() != 0 || got.Rows() != 0 || got.Persons() != 1 {
		t.Errorf("a person without an episode: %+v", got)
	}
	names := []string{"PersonID", "EpisodeID", "Origin", "FirstRow", "Lacks"} // the last of tables that are written
	for v, i := reflect.ValueOf(*want), 0; i < v.NumField(); i++ {
		if v.Field(i).IsZero() && !slices.Contains(names, v.Type().Field(i).Name) {
			t.Errorf("column %s is not in this test, and a person alone may not have it", v.Type().Field(i).Name)
		}
	}
}
