// Package buildinfo says what a binary knows of how it was made. Both commands print it, and releases carry [Version].
package buildinfo

import (
	"fmt"
	"runtime"
	"runtime/debug"
)

// unknown stands in place of what a build did not record.
const unknown = "unknown"

// noCommit is the same of a commit, with the reason.
const noCommit = "not recorded (built outside a clone, or with -buildvcs=false)"

// Info is what the Go command links into a binary.
type Info struct {
	Program  string `json:"program"` // as releases carry it
	Module   string `json:"module"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// This is the running binary.
func This() Info {
	b := Info{Module: unknown, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	version := ""
	if linked, ok := debug.ReadBuildInfo(); ok {
		// A program with more engines is a module of its own, with this one among its dependencies.
		b.Module, version = linked.Main.Path+" "+linked.Main.Version, linked.Main.Version
		for _, s := range linked.Settings {
			switch s.Key {
			case "vcs.revision":
				b.Commit = s.Value
			case "vcs.modified":
				b.Modified = s.Value == "true"
			}
		}
	}
	b.Program = b.version(version)
	return b
}

// version is the commit, marked where the tree held changes beside it, or else the version of the module.
func (b Info) version(module string) string {
	switch {
	case b.Commit != "" && b.Modified:
		return b.Commit + "+changed"
	case b.Commit != "":
		return b.Commit
	case module == "":
		return unknown
	}
	return module
}

// Version names the running binary in one word.
func Version() string { return This().Program }

// Lines are what the program of that name prints of its build.
func (b Info) Lines(program string) string {
	commit := b.Commit
	switch {
	case commit == "":
		commit = noCommit
	case b.Modified:
		commit += ", with changes that were not committed"
	}
	return fmt.Sprintf("%s version %s\nmodule   %s\ncommit   %s\ngo       %s\nplatform %s\n", program, b.Program, b.Module, commit, b.Go, b.Platform)
}
