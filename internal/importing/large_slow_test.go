//go:build slow

package importing_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/internal/importing"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// Persons whose rows do not fit into memory at one time, with their episodes in turns, come
// out one after another, each with its episodes in their own order.
func TestPersonsBeyondMemory(t *testing.T) {
	const persons, episodes, rows = 3, 2500, 100
	dir := t.TempDir()
	path := filepath.Join(dir, "raw.csv")
	raw, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := bufio.NewWriter(raw)
	fmt.Fprintln(w, "unit_id,episode_id,step,obs_a,obs_b,obs_c,obs_d,obs_e,reward,terminated")
	for e := range episodes {
		for p := range persons {
			for s := range rows {
				fmt.Fprintf(w, "p%d,%d-%d,%d,%d,%d,1,2,3,%d,%t\n", persons-p, p, e, s, e, s, p, s == rows-1)
			}
		}
	}
	if err := errors.Join(w.Flush(), raw.Close()); err != nil {
		t.Fatal(err)
	}
	c := config.Config{Privacy: config.Privacy{None: true}, Data: config.Data{Path: config.Names{path}}}
	table := filepath.Join(dir, "table.parquet")
	m, _, err := importing.Import(t.Context(), importing.Order{Config: c, Table: table})
	if err != nil || m.Persons != persons || m.Episodes != persons*episodes || m.Rows != persons*episodes*rows {
		t.Fatalf("%+v, %v", m, err)
	}
	in, err := file.Open(t.Context(), []string{table}, "", trajectory.Options{})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for ; ; n++ {
		e, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		p, at := persons-1-n/episodes, n%episodes
		if e.Person != n/episodes || e.Len() != rows || e.Reward[0] != float64(p) || e.Obs[0] != float64(at) || e.Obs[5*(rows-1)+1] != rows-1 {
			t.Fatalf("episode %d: person %d, %d rows, reward %g, observations %v", n, e.Person, e.Len(), e.Reward[0], e.Obs[:5])
		}
	}
	if n != persons*episodes {
		t.Errorf("%d episodes, want %d", n, persons*episodes)
	}
}
