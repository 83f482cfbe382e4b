package file_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// Parts put one after another are the dataset that is read at once, in whole persons
// and with nothing left over in memory that is used again.
func TestPartsAreTheDataset(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var b trajectory.Builder
	for p := range 9000 {
		for range 1 + r.IntN(3) {
			e := trajectory.Episode{Person: p, Columns: []string{"obs_a", "obs_b"}, Terminated: r.IntN(2) == 0}
			for range 1 + r.IntN(4) {
				e.Obs = append(e.Obs, r.NormFloat64(), float64(p))
				e.Action, e.Reward, e.BehaviorProb = append(e.Action, int32(r.IntN(3))), append(e.Reward, r.Float64()), append(e.BehaviorProb, .5)
			}
			if !e.Terminated && r.IntN(500) == 0 {
				e.Final = []float64{1, 2}
			}
			b.Add(&e)
		}
	}
	path := filepath.Join(t.TempDir(), "x.csv")
	if err := file.Write(path, "", b.Dataset()); err != nil {
		t.Fatal(err)
	}
	o := trajectory.Options{Need: trajectory.Action | trajectory.BehaviorProb}
	want, _, err := file.Read(context.Background(), []string{path}, "", o)
	if err != nil {
		t.Fatal(err)
	}
	s, err := file.Open(context.Background(), []string{path}, "", o)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var d trajectory.Dataset
	person, episode, row, parts := 0, 0, 0, 0
	for {
		err := s.Part(&d)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		parts++
		for i, start := range d.PersonStart {
			if start+episode != want.PersonStart[person+i] {
				t.Fatalf("part %d: person %d starts at episode %d, want %d", parts, i, start+episode, want.PersonStart[person+i])
			}
		}
		for e := range d.Episodes() {
			w := episode + e
			if d.EpisodeStart[e+1]+row != want.EpisodeStart[w+1] || d.Ended(e) != want.Ended(w) || d.Origin[e] != want.Origin[w] || d.FirstRow[e] != want.FirstRow[w] {
				t.Fatalf("part %d: episode %d differs", parts, e)
			}
			if diff := cmp.Diff(want.FinalObservation(w), d.FinalObservation(e)); diff != "" {
				t.Fatalf("part %d: episode %d: %s", parts, e, diff)
			}
		}
		n := row + d.Rows()
		for _, diff := range []string{cmp.Diff(want.Obs[2*row:2*n], d.Obs), cmp.Diff(want.Action[row:n], d.Action), cmp.Diff(want.Reward[row:n], d.Reward), cmp.Diff(want.BehaviorProb[row:n], d.BehaviorProb)} {
			if diff != "" {
				t.Fatalf("part %d: %s", parts, diff)
			}
		}
		person, episode, row = person+d.Persons(), episode+d.Episodes(), n
	}
	if person != want.Persons() || row != want.Rows() || parts < 4 {
		t.Errorf("%d persons and %d rows in %d parts, want %d and %d", person, row, parts, want.Persons(), want.Rows())
	}
	if diff := cmp.Diff(want.PersonID, s.PersonIDs()); diff != "" {
		t.Error(diff)
	}
}
