package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The reference of keys is that of the types as they are now.
func TestKeysPageIsCurrent(t *testing.T) {
	want, err := keysPage("../..")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(filepath.Join("../..", keysFile))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the types say; go run ./internal/ci keys -write makes it", keysFile)
	}
	// Keys of each kind: plain, of a struct in a struct, of another package, of one that is embedded, two of one comment.
	for _, line := range []string{"\n| `persons` | whole number | `persons` is", "\n## data.behavior\n", "\n| `intercept` | true or false |", "\n| `min` | number |", "\n| `purpose` | text | `analyst` is who asks"} {
		if !strings.Contains(want, line) {
			t.Errorf("%q is not in the page", line)
		}
	}
}
