package cli

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/internal/fleet/operator"
	"github.com/discreet-rl/discreet/internal/yamlfile"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/device"
	"github.com/discreet-rl/discreet/train/simulate"
)

func newFleet() *cobra.Command {
	return family("fleet", "Train a policy on devices over a network, under local privacy",
		"docs/fleet.md explains the configuration and the order of the commands: plan, keys, serve, enrol, create, agent, status.",
		newFleetKeys(), newFleetServe(), newFleetCreate(), newFleetPlan(), newFleetEnrol(), newFleetRound(), newFleetStatus(),
		newFleetRevoke(), newFleetRotate(), newFleetSign(), newFleetPolicy(), newFleetBackup(), newFleetRestore(), newFleetTranscript(), newFleetVerify(), newFleetAgent())
}

// fleetFile is the YAML of a fleet: the server, and the run.
type fleetFile struct {
	// Listen is host:port of the server, which speaks TLS 1.3.
	Listen string `yaml:"listen"`
	// Page is host:port of loopback where the status page is served without TLS; none by default.
	Page string `yaml:"page"`
	// Hosts are the names and addresses in the server's certificate.
	Hosts []string `yaml:"hosts"`
	// Server is the URL for the operator's commands; from Hosts and Listen by default.
	Server string `yaml:"server"`
	// Keys is the directory of keys.
	Keys string `yaml:"keys"`
	// Store is a SQLite file, or a postgres:// URL, which replicas share.
	Store string `yaml:"store"`
	// Limits protect the server.
	Limits struct {
		// Queue is the number of reports that may wait; 4096 by default.
		Queue int `yaml:"queue"`
		// Batch is the number of reports per commit; 256 by default.
		Batch int `yaml:"batch"`
		// Request bounds the bytes of a request; 4096 by default.
		Request int `yaml:"request_bytes"`
		// Connections bounds open connections; 32768 by default.
		Connections int `yaml:"connections"`
		// Grace is for reports that are on their way when a round ends; 5 by default.
		Grace float64 `yaml:"grace_seconds"`
		// PerDevice is the mean time between requests of a device; 1 by default, and five requests at
		// once.
		PerDevice float64 `yaml:"seconds_between_requests"`
		// OfAddress bounds the connections of an address; by default a quarter of Connections, 16 at
		// least.
		OfAddress int `yaml:"connections_per_address"`
		// PerAddress bounds requests; 2000 by default, and ten times as many at once.
		PerAddress float64 `yaml:"requests_per_second_and_address"`
	} `yaml:"limits"`
	// KeepRounds is of how many rounds that are over the store keeps the reports, for transcripts; 2 by
	// default.
	KeepRounds uint64 `yaml:"keep_rounds"`
	// CertificateDays is how long certificates of devices are valid: 30 by default, an hour to 400
	// days.
	CertificateDays float64 `yaml:"certificate_days"`

	// Purpose says what the run is for. Owners consent to it.
	Purpose string `yaml:"purpose"`
	// KeyDays is how long the run's keys are valid: 365 by default, an hour to ten years.
	KeyDays float64 `yaml:"key_days"`
	// Client is the minimum version of an agent, such as 1.0.0.
	Client string `yaml:"min_client"`
	// Training is the run: environment, network, local, privacy, seed, server.optimizer and
	// server.influence.
	Training yamlfile.Train `yaml:"training"`
	// Learner holds settings for your own learner, in place of an environment.
	Learner map[string]any `yaml:"learner"`
	// Weights is the number of weights, if the learner is your own.
	Weights int `yaml:"weights"`
	// Schedule says which rounds follow each other; without it they are opened by hand.
	Schedule aggregator.Schedule `yaml:"schedule"`
	// Looks is the number of evaluations that are announced, at least those of the schedule.
	Looks uint32 `yaml:"evaluations"`

	dir string
}

// path resolves a path of the file; a URL stays what it is.
func (f fleetFile) path(p string) string {
	if p == "" || filepath.IsAbs(p) || len(p) > 8 && (p[:9] == "postgres:" || p[:9] == "postgresq") {
		return p
	}
	return filepath.Join(f.dir, p)
}

func (f fleetFile) keysDir() (string, error) {
	if f.Keys == "" {
		return "", fmt.Errorf("%w: keys is missing; name the directory of the fleet's keys", yamlfile.ErrSyntax)
	}
	return f.path(f.Keys), nil
}

// url is where the server is reached: as it says, or the first host and the port that it
// listens on.
func (f fleetFile) url() (string, error) {
	if f.Server != "" {
		return f.Server, nil
	}
	_, port, err := net.SplitHostPort(f.Listen)
	if err != nil || len(f.Hosts) == 0 {
		return "", fmt.Errorf("%w: server is missing, and does not follow from hosts and listen; write the URL, such as https://fleet.example.org:8443", yamlfile.ErrSyntax)
	}
	return "https://" + net.JoinHostPort(f.Hosts[0], port), nil
}

// dial speaks to the server as the operator.
func (f fleetFile) dial() (operator.Services, error) {
	dir, err := f.keysDir()
	if err != nil {
		return operator.Services{}, err
	}
	url, err := f.url()
	if err != nil {
		return operator.Services{}, err
	}
	return operator.Dial(dir, url)
}

// learning is what the devices learn: in an environment of this module, or something of
// which it knows the number of weights alone.
type learning struct {
	run       operator.Run
	fleet     *fleet.Learning // nil for a learner of its own
	simulated simulate.Config
	optimizer train.Optimizer
	influence train.Influence
	theta     []float64
}

// defaultKeyDays is how long a run's keys are good: longer than most runs.
const defaultKeyDays = 365

func days(n float64) time.Duration { return time.Duration(n * 24 * float64(time.Hour)) }

// validKeys is how long the run's keys are good.
func (f fleetFile) validKeys() time.Duration { return days(cmp.Or(f.KeyDays, defaultKeyDays)) }

func (f fleetFile) learning() (learning, error) {
	var l learning
	t, err := f.Training.OfFleet()
	if err != nil {
		return l, err
	}
	l.run = operator.Run{Purpose: f.Purpose, Reports: t.Reports(), Valid: f.validKeys(), MinClient: f.Client}
	if f.Purpose == "" {
		return l, fmt.Errorf("%w: purpose is missing; say in words what the run is for: owners of devices consent to it", yamlfile.ErrSyntax)
	}
	if !t.Learns() {
		return f.own(l, t)
	}
	if f.Learner != nil || f.Weights != 0 {
		return l, fmt.Errorf("%w: learner and weights belong to a learner of its own, and training.environment names one of this program; keep one of them", yamlfile.ErrSyntax)
	}
	c, err := t.Config()
	if err != nil {
		return l, err
	}
	d, err := device.New(c.Local, c.Terms.Randomizer)
	if err != nil {
		return l, err
	}
	l.simulated, l.optimizer, l.influence = c, c.Terms.Optimizer, c.Terms.Influence
	l.fleet = &fleet.Learning{Environment: f.Training.Environment.Name, Local: c.Local}
	l.run.Randomizer, l.run.Dim = c.Terms.Randomizer, d.Dim()
	if l.run.Local, err = l.fleet.JSON(); err != nil {
		return l, err
	}
	l.theta = make([]float64, d.Dim())
	d.Init(l.theta, c.Init, rand.New(rand.NewPCG(c.Seed, 0x666c656574))) // public: it chooses where training begins
	return l, nil
}

// own is a learner that speaks to the agent and that this program knows nothing of.
func (f fleetFile) own(l learning, t yamlfile.Train) (learning, error) {
	var err error
	if f.Weights < 1 {
		return l, fmt.Errorf("%w: weights is %d; say how many the learner has, or name training.environment", yamlfile.ErrSyntax, f.Weights)
	}
	if l.run.Randomizer, err = t.Randomizer(); err != nil {
		return l, err
	}
	l.run.Dim, l.optimizer = f.Weights, t.Optimizer()
	if t.Server.Influence != nil {
		l.influence = *t.Server.Influence
	}
	learner := f.Learner
	if learner == nil {
		learner = map[string]any{}
	}
	if l.run.Local, err = json.Marshal(learner); err != nil {
		return l, fmt.Errorf("%w: learner: %w", yamlfile.ErrSyntax, err)
	}
	l.theta = make([]float64, f.Weights)
	return l, nil
}

func newFleetPlan() *cobra.Command {
	var budget float64
	cmd := fleetCommand("plan FLEET.yaml", "Tell what a run costs, before it begins",
		"Needs no server: epsilon of a device, reports that a policy has been seen to need, what travels, and how well private\nsuccess will be known.",
		func(cmd *cobra.Command, f fleetFile) error {
			l, err := f.learning()
			if err != nil {
				return err
			}
			p, err := operator.NewPlan(l.run, f.Schedule, l.fleet, aggregator.Learning{Optimizer: l.optimizer, Influence: l.influence})
			if err != nil {
				return err
			}
			if cmd.Flags().Changed("device-epsilon") && !(budget > 0) {
				return usage(fmt.Errorf("fleet plan: --device-epsilon is %v; want above 0", budget))
			}
			out := plannedFleet{Plan: p}
			if f.Training.Learns() { // else the devices have a learner of their own
				recipe, err := f.Training.Recipe()
				if err != nil {
					return err
				}
				out.Recipe = &recipe
			}
			if budget > 0 {
				pays := p.Pays(budget)
				out.Pays = &pays
			}
			return showBy(cmd, out, func(w io.Writer) { out.print(w, l.run, budget) })
		})
	cmd.Flags().Float64Var(&budget, "device-epsilon", 0, "what a device spends in its life, as its configuration says")
	return cmd
}

type plannedFleet struct {
	operator.Plan
	Pays   *int             `json:"reports_paid,omitempty"`
	Recipe *simulate.Recipe `json:"recipe,omitempty"`
}

func (p plannedFleet) print(w io.Writer, r operator.Run, budget float64) {
	fmt.Fprintf(w, "privacy   epsilon %.6g at most for a device, delta 0, local, replace_one; each of %d reports %s at epsilon %.6g\n", p.DeviceEpsilon, r.Reports, r.Randomizer.Mechanism, p.Epsilon)
	if p.Pays != nil {
		fmt.Fprintf(w, "budget    a device that spends epsilon %.6g in its life pays for %d of the %d reports, if it has spent nothing yet\n", budget, *p.Pays, p.ReportsPerDevice)
	} else {
		fmt.Fprintf(w, "budget    a device that spends less than epsilon %.6g in its life pays for fewer reports, one for each %.6g (--device-epsilon)\n", p.DeviceEpsilon, p.Epsilon)
	}
	if p.Recipe != nil {
		printRecipe(w, *p.Recipe)
	}
	fmt.Fprintf(w, "asked     %.4g reports of a device on average\n", p.Asked)
	fmt.Fprintf(w, "reports   %.0f at most, of %.0f devices at least, in %s\n", p.Reports, p.Devices, seconds(p.Seconds).Round(time.Second))
	if p.TooFew != "" {
		fmt.Fprintf(w, "success   NOT expected: %s, and half of the trials needed %.0f or more (%s); have more rounds, or more devices a round\n", p.TooFew, p.Success.Median, p.Success.Setting)
	} else if p.Success != nil {
		fmt.Fprintf(w, "success   first after %.0f reports, %.0f in half of the trials and %.0f in the slowest quarter; %.0f%% of trials succeed (%s, 20 trials in one process, whose updates grow by 1%%; docs/results/training.md)\n", p.Success.Lower, p.Success.Median, p.Success.Upper, 100*p.Success.Share, p.Success.Setting)
		if b := p.Success.Between; b != nil {
			fmt.Fprintf(w, "          not measured at epsilon %.4g: on a line between %g and %g, which were\n", p.Epsilon, b[0], b[1])
		}
	} else {
		fmt.Fprintf(w, "success   not measured: %s\n", p.Unmeasured)
	}
	if p.Refused != "" {
		fmt.Fprintf(w, "refused   by create: %s\n", p.Refused)
	}
	if p.StdError > 0 {
		fmt.Fprintf(w, "evaluate  the share of successful devices within +- %.3f (one standard deviation at most) from a full round of %d; %d answers tell a policy that works from others\n", p.StdError, p.Answers, p.AnswersNeeded)
	}
	fmt.Fprintf(w, "network   %d bytes up and %d down a report, without TLS and HTTP\n", p.BytesUp, p.BytesDown)
}
