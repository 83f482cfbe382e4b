package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"os"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/audit"
)

// foreignAudit is an audit of a mechanism of which there are samples alone.
type foreignAudit struct {
	event, samples string
	canaries       string
	adjacency      string
	delta          float64
	falseAlarm     float64
}

func newAudit() *cobra.Command {
	var foreign foreignAudit
	var own planAudit
	cmd := command("audit [CONFIG.yaml]", "Test whether a mechanism reveals more than it claims",
		`Run the plan of CONFIG.yaml on neighbouring datasets that are generated from public
facts, and compare what the runs reveal with what the plan claims. No data and no
ledger are opened. Bugs are planted first, to check that they are found. With a
training configuration the reports of agents are tested in the same way.

With --event and --samples, compute a lower bound on the privacy loss of a mechanism of
your own, from samples of what it released on two neighbouring datasets, and compare
the bound with an event. FILE is CSV with a header: a column world, 0 or 1, and one or more
columns of numbers; each row is the outcome of an independent run. A bound above the
event's shows that the mechanism does not keep to the event, except with the
false-alarm probability. A bound below it proves nothing: other datasets may reveal more.
Exit code 1 if the bound is above the event's.

With --canaries in place of --samples one run is enough: FILE has a row for each of many
records that were included or left out by separate fair coins, with the columns member,
0 or 1, and score, a number that is larger if the record seems to be included
(Steinke, Nasr, Jagielski 2023).`, nil,
		func(cmd *cobra.Command, args []string) error {
			if len(args) > 1 || len(args) == 1 && (foreign.event != "" || foreign.samples != "" || foreign.canaries != "") {
				return usage(fmt.Errorf("audit: want one configuration, or --event and --samples"))
			}
			without, of := []string{"set", "runs", "seed", "output", "one-run"}, "of a configuration"
			if len(args) == 1 {
				without, of = []string{"delta", "false-alarm", "adjacency"}, "of --samples and --canaries"
			}
			for _, name := range without {
				if cmd.Flags().Changed(name) {
					return usage(fmt.Errorf("audit: --%s is %s, and would change nothing here; leave it out", name, of))
				}
			}
			if len(args) == 1 {
				return own.run(cmd, args[0])
			}
			out, err := foreign.run(cmd)
			if err != nil {
				return err
			}
			if err := showBy(cmd, out, out.print); err != nil {
				return err
			}
			return out.broken
		})
	f := cmd.Flags()
	f.StringVar(&foreign.event, "event", "", "the event that a mechanism of your own claims, a JSON file or -")
	f.StringVar(&foreign.samples, "samples", "", "its outcomes on two neighbouring datasets, a CSV file")
	f.StringVar(&foreign.canaries, "canaries", "", "in place of --samples: scores of many canaries from one run, a CSV file")
	f.StringVar(&foreign.adjacency, "adjacency", "", "with --samples: how the two datasets differ, replace_one or add_remove_one")
	f.Float64Var(&foreign.delta, "delta", 1e-5, "with --samples: delta of the epsilon that is bounded")
	f.Float64Var(&foreign.falseAlarm, "false-alarm", audit.DefaultFalseAlarm, "with --samples: probability that the bound is wrong")
	setFlag(cmd)
	f.IntVar(&own.Runs, "runs", 0, "with a configuration: runs on each of two neighbouring datasets; by default as many as the claim needs")
	f.Uint64Var(&own.Seed, "seed", 0, "with a configuration: seed of the audit")
	f.StringVarP(&own.page, "output", "o", "", "with a configuration: also write a page (.html), a new file")
	f.BoolVar(&own.OneRun, "one-run", false, "with a training configuration: also have many canaries report in one run")
	jsonFlag(cmd, "JSON")
	return cmd
}

// foreignVerdict is what an audit of samples prints.
type foreignVerdict struct {
	Event     dp.Event     `json:"event"`
	Adjacency dp.Adjacency `json:"adjacency"`
	Claim     audit.Claim  `json:"claim"`
	Found     *audit.Found `json:"found,omitempty"`
	Power     *audit.Power `json:"power,omitempty"`
	// Once and OncePower are of one run with canaries.
	Once      *audit.Once      `json:"one_run,omitempty"`
	OncePower *audit.OncePower `json:"one_run_power,omitempty"`
	Broken    bool             `json:"broken"`
	Reason    string           `json:"reason,omitempty"`

	broken error
}

func (a foreignAudit) run(cmd *cobra.Command) (*foreignVerdict, error) {
	if a.event == "" || (a.samples == "") == (a.canaries == "") || a.adjacency == "" {
		return nil, usage(fmt.Errorf("audit: want a configuration, or --event, --adjacency and one of --samples and --canaries"))
	}
	adjacency, err := dp.ParseAdjacency(a.adjacency)
	if err != nil {
		return nil, err
	}
	text, err := readInput(cmd, a.event)
	if err != nil {
		return nil, err
	}
	v := &foreignVerdict{Adjacency: adjacency}
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, fmt.Errorf("%s: %w: the input is empty; write an event, such as {\"kind\": \"gaussian\", \"noise_multiplier\": 1.1}", a.event, dp.ErrEvent)
	}
	if v.Event, err = dp.ParseEvent(text); err != nil {
		return nil, fmt.Errorf("%s: %w", a.event, err)
	}
	if v.Claim, err = audit.NewClaim(v.Event, adjacency, a.delta); err != nil {
		return nil, err
	}
	if a.canaries != "" {
		return v, a.once(v)
	}
	return v, a.many(v)
}

// many audits by samples of many runs.
func (a foreignAudit) many(v *foreignVerdict) error {
	samples, err := readFile(a.samples, audit.ReadSamples)
	if err != nil {
		return err
	}
	found, err := samples.Bound(audit.Options{Delta: a.delta, FalseAlarm: a.falseAlarm})
	if err != nil {
		return err
	}
	v.Found = &found
	if v.Claim.Mu > 0 {
		power := v.Claim.Power(min(len(samples.Worlds[0]), len(samples.Worlds[1])), a.falseAlarm)
		v.Power = &power
	}
	return v.judge(v.Claim.Hold(found))
}

// once audits by one run with canaries.
func (a foreignAudit) once(v *foreignVerdict) error {
	run, err := readFile(a.canaries, audit.ReadOneRun)
	if err != nil {
		return err
	}
	found, err := run.Bound(audit.Options{Delta: a.delta, FalseAlarm: a.falseAlarm})
	if err != nil {
		return err
	}
	power := v.Claim.PowerOnce(found.Canaries, found.FalseAlarm)
	v.Once, v.OncePower = &found, &power
	return v.judge(v.Claim.HoldOnce(found))
}

// readFile reads a file by a function whose errors name places in it.
func readFile[T any](path string, read func(io.Reader) (T, error)) (T, error) {
	var none T
	file, err := os.Open(path)
	if err != nil {
		return none, usage(err)
	}
	defer file.Close()
	x, err := read(file)
	if err != nil {
		return none, fmt.Errorf("%s: %w", path, err)
	}
	return x, nil
}

// judge keeps that a claim is broken; any other error is returned.
func (v *foreignVerdict) judge(err error) error {
	if errors.Is(err, audit.ErrBroken) {
		v.Broken, v.Reason, v.broken = true, err.Error(), err
		return nil
	}
	return err
}

func (v *foreignVerdict) print(w io.Writer) {
	fmt.Fprintf(w, "claim     %s, %v\n", claimText(v.Claim), v.Adjacency)
	if v.Once != nil {
		v.printOnce(w)
		return
	}
	fmt.Fprintf(w, "found     epsilon at least %.4g", v.Found.Epsilon)
	if v.Claim.Mu > 0 {
		fmt.Fprintf(w, ", mu at least %.4g (%.0f%% of the claim)", v.Found.Mu, math.Floor(100*v.Found.Mu/v.Claim.Mu))
	}
	fmt.Fprintf(w, "; wrong with probability at most %g\n", v.Found.FalseAlarm)
	for _, r := range v.Found.Regions {
		fmt.Fprintf(w, "test      %q %s %.5g: %d of %d runs in world 0, %d of %d in world 1\n",
			r.Number, [2]string{"<", ">="}[r.Answering], r.Threshold, r.Hits[0], r.Runs[0], r.Hits[1], r.Runs[1])
	}
	if v.Power != nil {
		fmt.Fprintf(w, "power     this many runs are expected to show %.0f%% of mu, and find noise at half the claimed scale with probability %.4f\n",
			math.Floor(100*v.Power.Expected/v.Claim.Mu), v.Power.HalfNoise)
	}
	v.printVerdict(w, "other datasets")
}

func (v *foreignVerdict) printVerdict(w io.Writer, unseen string) {
	if v.Broken {
		fmt.Fprintf(w, "verdict   %s\n", alarm(w, "BROKEN: "+v.Reason))
		return
	}
	fmt.Fprintf(w, "verdict   within the claim; this proves nothing about %s\n", unseen)
}

func (v *foreignVerdict) printOnce(w io.Writer) {
	fmt.Fprintf(w, "found     epsilon at least %.4g; %d of %d guesses about %d canaries were right; wrong with probability at most %g\n",
		v.Once.Epsilon, v.Once.Right, v.Once.Guessed, v.Once.Canaries, v.Once.FalseAlarm)
	printOncePower(w, *v.OncePower, *v.Once, v.Claim)
	v.printVerdict(w, "other canaries, or of other scores")
}

// printOncePower says what one run can find at all.
func printOncePower(w io.Writer, p audit.OncePower, f audit.Once, c audit.Claim) {
	fmt.Fprintf(w, "power     a mechanism without noise would show epsilon %.4g; one that answers for each canary by randomised response at the claim would show %.4g\n", p.Most, p.Expected)
	switch {
	case p.Most > c.Epsilon:
	case p.Most == 0:
		fmt.Fprintf(w, "          so nothing can be found: delta %g is too large beside a false-alarm rate of %g\n", f.Delta, f.FalseAlarm)
	default:
		fmt.Fprintln(w, "          so few canaries cannot refute this claim: create more")
	}
}

func claimText(c audit.Claim) string {
	text := fmt.Sprintf("epsilon %.4g at delta %g", c.Epsilon, c.Delta)
	if c.Mu > 0 {
		text += fmt.Sprintf(" (mu %.4g)", c.Mu)
	}
	return text
}
