package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/signature"
	"github.com/discreet-rl/discreet/internal/yamlfile"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/train"
)

// Scripts go by these codes; README and docs/ledger.md promise them.
func TestExitCodes(t *testing.T) {
	pending := &ledger.PendingError{Dataset: "trial", Seq: 3, Key: "k", Err: evaluate.ErrData}
	interrupted := &ledger.PendingError{Dataset: "trial", Seq: 3, Key: "k", Err: context.Canceled}
	for _, c := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("anything"), 1}, {context.Canceled, 1},
		{usage(errors.New("flag")), 2}, {config.ErrConfig, 2}, {evaluate.ErrData, 2}, {fs.ErrNotExist, 2}, {dp.ErrAdjacency, 2},
		{ledger.ErrAdjacency, 2}, {ledger.ErrKeyReused, 2}, {ledger.ErrNotLedger, 2}, {ledger.ErrExists, 2}, {signature.ErrKey, 2},
		{learn.ErrOptions, 2}, {yamlfile.ErrSyntax, 2}, {trajectory.ErrInput, 2}, {policy.ErrRow, 2}, {train.ErrState, 2}, {train.ErrBudget, 3}, {errors.Join(train.ErrConfig, ledger.ErrShare), 3},
		{&ledger.RefusedError{Event: dp.Gaussian{NoiseMultiplier: 1}}, 3}, {ledger.ErrPending, 3}, {ledger.ErrCopy, 3},
		{ledger.ErrTampered, 1}, {ledger.ErrBehind, 1}, {ledger.ErrStore, 1}, {ledger.ErrUnknown, 1}, {discreet.ErrNotWritten, 1},
		// Once the budget is spent it is a failure, whatever went wrong.
		{pending, 1}, {interrupted, 1},
		// Where nothing wrong was found and not all was checked, neither.
		{partial(errors.New("x")), 4}, {errors.Join(evaluate.ErrData, partial(errors.New("x"))), 4}, {errors.Join(partial(errors.New("x")), failed("x", evaluate.ErrData)), 1},
		// A check that does not hold is one too.
		{failed("x", evaluate.ErrData), 1},
	} {
		if got := fault.Exit(c.err); got != c.want {
			t.Errorf("%v: exit code %d, want %d", c.err, got, c.want)
		}
		if c.err == nil {
			continue
		}
		if got := fault.Exit(fmt.Errorf("about something: %w", c.err)); got != c.want {
			t.Errorf("%v, wrapped: exit code %d, want %d", c.err, got, c.want)
		}
	}
}

// Whoever interrupts a run is told whether it cost budget.
func TestInterruptsAreTold(t *testing.T) {
	for want, err := range map[string]error{
		"interrupted; nothing was released":              fmt.Errorf("%w: %w", errNothing, context.Canceled),
		"discreet: interrupted\n":                        context.Canceled, // of training, say: reports have left
		"it is not known whether":                        fmt.Errorf("%w: %w: it is not known whether", ledger.ErrUnknown, context.Canceled),
		"run again with --key":                           fmt.Errorf("%w: %w: run again with --key", discreet.ErrNotWritten, context.Canceled),
		"discreet: ledger verify: got 0":                 usage(errors.New("discreet ledger verify: got 0")),
		"x\ufffd[31my":                                   errors.New("x\x1b[31my"),
		"entry 3 of dataset \"trial\" is charged and no": &ledger.PendingError{Dataset: "trial", Seq: 3, Key: "k", Err: context.Canceled},
	} {
		var b strings.Builder
		tell(&b, err)
		if !strings.Contains(b.String(), want) || strings.Count(b.String(), "\n") != 1 {
			t.Errorf("%v: %q; want %q", err, b.String(), want)
		}
	}
}

// TestWrongArgumentsAreBadUsage: of every command, too many and too few end with exit code 2.
func TestWrongArgumentsAreBadUsage(t *testing.T) {
	var walk func(*cobra.Command)
	refused := 0
	walk = func(cmd *cobra.Command) {
		for _, args := range [][]string{nil, strings.Fields("a b c d e f g h")} {
			if err := cmd.ValidateArgs(args); err != nil {
				refused++
				if got := fault.Exit(err); got != fault.ExitInput {
					t.Errorf("%s %q: %v: exit code %d", cmd.CommandPath(), args, err, got)
				}
			}
		}
		for _, below := range cmd.Commands() {
			walk(below)
		}
	}
	walk(newRoot())
	if refused < 50 {
		t.Errorf("%d refusals; want those of every command", refused)
	}
}
