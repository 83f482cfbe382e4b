package cli

import (
	"strings"
	"testing"
)

// TestWhatIsExpectedIsNoFalseWidth: an interval that nobody can forecast has no half width of 0, and only one that counts
// what is missing is told without that it does not.
func TestWhatIsExpectedIsNoFalseWidth(t *testing.T) {
	for _, c := range []struct {
		half    float64
		counted bool
		want    string
	}{
		{0, false, "joint interval not forecast"},
		{0, true, "joint interval not forecast"},
		{0.25, true, "joint interval about 0.25"},
		{0.25, false, "joint interval about 0.25, without missing mass"},
	} {
		if got := aboutAnswer("a", 0.1, 0, c.half, "joint", c.counted); !strings.HasSuffix(got, c.want) {
			t.Errorf("half width %g, counted %v: %q; want %q at its end", c.half, c.counted, got, c.want)
		}
	}
}
