package report_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/report"
)

// TestNothingIsNoPage: without a release nothing is written.
func TestNothingIsNoPage(t *testing.T) {
	var page strings.Builder
	if err := report.Write(&page, nil); !errors.Is(err, report.ErrRelease) {
		t.Errorf("no release: %v; want ErrRelease", err)
	}
	if page.Len() != 0 {
		t.Errorf("%q was written", page.String())
	}
}
