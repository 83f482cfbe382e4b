package beam

import (
	"context"
	"fmt"
	"io"
	stdlog "log"
	"log/slog"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/discreet-rl/discreet/internal/cli"
	"github.com/discreet-rl/discreet/scale"
)

// Init makes Beam ready, once in a process and before anything else here. What Beam and
// prism log goes to the writer: paths of files, and errors of workers.
func Init(logs io.Writer) {
	sdk.Init()
	stdlog.SetOutput(logs)
	slog.SetDefault(slog.New(slog.NewTextHandler(logs, nil)))
}

// Command is what the program discreet-beam adds to discreet: --on beam, of evaluate and
// of shard, and the command worker.
func Command() cli.Engine {
	var c Config
	return cli.Engine{
		Name:  "beam",
		About: "an Apache Beam runner",
		Flags: func(f *pflag.FlagSet) {
			f.StringVar(&c.Jobs, "beam-jobs", "", "with --on beam, HOST:PORT of the runner's job service; by default prism, within this process")
			f.StringVar(&c.Workers, "beam-workers", "", "with --on beam, HOST:PORT at which every machine of the runner finds its discreet-beam worker; by default this process does the work")
			f.IntVar(&c.Parallelism, "beam-parallelism", 0, "with --on beam, how many shards, partitions or files are worked on at a time, at most 8 without a job service; by default one a core of this machine")
			f.IntVar(&c.Attempts, "beam-attempts", 3, "with --on beam, how often a round, or the making of shards, is tried where the runner fails")
		},
		Open: func(ctx context.Context, tell func(string)) (scale.Engine, func(), error) {
			c.Tell = tell
			e, err := Open(ctx, c)
			if err != nil {
				return nil, nil, err
			}
			if c.Jobs == "" {
				tell("prism listens on a port of every interface of this machine until this command ends, and runs what is sent there (docs/scale.md)")
			}
			return e, func() { _ = e.Close() }, nil // the run is over: nothing hangs on the connection
		},
		Commands: []*cobra.Command{worker()},
		Store:    objects.Session(),
		Groups:   true,
	}
}

func worker() *cobra.Command {
	var port int
	cmd := &cobra.Command{
		Use:   "worker --port P",
		Short: "Answer tasks of evaluate --on beam for a runner on this machine, until it is stopped",
		Long: `Listen on localhost for a Beam runner with an external environment, and answer for the
shards that it hands out. One stands beside each machine's part of the runner. The
run key comes by DISCREET_RUN_KEY, or by the file that DISCREET_RUN_KEY_FILE names.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return Pool(cmd.Context(), port, func(address string) {
				fmt.Fprintf(cmd.OutOrStdout(), "listening %s\n", address)
			})
		},
	}
	cmd.Flags().IntVar(&port, "port", 0, "port of localhost; any free one by default")
	return cmd
}
