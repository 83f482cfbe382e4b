package file_test

import (
	"context"
	"errors"
	"io"
	"reflect"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// TestLeftOutEpisodesCount towards the caps, so that a later one does not take the place of one
// that cannot be used, and are counted by person, whether the data are read at once, by parts
// or put together.
func TestLeftOutEpisodesCount(t *testing.T) {
	// The second episode of a has no reward, nor has the only one of b; c has nothing of it.
	const sorted = "unit_id,episode_id,step,action,reward\na,1,0,0,1\na,2,0,0,\na,2,1,0,1\na,3,0,0,1\na,4,0,0,1\nb,5,0,0,\nc,6,0,0,1\n"
	const apart = "unit_id,episode_id,step,action,reward\na,1,0,0,1\nb,5,0,0,\na,2,0,0,\na,2,1,0,1\nc,6,0,0,1\na,3,0,0,1\na,4,0,0,1\n"
	for name, c := range map[string]struct {
		horizon, episodes int
		start, left       []int
	}{
		"no cap":         {0, 0, []int{0, 3, 3, 4}, []int{1, 1, 0}},
		"three episodes": {0, 3, []int{0, 2, 2, 3}, []int{1, 1, 0}},
		"two episodes":   {0, 2, []int{0, 1, 1, 2}, []int{1, 1, 0}},
		"one episode":    {0, 1, []int{0, 1, 1, 2}, []int{0, 1, 0}},
		"four decisions": {4, 0, []int{0, 2, 2, 3}, []int{1, 1, 0}},
		"two decisions":  {2, 0, []int{0, 1, 1, 2}, []int{1, 1, 0}},
	} {
		for _, text := range []string{sorted, apart} {
			o := trajectory.Options{Unit: trajectory.UnitPerson, Need: trajectory.Action, Observations: []string{}, Repair: true,
				Reward: &trajectory.Range{Max: 1}, ClipRewards: true, Horizon: c.horizon, EpisodesPerPerson: c.episodes}
			path := put(t, "log.csv", text)
			d, _, err := file.Read(context.Background(), []string{path}, "", o)
			if err != nil {
				t.Fatal(err)
			}
			left := d.LeftOut
			if left == nil {
				left = make([]int, d.Persons())
			}
			if !reflect.DeepEqual(d.PersonStart, c.start) || !reflect.DeepEqual(left, c.left) {
				t.Errorf("%s: episodes %v, left out %v; want %v and %v", name, d.PersonStart, left, c.start, c.left)
			}
			s, err := file.Open(context.Background(), []string{path}, "", o)
			if err != nil {
				t.Fatal(err)
			}
			part := &trajectory.Dataset{}
			if err = s.Part(part); s.Apart() {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				if s, err = file.Open(context.Background(), []string{path}, "", o); err != nil {
					t.Fatal(err)
				}
				if _, err := s.Together(context.Background()); err != nil {
					t.Fatal(err)
				}
				err = s.Part(part)
			}
			var got, want []int
			for ; err == nil; err = s.Part(part) {
				for p := range part.Persons() {
					got = append(got, part.Counted(p))
				}
			}
			if !errors.Is(err, io.EOF) {
				t.Fatal(err)
			}
			for p := range c.left {
				want = append(want, c.start[p+1]-c.start[p]+c.left[p])
			}
			slices.Sort(got) // persons who are put together come in another order
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s, by parts: %v episodes a person; want %v", name, got, want)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
