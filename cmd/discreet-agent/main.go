// Command discreet-agent is a device of a fleet, and nothing else of discreet.
package main

import (
	"os"

	"github.com/discreet-rl/discreet/internal/agent"
)

func main() { os.Exit(agent.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
