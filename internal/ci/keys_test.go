package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The references of keys are those of the types as they are now.
func TestKeysPagesAreCurrent(t *testing.T) {
	for i, r := range keysReferences {
		want, err := keysPage("../..", r)
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(filepath.Join("../..", r.file))
		if err != nil {
			t.Fatal(err)
		}
		if string(got) != want {
			t.Errorf("%s is not what the types say; go run ./internal/ci keys -write makes it", r.file)
		}
		for _, line := range strings.Split(want, "\n") {
			if i > 0 && strings.HasSuffix(line, "|  |") {
				t.Errorf("%s says nothing of a key: %s", r.file, line)
			}
		}
	}
}

// Keys of each kind: plain, of a struct in a struct, of another package, of one that is embedded, two of one comment;
// of a struct without a name; a page of its own is not repeated.
func TestKeysOfEachKindAreFound(t *testing.T) {
	for i, lines := range map[int][]string{
		0: {"\n| `persons` | whole number | `persons` is", "\n## data.behavior\n", "\n| `intercept` | true or false |", "\n| `min` | number |", "\n| `purpose` | text | `analyst` is who asks"},
		2: {"\n## limits\n", "\n| `queue` | whole number |", "\n| `rounds` | whole number |"},
		4: {"\n## tls\n", "\n## datasets.NAME\n", "\n| `certificate` | text |"},
	} {
		page, err := keysPage("../..", keysReferences[i])
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range lines {
			if !strings.Contains(page, line) {
				t.Errorf("%q is not in %s", line, keysReferences[i].file)
			}
		}
		if strings.Contains(page, "\n## training") {
			t.Errorf("%s repeats the keys of training", keysReferences[i].file)
		}
	}
}
