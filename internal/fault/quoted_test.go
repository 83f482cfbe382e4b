package fault_test

import (
	"testing"

	"github.com/discreet-rl/discreet/internal/fault"
)

// TestATextOfOthersIsShownOnOneLine: nothing in it steers a terminal, ends the line, or is cut
// within a character.
func TestATextOfOthersIsShownOnOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"plain":       "plain",
		"a\x1b[31m\n": "a\ufffd[31m\ufffd",
		"123456":      "123456",
		"1234567":     "123456...",
		"12345é":      "12345...",
	} {
		longest := 6
		if text == "a\x1b[31m\n" {
			longest = 20
		}
		if got := fault.Quoted(text, longest); got != want {
			t.Errorf("%q of at most %d bytes is shown as %q; want %q", text, longest, got, want)
		}
	}
	if got, want := fault.Printable("a\tb\n\x07"), "a\tb\n\ufffd"; got != want {
		t.Errorf("a text of several lines is shown as %q; want %q", got, want)
	}
}
