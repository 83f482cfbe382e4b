package scale

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Shards of rows in any order are those of the same rows in another, byte by byte.
func TestShardsOfRowsInAnyOrder(t *testing.T) {
	l := newLog(40, 3)
	rows := strings.SplitAfter(strings.Join(l.episodes, ""), "\n")
	rows = rows[:len(rows)-1]
	shards := func(rows []string, files int) [][]byte {
		t.Helper()
		l := log{header: l.header, episodes: rows}
		dir := filepath.Join(t.TempDir(), "shards")
		s := Sharding{Data: l.in(t, files), Dir: dir, Shards: 3, Options: trajectory.Options{Optional: trajectory.AllParts, Missing: trajectory.MissingZero, Steps: trajectory.Steps{Sort: true}}}
		names, err := s.write(t.Context(), fixedKey)
		if err != nil {
			t.Fatal(err)
		}
		var all [][]byte
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, text)
		}
		return all
	}
	want := shards(rows, 1)
	rand.New(rand.NewPCG(1, 1)).Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	for i, got := range shards(rows, 2) {
		if !bytes.Equal(got, want[i]) {
			t.Errorf("shard %d differs", i)
		}
	}
	s := Sharding{Data: l.in(t, 2), Dir: filepath.Join(t.TempDir(), "shards"), Shards: 3, Options: trajectory.Options{Steps: trajectory.Steps{Sort: true}}}
	if _, err := s.Spread(t.Context(), func(context.Context, string, []string, int) error { return nil }); !errors.Is(err, trajectory.ErrOptions) || !strings.Contains(err.Error(), "to sort rows takes all of them") {
		t.Error(err)
	}
}
