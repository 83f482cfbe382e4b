package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
)

// build is what a binary knows of how it was made.
type build struct {
	Program  string `json:"program"` // as releases carry it
	Module   string `json:"module"`
	Commit   string `json:"commit,omitempty"`
	Modified bool   `json:"modified,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// noCommit stands in place of a commit that a build did not record.
const noCommit = "not recorded (built outside a clone, or with -buildvcs=false)"

// thisBuild reads the build information that Go links in.
func thisBuild() build {
	b := build{Program: discreet.Version(), Module: "unknown", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	// A program with more engines is a module of its own, with this one among its dependencies.
	b.Module = info.Main.Path + " " + info.Main.Version
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	return b
}

func (b build) String() string {
	commit := b.Commit
	switch {
	case commit == "":
		commit = noCommit
	case b.Modified:
		commit += ", with changes that were not committed"
	}
	return fmt.Sprintf("discreet version %s\nmodule   %s\ncommit   %s\ngo       %s\nplatform %s\n", b.Program, b.Module, commit, b.Go, b.Platform)
}

func newVersion() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Version of the module, commit, and the Go that built it",
		Args:  exactly(0, "none"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if asJSON {
				return printJSON(cmd.OutOrStdout(), thisBuild())
			}
			_, err := fmt.Fprint(cmd.OutOrStdout(), thisBuild())
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON and nothing else")
	return cmd
}
