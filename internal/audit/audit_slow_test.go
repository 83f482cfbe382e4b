//go:build slow

package audit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Every configuration of an evaluation that ships is audited, and its claim stands.
func TestAuditOfEveryExample(t *testing.T) {
	paths, err := filepath.Glob("../../examples/*/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), "\nmethod:") || !strings.Contains(string(text), "\ndata:") {
			continue // no evaluation: a training run, a server, a schema, a part of a question
		}
		n++
		t.Run(path, func(t *testing.T) { audited(t, path) })
	}
	if n < 7 {
		t.Errorf("%d evaluations among %q; want 7 or more", n, paths)
	}
}
