//go:build slow

package discreet_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
)

// TestTheDisclosureSaysWhereRowsCanBe: a run that put rows into temporary files says that
// it could, also where it did not, since that depends on the data; and where there is no
// place for such files, runs that say that they write no copy are not touched by it.
func TestTheDisclosureSaysWhereRowsCanBe(t *testing.T) {
	sorted, apart := twice(t, manyPersons, true, nil), twice(t, manyPersons, false, nil)
	nowhere := filepath.Join(t.TempDir(), "none")
	for _, c := range []struct {
		method string
		change func(c *config.Config)
		may    bool
	}{
		{"dp-wis", nil, true},
		{"dp-is", nil, true},
		{"dp-dr", nil, false},
		{"dp-wis", func(c *config.Config) {
			c.Target = config.Target{}
			c.Method.Params = nil
			c.Targets = []config.NamedTarget{{Name: "a", Kind: "uniform", Actions: 2}, {Name: "b", Kind: "uniform", Actions: 3}}
		}, false},
	} {
		run := func(dir string) (disclosure *evaluate.Disclosure, onDisk, wanted bool) {
			t.Helper()
			cfg := manyConfig(dir)
			cfg.Method.Name = c.method
			if c.change != nil {
				c.change(&cfg)
			}
			r, err := discreet.Evaluate(t.Context(), cfg, discreet.WithSource(noise.NewSeeded(7)))
			if err != nil {
				t.Fatalf("%s: %v", c.method, err)
			}
			says := func(words string) bool {
				return slices.ContainsFunc(r.Notices, func(n string) bool { return strings.Contains(n, words) })
			}
			return r.Release.Disclosure, says("which are gone, until all"), says("to be kept on disk")
		}
		_, check := emptyTemporary(t)
		for _, dir := range []string{sorted, apart} {
			d, onDisk, _ := run(dir)
			check()
			if onDisk != (c.may && dir == apart) {
				t.Errorf("%s: rows were on disk: %v", c.method, onDisk)
			}
			if strings.Contains(d.Security, "temporary files") != c.may {
				t.Errorf("%s: %s", c.method, d.Security)
			}
			if onDisk && strings.Contains(d.Security, "writes no copy") {
				t.Errorf("%s: rows were on disk, and %s", c.method, d.Security)
			}
		}
		t.Setenv("TMPDIR", nowhere)
		if _, onDisk, wanted := run(apart); onDisk || wanted != c.may {
			t.Errorf("%s: without a place for files rows were on disk: %v, wanted there: %v", c.method, onDisk, wanted)
		}
	}
}
