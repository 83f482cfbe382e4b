package trajectory_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// A dataset is the episodes that went in, sorted by person without changing
// the order of a person's own. The oracle sorts them one by one.
func TestBuilderGroupsEpisodes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		width := rapid.IntRange(0, 3).Draw(t, "width")
		columns := []string{"obs_a", "obs_b", "obs_c"}[:width]
		type episode struct {
			obs, reward, final []float64
			terminated         bool
		}
		byPerson := map[int][]episode{}
		persons := 0
		var b trajectory.Builder
		next := 0.0
		for range rapid.IntRange(1, 12).Draw(t, "episodes") {
			p := rapid.IntRange(0, persons).Draw(t, "person")
			persons = max(persons, p+1)
			// Some episodes are longer than a chunk of a column.
			n := rapid.SampledFrom([]int{1, 2, 3, 4095, 4096, 5000}).Draw(t, "rows")
			e := trajectory.Episode{Person: p, Columns: columns, Terminated: rapid.Bool().Draw(t, "terminated"), Obs: []float64{}}
			for range n {
				next++
				e.Reward = append(e.Reward, next)
				for k := range width {
					e.Obs = append(e.Obs, next+float64(k)/8)
				}
			}
			if width > 0 && rapid.Bool().Draw(t, "final") {
				e.Final = e.Obs[:width]
			}
			b.Add(&e)
			byPerson[p] = append(byPerson[p], episode{e.Obs, e.Reward, e.Final, e.Terminated})
		}
		d := b.Dataset()
		if d.Persons() != persons {
			t.Fatalf("%d persons, want %d", d.Persons(), persons)
		}
		at := 0
		for p := range persons {
			if got := d.PersonStart[p+1] - d.PersonStart[p]; got != len(byPerson[p]) {
				t.Fatalf("person %d has %d episodes, want %d", p, got, len(byPerson[p]))
			}
			for _, want := range byPerson[p] {
				lo, hi := d.EpisodeStart[at], d.EpisodeStart[at+1]
				got := episode{d.Obs[lo*width : hi*width], d.Reward[lo:hi], d.FinalObservation(at), d.Terminated[at]}
				if !reflect.DeepEqual(want, got) { // far faster than to look for the difference
					t.Fatalf("episode %d: (-added +kept)\n%s", at, cmp.Diff(want, got, cmp.AllowUnexported(episode{})))
				}
				at++
			}
		}
		if at != d.Episodes() || d.Rows() != int(next) {
			t.Fatalf("%d episodes and %d rows, want %d and %v", d.Episodes(), d.Rows(), at, next)
		}
	})
}

func TestBuilderOfNothing(t *testing.T) {
	var b trajectory.Builder
	d := b.Dataset()
	if d.Persons() != 0 || d.Episodes() != 0 || d.Rows() != 0 {
		t.Errorf("%+v", d)
	}
}

// An episode that was left out adds its person, wherever it stands, and its parts.
func TestBuilderKeepsPersonsWhoseEpisodesWereLeftOut(t *testing.T) {
	none := func(person int) trajectory.Episode {
		return trajectory.Episode{Person: person, Columns: []string{"obs_a"}, Obs: []float64{}, Reward: []float64{}, Action: []int32{}}
	}
	one := func(person int) trajectory.Episode {
		return trajectory.Episode{Person: person, Columns: []string{"obs_a"}, Obs: []float64{1}, Reward: []float64{float64(person)}, Action: []int32{1}}
	}
	var b trajectory.Builder
	for _, e := range []trajectory.Episode{none(0), one(1), none(2), one(1), one(3), none(1), none(4)} {
		b.Add(&e)
	}
	d := b.Dataset()
	if diff := cmp.Diff([]int{0, 0, 2, 2, 3, 3}, d.PersonStart); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]float64{1, 1, 3}, d.Reward); diff != "" {
		t.Error(diff)
	}
	e := none(0)
	b.Add(&e)
	if d := b.Dataset(); d.Persons() != 1 || d.Rows() != 0 || d.Action == nil || len(d.Columns) != 1 {
		t.Errorf("%+v; want a person, and columns", d)
	}
}

// Episodes are left out of a dataset with their rows, and persons are not.
func TestLeaveOut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var all, kept trajectory.Builder
		number := 0
		for p := range rapid.IntRange(1, 4).Draw(t, "persons") {
			for range rapid.IntRange(1, 3).Draw(t, "episodes") {
				e := trajectory.Episode{Person: p, Columns: []string{"obs_a"}, Terminated: rapid.Bool().Draw(t, "terminated")}
				bad := false
				for range rapid.IntRange(1, 3).Draw(t, "rows") {
					number++
					e.Obs, e.Reward, e.Action = append(e.Obs, float64(number)), append(e.Reward, float64(number)), append(e.Action, int32(rapid.IntRange(0, 3).Draw(t, "action")))
					bad = bad || e.Action[len(e.Action)-1] == 0
				}
				if rapid.Bool().Draw(t, "final") {
					e.Final = []float64{-float64(number)}
				}
				all.Add(&e)
				if bad {
					e = trajectory.Episode{Person: p, Columns: e.Columns, Obs: []float64{}, Reward: []float64{}, Action: []int32{}, Final: e.Common()}
				}
				kept.Add(&e)
			}
		}
		d, want := all.Dataset(), kept.Dataset()
		got, n := d.LeaveOut(func(row int) bool { return d.Action[row] == 0 })
		if n != d.Episodes()-want.Episodes() {
			t.Fatalf("%d left out of %d, and %d stay", n, d.Episodes(), want.Episodes())
		}
		none := want.HasFinal == nil && !slices.Contains(got.HasFinal, true)
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmp.FilterPath(func(p cmp.Path) bool {
			return none && (p.String() == "Final" || p.String() == "HasFinal")
		}, cmp.Ignore()), cmpopts.EquateNaNs()); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestBuilderPanicsOnMisuse(t *testing.T) {
	ok := trajectory.Episode{Columns: []string{"obs_a"}, Obs: []float64{1}, Reward: []float64{1}}
	for name, change := range map[string]func(e *trajectory.Episode){
		"columns":       func(e *trajectory.Episode) { e.Columns = []string{"obs_b"} },
		"length":        func(e *trajectory.Episode) { e.Obs = []float64{1, 2} },
		"person":        func(e *trajectory.Episode) { e.Person = 2 },
		"short action":  func(e *trajectory.Episode) { e.Obs, e.Reward = []float64{1, 2}, []float64{1, 2} },
		"one part more": func(e *trajectory.Episode) { e.Discount = []float64{1} },
		"one part less": func(e *trajectory.Episode) { e.Action = nil },
		"unknown end":   func(e *trajectory.Episode) { e.EndUnknown = true },
		"final":         func(e *trajectory.Episode) { e.Final = []float64{1, 2} },
	} {
		t.Run(name, func(t *testing.T) {
			var b trajectory.Builder
			e := ok
			e.Action = []int32{0}
			b.Add(&e)
			change(&e)
			defer func() {
				if p := recover(); p == nil || !strings.HasPrefix(fmt.Sprint(p), "trajectory: ") {
					t.Errorf("panic %v", p)
				}
			}()
			b.Add(&e)
		})
	}
}

// Names go with their episodes and persons when episodes are put in the order of
// persons, also where the numbers of the names leave gaps.
func TestBuilderNames(t *testing.T) {
	add := func(b *trajectory.Builder, person, number, file int, reward float64) {
		b.Add(&trajectory.Episode{Person: person, Number: number, File: file, Row: number + 1, Reward: []float64{reward}})
	}
	files, episodes, persons := []string{"f", "g"}, []string{"e0", "e1", "e2", "e3"}, []string{"ann", "bob"}
	for _, c := range []struct {
		name          string
		add           func(b *trajectory.Builder)
		ids, origin   []string
		rewards       []float64
		names, people []string
	}{
		{"in turn", func(b *trajectory.Builder) { add(b, 0, 0, 0, 1); add(b, 1, 1, 1, 2) }, []string{"e0", "e1"}, []string{"f", "g"}, []float64{1, 2}, episodes[:2], persons},
		{"a gap", func(b *trajectory.Builder) { add(b, 0, 1, 0, 1); add(b, 1, 3, 1, 2) }, []string{"e1", "e3"}, []string{"f", "g"}, []float64{1, 2}, episodes, persons},
		{"out of turn", func(b *trajectory.Builder) { add(b, 0, 1, 0, 1); add(b, 1, 0, 1, 2) }, []string{"e1", "e0"}, []string{"f", "g"}, []float64{1, 2}, episodes[:2], persons},
		{"apart", func(b *trajectory.Builder) { add(b, 0, 0, 0, 1); add(b, 1, 1, 0, 2); add(b, 0, 2, 1, 3) }, []string{"e0", "e2", "e1"}, []string{"f", "g", "f"}, []float64{1, 3, 2}, episodes[:3], persons},
		{"rows", func(b *trajectory.Builder) { add(b, 0, -1, 0, 1); add(b, 1, -1, 1, 2) }, nil, []string{"f", "g"}, []float64{1, 2}, nil, nil},
	} {
		var b trajectory.Builder
		c.add(&b)
		d := b.Named(files, func() (_, _ []string) { return c.names, c.people })
		if diff := cmp.Diff([]any{c.ids, c.origin, c.rewards, c.people}, []any{d.EpisodeID, d.Origin, d.Reward, d.PersonID}); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", c.name, diff)
		}
	}
	for name, wrong := range map[string]func(b *trajectory.Builder){
		"a file": func(b *trajectory.Builder) { add(b, 0, 0, 1<<16, 1) }, "a number": func(b *trajectory.Builder) { add(b, 0, -2, 0, 1) },
		"a person": func(b *trajectory.Builder) {
			add(b, 0, 0, 0, 1)
			add(b, 1, 1, 0, 1)
			b.Named(files, func() (_, _ []string) { return episodes, persons[:1] })
		},
		"no name": func(b *trajectory.Builder) {
			add(b, 0, 4, 0, 1)
			b.Named(files, func() (_, _ []string) { return episodes, persons })
		},
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s without a name is taken", name)
				}
			}()
			var b trajectory.Builder
			wrong(&b)
		}()
	}
}
