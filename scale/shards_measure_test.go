//go:build slow && measure

package scale

import (
	"bytes"
	"flag"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
)

var (
	persons = flag.Int("persons", 13000, "persons of the measurement, about 77 rows each")
	pieces  = flag.Int("pieces", 8, "shards of the measurement")
)

// TestShardsMeasure prints the table of docs/results/scale.md, section Shards.
func TestShardsMeasure(t *testing.T) {
	start := time.Now()
	d, err := chain.Simulate(chain.Options{Episodes: *persons, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d rows of %d persons, simulated in %.1f s", d.Rows(), d.Persons(), time.Since(start).Seconds())
	s := newStage(t)
	start = time.Now()
	if s.shards, err = write(d, filepath.Join(s.dir, "large"), *pieces, [16]byte{1}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d shards written in %.1f s", *pieces, time.Since(start).Seconds())
	shared := []string{`data.path="large/*.parquet"`, fmt.Sprintf("problem.persons=%d", *persons), "problem.horizon=10000"}
	for name, overrides := range map[string][]string{
		"dp-wis":    nil,
		"dp-refine": {"method={name: dp-refine}", "target={kind: logged}", "data.behavior=null"},
	} {
		s.overrides = append(append([]string{}, shared...), overrides...)
		start := time.Now()
		want := s.inOneProcess(t, 5)
		whole := time.Since(start).Seconds()
		dr := s.driver(t)
		dr.Dir, dr.Engine = filepath.Join(s.dir, name), Local{}
		var rounds []time.Time
		dr.Progress = func(int) { rounds = append(rounds, time.Now()) }
		start = time.Now()
		r, err := dr.Evaluate(t.Context(), discreet.WithSource(noise.NewSeeded(5)))
		if err != nil {
			t.Fatal(err)
		}
		total, sums := time.Since(start).Seconds(), len(rounds)-1
		if !bytes.Equal(r.JSON, want) {
			t.Errorf("%s: the bytes differ", name)
		}
		t.Logf("%s: one process %.1f s; shards: check %.2f s, %d rounds of %.2f s, %.1f s in all; bytes equal %v", name, whole,
			rounds[1].Sub(rounds[0]).Seconds(), sums, time.Since(rounds[1]).Seconds()/float64(sums), total, bytes.Equal(r.JSON, want))
	}
}
