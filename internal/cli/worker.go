package cli

import (
	"context"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/internal/worker"
)

func newWorker(more []Engine) *cobra.Command {
	return command("worker", "Run commands one after another, as frames on standard input ask",
		`Run commands for a program that holds standard input and output, such as the
Python package. Each has its own input, output and exit code, as if it were run
alone; none but the next waits for a start of this program. It ends when its
standard input does. A frame is the length of a JSON object (4 bytes, big endian),
that object, and the bytes that it counts:

  to it    {"id": 1, "args": ["evaluate", "--json", "q.yaml"], "bytes": 4096}
           and standard input, such as an Arrow stream at /dev/stdin (on Linux)
           {"id": 1, "cancel": true}
  from it  {"worker": 1, "version": "..."} once, then for each call
           {"id": 1, "exit": 0, "stdout": 812, "stderr": 0} and what was printed`, exactly(0, "none"),
		func(cmd *cobra.Command, _ []string) error {
			in, err := requests(cmd.InOrStdin())
			if err != nil {
				return err
			}
			// Calls of a millisecond would collect garbage several times each: a heap counts as this much
			// larger. Nothing is written there, so that it takes no memory.
			ballast := make([]byte, 32<<20)
			defer runtime.KeepAlive(ballast)
			return worker.Serve(cmd.Context(), in, cmd.OutOrStdout(), worker.Host{
				Version: discreet.Version(),
				Run: func(ctx context.Context, c worker.Call, stdout, stderr io.Writer) int {
					return execute(answering(ctx, c), c.Args, c.Input, stdout, stderr, more...)
				},
				Keep: keep,
			})
		})
}
