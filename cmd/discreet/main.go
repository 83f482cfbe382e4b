// Command discreet evaluates policies on people's trajectories under
// differential privacy. Run it without arguments for its commands.
package main

import (
	"os"

	"github.com/discreet-rl/discreet/internal/cli"
)

func main() { os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
