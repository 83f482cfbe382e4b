package agent

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/discreet-rl/discreet/fleet/device"
	"github.com/discreet-rl/discreet/internal/buildinfo"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/yamlfile"
)

const usage = `Take part in the training of a fleet with this device: discreet fleet agent, and nothing
else of discreet. docs/fleet.md explains the configuration.

  discreet-agent [-set key.key=value]... CONFIG.yaml
  discreet-agent -move CONFIG.yaml     the state was moved to this machine
  discreet-agent -version
`

// garbage is how much may be thrown away before it is collected, in percent of what is used: devices
// have little memory, and the agent little to do.
const garbage = 25

// values are those of a flag that may come several times.
type values []string

func (v *values) String() string     { return fmt.Sprint(*v) }
func (v *values) Set(s string) error { *v = append(*v, s); return nil }

// Main is the program: it returns the exit code, which is that of discreet.
func Main(args []string, in io.Reader, out, told io.Writer) int {
	debug.SetGCPercent(garbage)
	var set values
	flags := flag.NewFlagSet("discreet-agent", flag.ContinueOnError)
	flags.SetOutput(told)
	flags.Usage = func() { fmt.Fprint(told, usage) }
	flags.Var(&set, "set", "")
	version := flags.Bool("version", false, "")
	move := flags.Bool("move", false, "")
	if err := flags.Parse(args); err == flag.ErrHelp {
		return 0
	} else if err != nil {
		return fault.ExitInput
	}
	if *version {
		fmt.Fprintf(out, "%sclient   %s, which a run's min_client is held against\n", buildinfo.This().Lines("discreet-agent"), device.Version)
		return 0
	}
	if flags.NArg() != 1 {
		flags.Usage()
		return fault.ExitInput
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	f, err := yamlfile.LoadFleetAgent(flags.Arg(0), set)
	if err == nil {
		if *move {
			err = Move(ctx, f, told)
		} else {
			err = Run(ctx, f, in, out, told)
		}
	}
	if err != nil {
		fmt.Fprintln(told, "discreet-agent:", fault.Words(err))
	}
	return fault.Exit(err)
}
