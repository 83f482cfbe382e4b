package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ingest"
)

// Caps hold where all episodes are in one batch and nothing is wrong with them, by episodes and
// by parts.
func TestCapsWhereNothingIsWrong(t *testing.T) {
	var log strings.Builder
	log.WriteString("unit_id,episode_id,step,obs_x,reward,terminated\n")
	for p := range 3 {
		for e := range 3 {
			for step := range 2 {
				fmt.Fprintf(&log, "%d,%d,%d,1,1,%v\n", p, 3*p+e, step, step == 1)
			}
		}
	}
	for name, c := range map[string]struct {
		o         trajectory.Options
		decisions int // of each
	}{
		"none":              {trajectory.Options{}, 6},
		"episodes":          {trajectory.Options{EpisodesPerPerson: 2}, 4},
		"decisions":         {trajectory.Options{Horizon: 3}, 3},
		"one of an episode": {trajectory.Options{EpisodeDecisions: 1}, 3},
	} {
		s, check := stream(t, c.o, 100, log.String())
		d, _, err := ingest.Collect(s)
		if err != nil {
			t.Fatal(err)
		}
		check()
		var part trajectory.Dataset
		byParts, check := stream(t, c.o, 100, log.String())
		if err := byParts.Part(&part); err != nil {
			t.Fatal(err)
		}
		byParts.Close()
		check()
		for way, d := range map[string]*trajectory.Dataset{"by episodes": d, "by parts": &part} {
			for p := range d.Persons() {
				if n := d.EpisodeStart[d.PersonStart[p+1]] - d.EpisodeStart[d.PersonStart[p]]; n != c.decisions {
					t.Errorf("%s, %s: person %d has %d decisions; want %d", name, way, p, n, c.decisions)
				}
			}
		}
	}
}
