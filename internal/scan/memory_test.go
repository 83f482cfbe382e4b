package scan_test

import (
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/internal/scan"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/internal/yamlfile"
)

// Peaks in MB that `compare_scale.py DISCREET DIR 244200 1 memory` and `shapes` printed, of ten million rows, come
// back within a sixth.
func TestMemoryIsThatMeasured(t *testing.T) {
	const tabular = "features: {kind: tabular, states: 40, column: obs_state}\n"
	for _, c := range []struct {
		method, more string
		persons      int64
		want         float64
		kept         string
	}{
		{"dp-wis", "", 244200, 43, scan.Numbers}, {"dp-wis", "", 10012200, 256, scan.Numbers}, {"dp-pdis", "", 1001220, 61, scan.Numbers},
		{"dp-dr", tabular, 1001220, 101, scan.PackedRows}, {"dp-distribution", "", 244200, 60, scan.PackedRows},
		{"dp-fqe", tabular, 10012200, 416, scan.PackedRows}, {"dp-refine", tabular, 1001220, 90, scan.PackedRows},
		{"dp-refine", "features: {kind: fourier, order: 3, names: [obs_state, obs_x], low: [0, 0], high: [39, 1]}\n", 244200, 180, scan.PackedRows},
		{"gpope", tabular, 10012200, 2722, scan.AllRows},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "ask.yaml")
		text := "data: {path: none.csv, behavior: {source: logged}}\nproblem: {gamma: 0.99, reward: {min: 0, max: 1}, return: {min: 0, max: 1}, horizon: 400}\n" +
			"privacy: {adjacency: replace_one, epsilon: 1, delta: 1.0e-8}\ntarget: {kind: uniform, actions: 2}\n" + c.more + "method: {name: " + c.method + "}\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		asked, err := yamlfile.Load[config.Config](path, nil)
		if err != nil {
			t.Fatal(err)
		}
		asked.Problem.Persons = c.persons
		s, err := spec.New(asked)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := s.Plan()
		if err != nil {
			t.Fatalf("%s: %v", c.method, err)
		}
		m, err := scan.MemoryOf(asked, plan, 10012200)
		if got := float64(m.Bytes) / 1e6; err != nil || math.Abs(got/c.want-1) > 1./6 || m.Kept != c.kept {
			t.Errorf("%s, %d persons: %.0f MB, %s are kept, %v; want %v, %s", c.method, c.persons, got, m.Kept, err, c.want, c.kept)
		}
		asked.Data.Steps = &config.Steps{Sort: true}
		if more, err := scan.MemoryOf(asked, plan, 10012200); err != nil || more.Bytes-m.Bytes != 155e6 {
			t.Errorf("%s: to put rows in order takes %d bytes, %v", c.method, more.Bytes-m.Bytes, err)
		}
		for _, rows := range []int64{-1, 0, math.MaxInt64} {
			if m, err := scan.MemoryOf(asked, plan, rows); err == nil && m.Bytes <= 0 || err == nil && rows < 1 {
				t.Errorf("%d rows have %d bytes", rows, m.Bytes)
			}
		}
	}
}
