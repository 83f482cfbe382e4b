//go:build slow

package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/papers/figure"
)

// Stored trials of all papers are those of the code as it is, and pages of papers that are whole are what they make: who resumes from them is not refused.
func TestStoredTrialsAreOfThisCode(t *testing.T) {
	results := filepath.Join("..", "..", "docs", "results")
	for _, s := range reproductions() {
		dir := t.TempDir()
		stored, err := os.ReadFile(filepath.Join(results, "trials", s.Paper+".ndjson"))
		if err != nil {
			t.Fatal(err)
		}
		o := figure.Options{Dir: filepath.Join(dir, "out"), Page: filepath.Join(dir, "pages"), Store: filepath.Join(dir, s.Paper+".ndjson"), Budget: time.Nanosecond, Commit: "test"}
		if err := os.WriteFile(o.Store, stored, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Mkdir(o.Page, 0o700); err != nil {
			t.Fatal(err)
		}
		r, err := figure.Run(t.Context(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		if r.Left > 0 {
			continue // a budget of nothing begins a trial a core, which the page does not have
		}
		drawn, err := os.ReadDir(o.Page)
		if err != nil || len(drawn) < 4 {
			t.Fatalf("%s: %d files (%v)", s.Paper, len(drawn), err)
		}
		for _, f := range drawn {
			got, err := os.ReadFile(filepath.Join(o.Page, f.Name()))
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(filepath.Join(results, "papers", f.Name()))
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s is not what the stored trials make (%v): discreet reproduce %s --resume docs/results/trials --page docs/results/papers -o out", f.Name(), err, s.Paper)
			}
		}
	}
}
