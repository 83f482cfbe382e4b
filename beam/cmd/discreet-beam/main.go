// Command discreet-beam is discreet with one engine more for evaluate --shards, --on beam,
// and the command worker, which works for a cluster.
package main

import (
	"fmt"
	"io"
	"os"

	"github.com/discreet-rl/discreet/beam"
	"github.com/discreet-rl/discreet/internal/cli"
)

// logVariable names the file that gets what Beam logs. Standard error is the command's.
const logVariable = "DISCREET_BEAM_LOG"

func main() {
	var logs io.Writer = io.Discard
	if path := os.Getenv(logVariable); path != "" {
		f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			fmt.Fprintf(os.Stderr, "discreet: %s: %v\n", logVariable, err)
			os.Exit(2)
		}
		logs = f
	}
	beam.Init(logs)
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, beam.Command()))
}
