package scan_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/internal/scan"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// TestOutcomesAreOfTheData: a file of outcomes that changes makes other data of it.
func TestOutcomesAreOfTheData(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	s := &spec.Spec{Paths: []string{write("log.csv", "x")}}
	digest := func() []byte {
		d, err := scan.Digest(context.Background(), s)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	alone := digest()
	s.Reading = trajectory.Options{OutcomeFiles: []string{write("outcomes.csv", "a")}}
	with := digest()
	write("outcomes.csv", "b")
	if bytes.Equal(alone, with) || bytes.Equal(with, digest()) {
		t.Error("the digest of the data does not cover the file of outcomes")
	}
}
