package beam

import (
	"context"
	"errors"
	"fmt"
	"os"

	sdk "github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/core/runtime/graphx"
	jobpb "github.com/apache/beam/sdks/v2/go/pkg/beam/model/jobmanagement_v1"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/extworker"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/runnerlib"
)

// run submits a pipeline and waits for its end. It does what the universal runner does,
// with the engine's configuration in place of flags of the process.
func (e *Engine) run(ctx context.Context, name string, p *sdk.Pipeline) (err error) {
	edges, _, err := p.Build()
	if err != nil {
		return fmt.Errorf("%w: %w", ErrJob, err)
	}
	workers := e.config.Workers
	if workers == "" {
		here, err := extworker.StartLoopback(ctx, 0)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrJob, err)
		}
		defer func() { _ = here.Stop(context.WithoutCancel(ctx)) }()
		workers = here.EnvironmentConfig(ctx)
	}
	environment, err := graphx.CreateEnvironment(ctx, graphx.URNEnvExternal, func(context.Context) string { return workers })
	if err != nil {
		return fmt.Errorf("%w: %w", ErrJob, err)
	}
	proto, err := graphx.Marshal(edges, &graphx.Options{Environment: environment})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrJob, err)
	}
	// Workers are there already, so that nothing is to be staged; the protocol wants a file.
	nothing, err := os.CreateTemp("", "discreet-beam-*")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, nothing.Close(), os.Remove(nothing.Name())) }()
	if err := runnerlib.UpdateGoEnvironmentWorker(nothing.Name(), proto); err != nil {
		return fmt.Errorf("%w: %w", ErrJob, err)
	}
	prepared, staging, token, err := runnerlib.Prepare(ctx, e.client, proto, &runnerlib.JobOptions{Name: name, Parallelism: e.config.Parallelism, Loopback: true})
	if err != nil {
		return fmt.Errorf("%w: %w", ErrJob, err)
	}
	if token, err = runnerlib.Stage(ctx, prepared, staging, nothing.Name(), token); err != nil {
		return fmt.Errorf("%w: %w", ErrJob, err)
	}
	job, err := runnerlib.Submit(ctx, e.client, prepared, token)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrJob, err)
	}
	if err := runnerlib.WaitForCompletion(ctx, e.client, job); err != nil {
		if ctx.Err() != nil { // nobody waits for the job any longer
			_, cancelled := e.client.Cancel(context.WithoutCancel(ctx), &jobpb.CancelJobRequest{JobId: job})
			return errors.Join(ctx.Err(), cancelled)
		}
		return fmt.Errorf("%w: %w", ErrJob, err)
	}
	return nil
}
