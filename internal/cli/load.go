package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/internal/worker"
)

// callKey is where the context of a command has the call of a worker that it answers.
type callKey struct{}

// load reads a configuration, and has a method of sums from the program that asks, where there is one.
func load(cmd *cobra.Command, path string, overrides ...string) (config.Config, error) {
	c, err := discreet.Load(path, overrides...)
	if err != nil {
		return c, err
	}
	if call, ok := cmd.Context().Value(callKey{}).(worker.Call); ok {
		s, err := worker.SumsOf(call)
		if s == nil || err != nil {
			return c, err
		}
		c.Method.Sums = s
	}
	return c, nil
}

// answering is a context of a command that answers a call.
func answering(ctx context.Context, c worker.Call) context.Context {
	return context.WithValue(ctx, callKey{}, c)
}
