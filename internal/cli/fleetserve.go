package cli

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/agent"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/yamlfile"
)

// loadFleet reads the configuration of a fleet, with what --set overrides.
func loadFleet(cmd *cobra.Command, path string) (fleetFile, error) {
	f, err := yamlfile.Load[fleetFile](path, overrides(cmd))
	f.dir = filepath.Dir(path)
	return f, err
}

// fleetCommand is one that reads the configuration of a fleet.
func fleetCommand(use, short, long string, run func(*cobra.Command, fleetFile) error) *cobra.Command {
	cmd := command(use, short, long, oneConfiguration, func(cmd *cobra.Command, args []string) error {
		f, err := loadFleet(cmd, args[0])
		if err != nil {
			return err
		}
		return run(cmd, f)
	})
	setFlag(cmd)
	jsonFlag(cmd, "the result as JSON")
	return cmd
}

func newFleetKeys() *cobra.Command {
	var next bool
	var renew string
	cmd := fleetCommand("keys FLEET.yaml", "Make the keys of a fleet",
		"Makes the directory `keys`: a root that signs runs, an authority with certificates for the server and an operator,\n"+
			"the secret of pseudonyms, and the first keys that sign rounds and open reports. Take root.key away from the\n"+
			"server and keep it: only `create` and `rotate` need it, by way of `sign` if it is on no network. With --next it makes\n"+
			"the next keys that sign rounds and open reports, for `rotate`, and with --renew a certificate for two more years.",
		func(cmd *cobra.Command, f fleetFile) error {
			dir, err := f.keysDir()
			if err != nil {
				return err
			}
			switch {
			case next && renew != "":
				return usage(errors.New("fleet keys: want one of --next and --renew"))
			case next:
				made, err := createNext(dir)
				if err != nil {
					return err
				}
				return show(cmd, map[string]any{"sign": made, "seal": made + 1},
					"sign-%d and seal-%d are in %s; the operator needs their .pub files for `rotate`\n", made, made+1, dir)
			case renew != "":
				until, err := aggregator.RenewCertificate(dir, renew, f.Hosts, time.Now())
				if err != nil {
					return err
				}
				return show(cmd, map[string]any{"certificate": renew, "until": until.UTC()},
					"the certificate of the %s is good until %s; servers that run take it up by themselves\n", renew, until.UTC().Format(time.RFC3339))
			}
			if err := aggregator.CreateKeys(dir, f.Hosts, time.Now()); err != nil {
				return err
			}
			return show(cmd, map[string]any{"keys": dir, "root": filepath.Join(dir, "root.key")}, "keys are in %s; move root.key from there to a place of its own\n"+
				"devices need root.pub and ca.pem, the operator ca.pem, operator.pem, operator.key, root.pub and the .pub files of sign and seal\n", dir)
		})
	cmd.Flags().BoolVar(&next, "next", false, "make the next keys that sign rounds and open reports")
	cmd.Flags().StringVar(&renew, "renew", "", "renew the certificate of the server, or of the operator")
	return cmd
}

// createNext adds keys to a directory; `rotate` announces them.
func createNext(dir string) (uint32, error) {
	keys, err := aggregator.OpenKeys(dir)
	if err != nil {
		return 0, err
	}
	return keys.CreateNext()
}

func newFleetServe() *cobra.Command {
	return fleetCommand("serve FLEET.yaml", "Serve a fleet until interrupted",
		"Enrols devices, announces rounds, takes reports and moves the weights. Several servers may share one PostgreSQL\n"+
			"store and one directory of keys. Logs are lines of JSON on standard error; /healthz, /readyz and, with an operator's\n"+
			"certificate, /metrics and the page / tell how it is. The configuration's page is an address of loopback where this\n"+
			"machine may look at the page without one.",
		func(cmd *cobra.Command, f fleetFile) error {
			dir, err := f.keysDir()
			if err != nil {
				return err
			}
			keys, err := aggregator.OpenKeys(dir)
			if err != nil {
				return err
			}
			l := f.Limits
			each, err := f.perAddress()
			if err != nil {
				return err
			}
			c := aggregator.Config{
				Listen: f.Listen, Page: f.Page, Version: discreet.Version(), Store: f.path(f.Store), Keys: keys, Keep: f.KeepRounds, Queue: l.Queue, Batch: l.Batch, MostRequest: l.Request,
				Grace: seconds(l.Grace), Valid: days(f.CertificateDays), Limits: service.Limits{Connections: l.Connections, AddressConnections: l.OfAddress, AddressRate: each},
				PerDevice: service.Rate{Every: seconds(l.PerDevice), Burst: 5}, Metrics: service.NewMetrics("fleet").WithProcess(),
				Log: service.NewLog(cmd.ErrOrStderr(), slog.LevelInfo, aggregator.LogKeys()),
			}
			a, err := aggregator.New(cmd.Context(), c)
			if err != nil {
				return err
			}
			addr, err := a.Listen(cmd.Context())
			if err != nil {
				return errors.Join(err, a.Close())
			}
			local, err := a.ListenPage(cmd.Context())
			if err != nil {
				return errors.Join(err, a.Close())
			}
			if local != nil {
				c.Log.Info("the page is served to this machine", "page", "http://"+local.String()+"/")
			}
			if rootWithin(dir, f.dir) {
				c.Log.Warn("root.key is within this server's reach: whoever breaks into it can make runs; move root.key to another machine")
			}
			c.Log.Info("serving", "listen", addr.String())
			return a.Run(cmd.Context())
		})
}

// rootWithin reports whether the root's private key, which no server needs, lies in a directory.
func rootWithin(dirs ...string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "root.key"))
		return !errors.Is(err, fs.ErrNotExist)
	})
}

func seconds(x float64) time.Duration { return time.Duration(x * float64(time.Second)) }

// perAddress is how often one address may ask; ten seconds' worth at once.
func (f fleetFile) perAddress() (service.Rate, error) {
	n := f.Limits.PerAddress
	if n == 0 {
		return service.Rate{}, nil
	}
	if !(n >= 1 && n <= 1e6) {
		return service.Rate{}, fmt.Errorf("%w: limits.requests_per_second_and_address is %v; want 1 to 1000000", yamlfile.ErrSyntax, n)
	}
	return service.Rate{Every: seconds(1 / n), Burst: int(10 * n)}, nil
}

func newFleetCreate() *cobra.Command {
	var by rootFlags
	cmd := fleetCommand("create FLEET.yaml --root root.key", "Create the run on the server",
		"Signs the run that the configuration describes with the root's key, and gives it to the server, with weights to\n"+
			"begin with. Prints what owners of devices are asked to consent to, as it stands in a device's configuration.\n"+
			"Rounds follow by the schedule, or by `round`. Where the root's key is on no network, --request writes what `sign`\n"+
			"signs there, and --signed takes it back. Of the servers' keys it needs the .pub files alone.",
		func(cmd *cobra.Command, f fleetFile) error {
			l, err := f.learning()
			if err != nil {
				return err
			}
			if err := errors.Join(by.check("create"), f.Schedule.Validate(), l.run.Validate(), l.run.Suits(f.Schedule)); err != nil {
				return err
			}
			dir, err := f.keysDir()
			if err != nil {
				return err
			}
			signed, spec, err := by.sign(cmd, func() (*fleetv1.RunSpec, error) {
				keys, err := aggregator.OpenPublicKeys(dir)
				if err != nil {
					return nil, err
				}
				return l.run.Spec(keys, time.Now())
			}, l.run.Describes)
			if err != nil || signed == nil {
				return err
			}
			request := &fleetv1.CreateRunRequest{Spec: signed, Weights: fleet.EncodeWeights(l.theta), Evaluations: max(f.Looks, uint32(f.Schedule.Evaluations()))}
			for _, setting := range []struct {
				into *[]byte
				of   any
			}{{&request.OptimizerJson, l.optimizer}, {&request.InfluenceJson, l.influence}, {&request.ScheduleJson, f.Schedule}} {
				if *setting.into, err = json.Marshal(setting.of); err != nil {
					return err
				}
			}
			s, err := f.dial()
			if err != nil {
				return err
			}
			if _, err := s.Operator.CreateRun(cmd.Context(), request); err != nil {
				return ofServer(err)
			}
			consent := map[string]any{"purpose": l.run.Purpose, "randomizer": l.run.Randomizer, "reports": l.run.Reports, "weights": l.run.Dim, "local_sha256": fmt.Sprintf("%x", sha256.Sum256(l.run.Local))}
			text, err := json.Marshal(consent)
			if err != nil {
				return err
			}
			id, each, all := fmt.Sprintf("%x", spec.GetRun()), l.run.Randomizer.Epsilon, float64(l.run.Reports)*l.run.Randomizer.Epsilon
			return show(cmd, map[string]any{"run": id, "consent": consent, "epsilon_report": each, "epsilon_device": all},
				"run %s\n%d reports a device at most, each %s at epsilon %.6g: epsilon %.6g a device, delta 0, local, replace_one\nconsent: %s\n",
				id, l.run.Reports, l.run.Randomizer.Mechanism, each, all, text)
		})
	by.on(cmd)
	return cmd
}

func newFleetAgentMove() *cobra.Command {
	cmd := command("move CONFIG.yaml", "Say that the device's state was moved to this machine",
		"A state is bound to the machine on which it was begun, and refused on others. Remove every other copy of it first:\nwhere two go on, the server's permits stop one or both of them for good.", oneConfiguration,
		func(cmd *cobra.Command, args []string) error {
			f, err := yamlfile.LoadFleetAgent(args[0], overrides(cmd))
			if err != nil {
				return err
			}
			return agent.Move(cmd.Context(), f, cmd.ErrOrStderr())
		})
	setFlag(cmd)
	return cmd
}

func newFleetAgent() *cobra.Command {
	cmd := command("agent CONFIG.yaml", "Take part in the training of a fleet with this device",
		`Take part in the training of a fleet, until the run has ended or the budget is used
up. What the device spent, and what it is about to send, is kept in the directory
"state": stop the agent at any moment and start it again. With learner.stdio another
program learns and speaks lines of JSON on standard input and output; everything
else goes to standard error. docs/fleet.md explains the keys.`, oneConfiguration,
		func(cmd *cobra.Command, args []string) error {
			f, err := yamlfile.LoadFleetAgent(args[0], overrides(cmd))
			if err != nil {
				return err
			}
			return agent.Run(cmd.Context(), f, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		})
	setFlag(cmd)
	cmd.AddCommand(newFleetAgentMove())
	return cmd
}
