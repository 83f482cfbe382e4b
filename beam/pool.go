package beam

import (
	"context"
	"fmt"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/runners/universal/extworker"

	"github.com/discreet-rl/discreet/scale"
)

// Pool works for a runner on this machine until the context ends: on a cluster, one stands
// beside each process that executes tasks, and listens on localhost alone. It has the run
// key in its environment. Ready, if not nil, is called with its address.
func Pool(ctx context.Context, port int, ready func(address string)) error {
	if _, found, err := scale.KeyFromEnvironment(); err != nil || !found {
		if err == nil {
			err = fmt.Errorf("%w: workers take it from their environment; set %s, or %s to a file of mode 0600", scale.ErrKey, scale.KeyVariable, scale.KeyFileVariable)
		}
		return err
	}
	pool, err := extworker.StartLoopback(ctx, port)
	if err != nil {
		return fmt.Errorf("%w: port %d: %w", ErrConfig, port, err)
	}
	if ready != nil {
		ready(pool.EnvironmentConfig(ctx))
	}
	<-ctx.Done()
	return pool.Stop(context.WithoutCancel(ctx))
}
