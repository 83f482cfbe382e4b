package file_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// mixed makes episodes of many lengths, some far longer than a batch of rows,
// whose persons take turns, in the order of a file.
func mixed() []trajectory.Episode {
	r := rand.New(rand.NewPCG(5, 6))
	var all []trajectory.Episode
	for i, n := range []int{1, 1023, 1024, 1025, 1, 2, 3000, 1, 511, 512, 513, 2048, 1, 7, 5000, 1} {
		e := trajectory.Episode{Person: i % 3, Columns: []string{"obs_x", "obs_y"}, Terminated: i%2 == 0}
		for range n {
			e.Obs = append(e.Obs, r.NormFloat64(), r.ExpFloat64())
			e.Reward = append(e.Reward, r.Float64())
			e.Action = append(e.Action, int32(r.IntN(5)))
		}
		if i%4 != 3 {
			e.Final = []float64{r.Float64(), r.Float64()}
		}
		all = append(all, e)
	}
	return all
}

// writeInOrder writes episodes as they come, without grouping them by person:
// each is a person of its own in the dataset that is written, under the names
// of the persons it has in truth.
func writeInOrder(t *testing.T, ext string, all []trajectory.Episode) string {
	t.Helper()
	var b trajectory.Builder
	var persons, episodes []string
	for i, e := range all {
		persons = append(persons, fmt.Sprintf("person %d", e.Person))
		episodes = append(episodes, fmt.Sprintf("episode %d", i))
		e.Person = i
		b.Add(&e)
	}
	d := b.Dataset()
	d.PersonID, d.EpisodeID = persons, episodes
	path := filepath.Join(t.TempDir(), "x"+ext)
	if err := file.Write(path, "", d); err != nil {
		t.Fatal(err)
	}
	return path
}

// Episodes come off a stream as they went into the file, across batches, and
// collecting them is the same as building the dataset of them.
func TestStreamYieldsEpisodesInFileOrder(t *testing.T) {
	all := mixed()
	for _, ext := range []string{".csv", ".parquet"} {
		path := writeInOrder(t, ext, all)
		o := trajectory.Options{Need: trajectory.Action, Optional: trajectory.Final}
		s, err := file.Open(context.Background(), []string{path}, "", o)
		if err != nil {
			t.Fatal(err)
		}
		row := 1
		if ext == ".csv" {
			row = 2 // after the header
		}
		for i, want := range all {
			got, err := s.Next()
			if err != nil {
				t.Fatalf("%s: episode %d: %v", ext, i, err)
			}
			if got.Person != want.Person || got.Row != row || got.Terminated != want.Terminated || !slices.Equal(got.Obs, want.Obs) ||
				!slices.Equal(got.Reward, want.Reward) || !slices.Equal(got.Action, want.Action) || !slices.Equal(got.Final, want.Final) {
				t.Fatalf("%s: episode %d differs", ext, i)
			}
			row += want.Len()
		}
		for range 2 {
			if _, err := s.Next(); err != io.EOF {
				t.Fatalf("%s: after the last episode: %v", ext, err)
			}
		}
		if s.Persons() != 3 {
			t.Errorf("%s: %d persons", ext, s.Persons())
		}

		var b trajectory.Builder
		for i := range all {
			b.Add(&all[i])
		}
		want := b.Dataset()
		got, _, err := file.Read(context.Background(), []string{path}, "", o)
		if err != nil {
			t.Fatal(err)
		}
		want.PersonID, want.EpisodeID = got.PersonID, got.EpisodeID
		if diff := cmp.Diff(want, got, origins); diff != "" {
			t.Errorf("%s: (-built +read)\n%s", ext, diff)
		}
	}
}

// Streaming allocates nothing per row or per episode: what it allocates for a
// long file is the buffers and the table of names, which grows by doubling.
func TestStreamingDoesNotAllocatePerRow(t *testing.T) {
	for _, ext := range []string{".csv", ".parquet"} {
		const rows = 100_000
		path := filepath.Join(t.TempDir(), "x"+ext)
		if err := file.Write(path, "", generate(rows, 10, true)); err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		sum, err := file.Validate(context.Background(), []string{path}, "", trajectory.Options{Optional: trajectory.AllParts})
		runtime.ReadMemStats(&after)
		if err != nil || sum.Rows != rows || sum.Episodes != rows/10 || sum.Persons != rows/10 {
			t.Fatal(sum, err)
		}
		if n := after.Mallocs - before.Mallocs; n > rows/20 {
			t.Errorf("%s: %d allocations for %d rows", ext, n, rows)
		}
	}
}

// What is kept of a person does not depend on anybody else: with the episodes
// of the others taken out of the file, the same decisions remain.
func TestCapsLookAtNobodyElse(t *testing.T) {
	all := mixed()
	for _, o := range []trajectory.Options{{Horizon: 1}, {Horizon: 1030}, {Horizon: 4000, EpisodesPerPerson: 3}, {EpisodesPerPerson: 2}} {
		whole, _, err := file.Read(context.Background(), []string{writeInOrder(t, ".csv", all)}, "", o)
		if err != nil {
			t.Fatal(err)
		}
		for p := range 3 {
			var own []trajectory.Episode
			for _, e := range all {
				if e.Person == p {
					own = append(own, e)
				}
			}
			alone, _, err := file.Read(context.Background(), []string{writeInOrder(t, ".csv", own)}, "", o)
			if err != nil {
				t.Fatal(err)
			}
			lo, hi := whole.EpisodeStart[whole.PersonStart[p]], whole.EpisodeStart[whole.PersonStart[p+1]]
			if !slices.Equal(whole.Reward[lo:hi], alone.Reward) {
				t.Errorf("%+v: person %d keeps %d decisions in company and %d alone", o, p, hi-lo, alone.Rows())
			}
			if o.Horizon > 0 && hi-lo > o.Horizon {
				t.Errorf("%+v: person %d keeps %d decisions", o, p, hi-lo)
			}
			if k := whole.PersonStart[p+1] - whole.PersonStart[p]; o.EpisodesPerPerson > 0 && k > o.EpisodesPerPerson {
				t.Errorf("%+v: person %d keeps %d episodes", o, p, k)
			}
		}
	}
}
