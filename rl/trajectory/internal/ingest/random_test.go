package ingest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// told is one episode as it was logged, and then as it should be read.
type told struct {
	Person, Name, File string
	Row                int
	Obs, Reward        []float64
	Final              []float64
	Terminated         bool
}

// A random log over files and batches against a reading of it by hand: persons in
// the order of their first episode, the first decisions and episodes of each as
// far as the caps go, and the observation that follows where it is known.
func TestRandomLogs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := trajectory.Options{Horizon: rapid.IntRange(0, 5).Draw(t, "horizon"), EpisodesPerPerson: rapid.IntRange(0, 3).Draw(t, "episodes a person")}
		if rapid.Bool().Draw(t, "episodes are units") {
			o.Unit = trajectory.UnitEpisode
		}
		const header = "unit_id,episode_id,step,obs_x,action,reward,terminated\n"
		files := []string{header}
		finals := rapid.Bool().Draw(t, "finals")
		var log []told
		row := 0
		for e := range rapid.IntRange(1, 9).Draw(t, "episodes") {
			if e > 0 && rapid.IntRange(0, 3).Draw(t, "new file") == 0 {
				files, row = append(files, header), 0
			}
			ep := told{Person: rapid.SampledFrom([]string{"ann", "bob", "cai"}).Draw(t, "person"), Name: fmt.Sprint("e", e),
				File: string(rune('a' + len(files) - 1)), Row: row + 1, Terminated: rapid.Bool().Draw(t, "terminated")}
			n, final := rapid.IntRange(1, 5).Draw(t, "rows"), finals && rapid.Bool().Draw(t, "final")
			var text strings.Builder
			for i := range n {
				x, r := float64(100*e+i), float64(rapid.IntRange(-9, 9).Draw(t, "reward"))
				ep.Obs, ep.Reward = append(ep.Obs, x), append(ep.Reward, r)
				fmt.Fprintf(&text, "%s,%s,%d,%v,0,%v,%v\n", ep.Person, ep.Name, i, x, r, ep.Terminated && i == n-1)
			}
			row += n
			if final {
				ep.Final = []float64{float64(100*e + n)}
				fmt.Fprintf(&text, "%s,%s,,%v,,,\n", ep.Person, ep.Name, ep.Final[0])
				row++
			}
			files[len(files)-1] += text.String()
			if o.Unit == trajectory.UnitEpisode {
				ep.Person = ep.Name
			}
			log = append(log, ep)
		}
		want := byHand(log, o)
		d, _, err := collect(o, rapid.IntRange(1, 12).Draw(t, "batch"), files)
		if err != nil {
			t.Fatal(err)
		}
		var got []told
		for p := range d.Persons() {
			for e := d.PersonStart[p]; e < d.PersonStart[p+1]; e++ {
				lo, hi := d.EpisodeStart[e], d.EpisodeStart[e+1]
				got = append(got, told{d.PersonID[p], d.EpisodeID[e], d.Origin[e], d.FirstRow[e], d.Obs[lo:hi], d.Reward[lo:hi], d.FinalObservation(e), d.Ended(e)})
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-by hand +read)\n%s\n%s", diff, strings.Join(files, "\n"))
		}
	})
}

// byHand applies the caps to one person after another.
func byHand(log []told, o trajectory.Options) []told {
	var persons []string
	seen := map[string]bool{}
	for _, e := range log {
		if !seen[e.Person] {
			seen[e.Person] = true
			persons = append(persons, e.Person)
		}
	}
	var out []told
	for _, person := range persons {
		decisions, episodes := 0, 0
		for _, e := range log {
			left := o.Horizon - decisions
			if e.Person != person || o.EpisodesPerPerson > 0 && episodes == o.EpisodesPerPerson || o.Horizon > 0 && left == 0 {
				continue
			}
			if o.Horizon > 0 && len(e.Reward) > left {
				e.Final, e.Terminated = e.Obs[left:left+1:left+1], false
				e.Obs, e.Reward = e.Obs[:left], e.Reward[:left]
			}
			decisions, episodes = decisions+len(e.Reward), episodes+1
			out = append(out, e)
		}
	}
	return out
}
