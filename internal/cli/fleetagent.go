package cli

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/fleet"
	"github.com/discreet-rl/discreet/fleet/device"
	"github.com/discreet-rl/discreet/internal/config"
	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/service/authority"
	"github.com/discreet-rl/discreet/internal/signature"
)

func newFleetAgent() *cobra.Command {
	var overrides []string
	cmd := &cobra.Command{
		Use:   "agent CONFIG.yaml",
		Short: "Take part in the training of a fleet with this device",
		Long: `Take part in the training of a fleet, until the run has ended or the budget is used
up. What the device spent, and what it is about to send, is kept in the directory
"state": stop the agent at any moment and start it again. With learner.stdio another
program learns and speaks lines of JSON on standard input and output; everything
else goes to standard error. docs/fleet.md explains the keys.`,
		Args: exactly(1, "one configuration"),
		RunE: func(cmd *cobra.Command, args []string) error {
			f, err := config.LoadFleetAgent(args[0], overrides)
			if err != nil {
				return err
			}
			return runFleetAgent(cmd, f)
		},
	}
	cmd.Flags().StringArrayVar(&overrides, "set", nil, "override a key of the configuration, key.key=value")
	return cmd
}

// fleetAgentConfig is a device as its configuration says.
func fleetAgentConfig(f config.FleetAgent, log io.Writer) (device.Config, error) {
	root, err := signature.LoadPublic(f.Path(f.Root))
	if err != nil {
		return device.Config{}, fmt.Errorf("root: %w", err)
	}
	c := device.Config{
		Dir: f.Path(f.State), Root: root, Epsilon: f.Epsilon,
		Consent: fleet.Consent{Purpose: f.Consent.Purpose, Randomizer: f.Consent.Randomizer, Reports: f.Consent.Reports, Dim: f.Consent.Weights},
		Log:     service.NewLog(log, slog.LevelInfo, device.LogKeys()),
	}
	if f.Poll != nil {
		c.Poll = time.Duration(*f.Poll * float64(time.Second))
		c.BackOff = min(c.Poll, time.Second)
	}
	local, err := f.Local()
	if err != nil {
		return c, err
	}
	c.Consent.Local = (*fleet.Hash)(local)
	c.Run, err = f.RunID()
	return c, err
}

func runFleetAgent(cmd *cobra.Command, f config.FleetAgent) (err error) {
	ctx, told := cmd.Context(), cmd.ErrOrStderr()
	c, err := fleetAgentConfig(f, told)
	if err != nil {
		return err
	}
	learner, serve, err := fleetLearner(cmd, f)
	if err != nil {
		return err
	}
	certificates, err := authority.ReadCertificates(f.Path(f.Authority))
	if err != nil {
		return fmt.Errorf("authority: %w", err)
	}
	roots := x509.NewCertPool()
	for _, one := range certificates {
		roots.AddCert(one)
	}
	a, err := device.Open(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, a.Close()) }()
	services, err := device.Dial(f.Server, roots, a.Certificate)
	if err != nil {
		return err
	}
	if err := a.Enrol(ctx, services.Enrol, f.Code); err != nil {
		return err
	}
	err = serve(ctx, func() error { return a.Run(ctx, services, learner) })
	budget, failed := a.Budget(context.WithoutCancel(ctx))
	if failed != nil {
		return errors.Join(err, failed)
	}
	spent, failed := a.Spent(context.WithoutCancel(ctx))
	if failed != nil {
		return errors.Join(err, failed)
	}
	fmt.Fprintf(told, "this device has spent epsilon %.6g of %.6g in its life\n", spent.Epsilon, budget.Epsilon)
	return err
}

// fleetLearner is what learns, and what has to go on beside the agent's work.
func fleetLearner(cmd *cobra.Command, f config.FleetAgent) (device.Learner, func(context.Context, func() error) error, error) {
	if f.Learner.Stdio {
		l := device.NewStdio(cmd.InOrStdin(), cmd.OutOrStdout())
		return l, func(ctx context.Context, run func() error) error {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			served := make(chan error, 1)
			go func() { served <- l.Serve(ctx) }()
			if err := run(); err != nil {
				return err
			}
			l.End()
			return <-served // the program is told at its next request, and leaves
		}, nil
	}
	name, env, rng, err := f.Environment()
	if err != nil {
		return nil, nil, err
	}
	return device.NewSimulator(name, env, rng), func(_ context.Context, run func() error) error { return run() }, nil
}
