package figure_test

import (
	"context"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/discreet-rl/discreet/internal/papers/figure"
)

// The page tells a sentence once, with its readings, and names what does not hold.
func TestPageTellsWhatHolds(t *testing.T) {
	dir := t.TempDir()
	s := study(3, new(atomic.Int64), never)
	four := 4.
	s.Items[0].Claims = func(t *figure.Table) []figure.Claim {
		mean := t.At("p", "s", 10).Mean
		return []figure.Claim{
			{ID: "low", Claim: "It is small | low.", Holds: true, Ours: mean, Note: "mean; all of it"},
			{ID: "high", Claim: "It is small | low.", Ours: 2 * mean, PaperValue: &four, StdErr: .5, Note: "twice the mean; judged at 3"},
		}
	}
	empty := s.Items[0]
	empty.Name, empty.Jobs = "later", func(bool) []figure.Job {
		return []figure.Job{{Key: "x", Cost: 1e9, Run: func(ctx context.Context) ([]figure.Sample, error) { return nil, nil }}}
	}
	s.Items = append(s.Items, empty)
	o := figure.Options{Dir: t.TempDir(), Page: dir, Items: []string{"numbers"}}
	if _, err := figure.Run(t.Context(), s, o); err != nil {
		t.Fatal(err)
	}
	page := read(t, dir, "test.md")
	for _, want := range []string{
		"Of 2 claims 1 hold",
		"| It is small \\| low. | 1 of 2 readings |",
		"- It is small | low. 1 of 2 readings do not hold, of which the first: **4 (0.5)**, paper 4: twice the mean (`high`)",
		"| It is small \\| low. | **no** | 4 | 4 (0.5) | twice the mean; judged at 3 | `high` |",
		"| Numbers | `later` | fewer than 2, so not drawn | |",
		"![Numbers](test-numbers.svg)",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q:\n%s", want, page)
		}
	}
	if svg := read(t, dir, "test-numbers.svg"); !strings.Contains(svg, "</svg>") {
		t.Error("the picture is not whole")
	}
	if _, err := os.Stat(dir + "/test-later.svg"); err == nil {
		t.Error("an item without trials has a picture")
	}
}
