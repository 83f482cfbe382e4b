package examine

import (
	"strings"
	"testing"
)

// TestTheVerdictNamesWhatTheSelfTestMissed, and says nothing of it where all was found.
func TestTheVerdictNamesWhatTheSelfTestMissed(t *testing.T) {
	r := &Report{SelfTest: []Planted{{Mistake: "a", Found: true}, {Mistake: "b"}, {Mistake: "c"}}, Missed: []string{"b", "c"}}
	if got := r.Verdict(); !strings.HasSuffix(got, "; the self-test missed 2 of 3 planted bugs: b, c") || !strings.HasPrefix(got, "within the claim") {
		t.Errorf("%q", got)
	}
	r.Missed = nil
	if got := r.Verdict(); strings.Contains(got, "missed") {
		t.Errorf("%q", got)
	}
	r.Broken = []string{"x"}
	if got := r.Verdict(); strings.Contains(got, "within") {
		t.Errorf("%q", got)
	}
}
