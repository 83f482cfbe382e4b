package discreet_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// onArm asks for the return of an arm, into a directory.
func onArm(t *testing.T, dir string, arm config.Action) config.Config {
	t.Helper()
	c, err := discreet.Load("examples/pbc/penicillamine.yaml")
	if err != nil {
		t.Fatal(err)
	}
	c.Target.Action = &arm
	c.Output.Dir = dir
	return c
}

// While an evaluation runs, another one into its directory is refused before it
// reads or spends; afterwards the release of the first is there, and a nil option
// asks for nothing.
func TestTwoEvaluationsIntoOneDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "out")
	tried := false
	first, err := discreet.Evaluate(context.Background(), onArm(t, dir, config.Action{}), nil, discreet.WithProgress(func(trajectory.Progress) {
		tried = true
		if _, err := discreet.Evaluate(context.Background(), onArm(t, dir, config.Action{})); !errors.Is(err, config.ErrConfig) || !strings.Contains(err.Error(), "held by another process") {
			t.Errorf("a second one at the same time: %v", err)
		}
	}))
	if err != nil || !tried {
		t.Fatal(err, tried)
	}
	there, err := os.ReadFile(filepath.Join(dir, "release.json"))
	if err != nil || string(there) != string(first.JSON) {
		t.Errorf("the first release is not there: %v", err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".discreet.lock")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the lock is left: %v", err)
	}
	if _, err := discreet.Validate(context.Background(), onArm(t, dir, config.Action{}), nil); err != nil {
		t.Error(err)
	}
}
