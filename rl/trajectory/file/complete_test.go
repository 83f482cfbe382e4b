package file_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// TestCompleteDataLoseNothing refuses, and names, whatever would leave a row out or
// contradicts that every episode terminated, and reads other data as they are read anyway.
func TestCompleteDataLoseNothing(t *testing.T) {
	const good = "unit_id,episode_id,step,action,reward,terminated\na,1,0,1,1,false\na,1,1,0,1,true\nb,2,0,1,0,true\n"
	plain := func() trajectory.Options {
		return trajectory.Options{Unit: trajectory.UnitPerson, Need: trajectory.Action, Observations: []string{}, End: trajectory.EndTerminated, Horizon: 2, EpisodesPerPerson: 1, Reward: &trajectory.Range{Max: 1}}
	}
	for name, c := range map[string]struct {
		text   string
		change func(o *trajectory.Options)
		want   string
	}{
		"all there":             {good, nil, ""},
		"one row an episode":    {good, func(o *trajectory.Options) { o.OneRowEpisodes, o.EpisodesPerPerson = true, 0 }, ""},
		"no flags":              {strings.NewReplacer(",terminated", "", ",true", "", ",false", "").Replace(good), nil, ""},
		"cut off":               {strings.Replace(good, "0,1,0,true", "0,1,0,false", 1), nil, "4: terminated: is false in the last row of the episode, and problem.end"},
		"cut off, going by it":  {strings.Replace(good, "0,1,0,true", "0,1,0,false", 1), func(o *trajectory.Options) { o.End = trajectory.EndColumn }, "4: : the episode was cut off here, before decision 2"},
		"over at the horizon":   {strings.Replace(good, "1,0,1,true", "1,0,1,false", 1), func(o *trajectory.Options) { o.End = trajectory.EndColumn }, ""},
		"truncated":             {strings.Replace(strings.Replace(good, "terminated", "truncated", 1), "0,1,true", "0,1,false", 1), nil, "4: truncated: is true, and problem.end"},
		"beyond the horizon":    {good, func(o *trajectory.Options) { o.Horizon = 1 }, "2: : the person has more decisions or episodes than problem.horizon allows"},
		"beyond the episodes":   {strings.Replace(good, "b,2", "a,2", 1), func(o *trajectory.Options) { o.Horizon = 0 }, "4: : the person has more decisions or episodes than problem.episodes allows"},
		"no reward":             {strings.Replace(good, "0,1,0,true", "0,1,,true", 1), nil, "4: reward: is missing"},
		"no action, no reward":  {strings.Replace(good, "1,0,1,true", "1,,,true", 1), nil, "3: reward: is missing, as is the action"},
		"a reward out of range": {strings.Replace(good, "0,1,0,true", "0,1,7,true", 1), nil, "4: reward: is outside"},
		"a reward that is cut":  {strings.Replace(good, "0,1,0,true", "0,1,7,true", 1), func(o *trajectory.Options) { o.ClipRewards = true }, ""},
	} {
		for _, faults := range []int{0, 20} {
			o := plain()
			if c.change != nil {
				c.change(&o)
			}
			path := put(t, "log.csv", c.text)
			o.Complete, o.Faults = true, faults
			_, _, err := file.Read(context.Background(), []string{path}, "", o)
			want := c.want
			if want != "" {
				row, rest, _ := strings.Cut(want, ": ")
				want = strings.TrimPrefix(rest, ": ")
				if err == nil || !errors.Is(err, trajectory.ErrInput) || !strings.Contains(err.Error(), ":"+row+":") || !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %v; want row %s, %q", name, err, row, want)
				}
			} else if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	o := plain()
	o.Complete, o.Repair = true, true
	if !errors.Is(o.Validate(), trajectory.ErrOptions) {
		t.Error("complete data may be repaired")
	}
}
