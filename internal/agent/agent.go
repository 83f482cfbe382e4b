package agent

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/discreet-rl/discreet/fleet/device"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/service/authority"
	"github.com/discreet-rl/discreet/internal/signature"
	"github.com/discreet-rl/discreet/internal/yamlfile"
)

// deviceOf is a device as its configuration says.
func deviceOf(f yamlfile.FleetAgent, log io.Writer) (device.Config, error) {
	root, err := signature.LoadPublic(f.Path(f.Root))
	if err != nil {
		return device.Config{}, fmt.Errorf("root: %w", err)
	}
	c := device.Config{
		Dir: f.Path(f.State), Root: root, Epsilon: f.Epsilon, Machine: f.Machine,
		Consent: device.Consent{Purpose: f.Consent.Purpose, Randomizer: f.Consent.Randomizer, Reports: f.Consent.Reports, Dim: f.Consent.Weights},
		Log:     service.NewLog(log, slog.LevelInfo, fleet.DeviceLogKeys()),
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

// Move binds the state of the device to this machine, where it was brought.
func Move(ctx context.Context, f yamlfile.FleetAgent, told io.Writer) error {
	c, err := deviceOf(f, told)
	if err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(c.Dir, "state.db")); err != nil {
		return fmt.Errorf("%w: state: there is none to move in %s: %w", yamlfile.ErrSyntax, c.Dir, err)
	}
	c.Move = true
	a, err := device.Open(ctx, c)
	if err != nil {
		return err
	}
	fmt.Fprintf(told, "the state in %s is bound to this machine; remove every other copy of it: two that go on stop each other\n", c.Dir)
	return a.Close()
}

// Run takes part with the device of the configuration until the run has ended, its budget is used up or ctx ends. A learner's
// program speaks on in and out; everything else is told.
func Run(ctx context.Context, f yamlfile.FleetAgent, in io.Reader, out, told io.Writer) (err error) {
	c, err := deviceOf(f, told)
	if err != nil {
		return err
	}
	learner, serve, err := learnerOf(f, in, out)
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

// learnerOf is what learns, and what has to go on beside the agent's work.
func learnerOf(f yamlfile.FleetAgent, in io.Reader, out io.Writer) (device.Learner, func(context.Context, func() error) error, error) {
	if f.Learner.Stdio {
		l := device.NewStdio(in, out)
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
