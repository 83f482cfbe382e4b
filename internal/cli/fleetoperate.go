package cli

import (
	"encoding/hex"
	"errors"
	"fmt"

	"connectrpc.com/connect"
	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/fleet/operator"
)

// errServer marks what a server refused because of what it was asked.
var errServer = fault.Input("the server refuses")

// ofServer is an error of the server in its own words, without the code.
func ofServer(err error) error {
	var e *connect.Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code() {
	case connect.CodeInvalidArgument, connect.CodeNotFound, connect.CodeAlreadyExists, connect.CodeFailedPrecondition, connect.CodePermissionDenied, connect.CodeUnauthenticated:
		return fmt.Errorf("%w: %s", errServer, e.Message())
	}
	return fmt.Errorf("the server: %s", e.Message())
}

func joined(errs ...error) error { return errors.Join(errs...) }

// operate is a command that speaks to the server.
func operate(use, short, long string, run func(cmd *cobra.Command, f fleetFile, s operator.Services, asJSON bool) error) *cobra.Command {
	return fleetCommand(use, short, long, func(cmd *cobra.Command, f fleetFile, asJSON bool) error {
		s, err := f.dial()
		if err != nil {
			return err
		}
		return ofServer(run(cmd, f, s, asJSON))
	})
}

// runID is a run's identifier in hexadecimal digits, as a flag.
type runID []byte

// String implements [pflag.Value].
func (r *runID) String() string { return hex.EncodeToString(*r) }

// Type implements [pflag.Value].
func (r *runID) Type() string { return "run" }

// Set implements [pflag.Value].
func (r *runID) Set(s string) error {
	id, err := hex.DecodeString(s)
	if err != nil || len(id) != 16 {
		return errors.New("want 32 hexadecimal digits, as `create` and `status` print them")
	}
	*r = id
	return nil
}

// runFlag lets a command name one of several runs.
func runFlag(cmd *cobra.Command) *runID {
	r := &runID{}
	cmd.Flags().Var(r, "run", "the run, where the server has several")
	return r
}
