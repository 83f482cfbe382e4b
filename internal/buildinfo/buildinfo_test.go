package buildinfo

import (
	"runtime"
	"strings"
	"testing"
)

// TestTheCommitNamesABuildAndElseTheModule: a release names the code that made it as exactly as it can.
func TestTheCommitNamesABuildAndElseTheModule(t *testing.T) {
	for _, c := range []struct {
		info         Info
		module, want string
	}{
		{Info{Commit: "abc"}, "v1.2.3", "abc"},
		{Info{Commit: "abc", Modified: true}, "v1.2.3", "abc+changed"},
		{Info{}, "v1.2.3", "v1.2.3"},
		{Info{Modified: true}, "", "unknown"},
	} {
		if got := c.info.version(c.module); got != c.want {
			t.Errorf("%+v of module %q is %q; want %q", c.info, c.module, got, c.want)
		}
	}
}

// TestTheLinesOfABuild: with a commit, with one and changes beside it, and without.
func TestTheLinesOfABuild(t *testing.T) {
	for want, info := range map[string]Info{
		"commit   abc\n": {Commit: "abc"},
		"commit   abc, with changes that were not committed\n": {Commit: "abc", Modified: true},
		"commit   not recorded (":                              {},
	} {
		if got := info.Lines("discreet"); !strings.Contains(got, want) {
			t.Errorf("%+v prints %q; want %q", info, got, want)
		}
	}
}

// TestThisBuildIsThatOfTheRunningProgram.
func TestThisBuildIsThatOfTheRunningProgram(t *testing.T) {
	b := This()
	if b.Program == "" || b.Program != Version() || b.Go != runtime.Version() || b.Platform != runtime.GOOS+"/"+runtime.GOARCH || !strings.HasPrefix(b.Module, "github.com/discreet-rl/discreet ") {
		t.Errorf("this test says of its build: %+v, version %q", b, Version())
	}
}
