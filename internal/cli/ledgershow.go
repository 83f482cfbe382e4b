package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/receipt"
)

// shownLedger is the JSON form of a ledger's state; docs/schema/ledger.v1.json
// describes it.
type shownLedger struct {
	Schema   string           `json:"schema"`
	Config   ledger.Opening   `json:"config"`
	Head     receipt.Head     `json:"head"`
	Budget   dp.Budget        `json:"budget"`
	Spent    dp.Budget        `json:"spent"`
	Left     allowance        `json:"left"`
	Charges  int64            `json:"charges"`
	Analysts []shownAnalyst   `json:"analysts"`
	Pending  []ledger.Pending `json:"pending"`
	// PendingCount may exceed the length of Pending, which is bounded.
	PendingCount int64                `json:"pending_count"`
	History      []ledger.Point       `json:"history"`
	Tight        *tight               `json:"all_at_once,omitempty"`
	Contract     *ledger.Contract     `json:"contract,omitempty"`
	FailedChecks []ledger.FailedCheck `json:"failed_checks,omitempty"`
	Witnesses    []string             `json:"witnesses,omitempty"`
	Warnings     []string             `json:"warnings,omitempty"`
}

// allowance is what is left, rounded down.
type allowance struct {
	// Epsilon and Delta are left where they add up: of all the budget under the
	// basic rule, else of the reserve.
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	// Mu is that of the largest Gaussian charge, Divergence what is left at the
	// order of the Renyi rule.
	Mu         float64 `json:"mu,omitempty"`
	Divergence float64 `json:"divergence,omitempty"`
	// One is the largest epsilon of one more Gaussian charge, at OneDelta.
	One      float64 `json:"one_gaussian_epsilon,omitempty"`
	OneDelta float64 `json:"one_gaussian_delta,omitempty"`
}

type shownAnalyst struct {
	Analyst string     `json:"analyst"`
	Charges int64      `json:"charges"`
	Spent   dp.Budget  `json:"spent"`
	Share   *dp.Budget `json:"share,omitempty"`
	Left    *allowance `json:"left,omitempty"`
	// buys is what is left in one release of Gaussian noise, for the table.
	buys string
}

func newLedgerShow() *cobra.Command {
	var dataset string
	cmd := command("show LEDGER", "What is spent and left, by analyst and over time, and what is pending",
		`What is spent and left, by analyst and over time, and what is pending. Of a store
with many datasets it is one line for each; name one with --dataset.`, oneLedger,
		func(cmd *cobra.Command, args []string) error {
			names := []string{dataset}
			if dataset == "" && !wantsJSON(cmd) {
				var err error
				if names, err = ledger.Datasets(cmd.Context(), args[0]); err != nil {
					return err
				}
				if len(names) > mostInFull {
					return summarise(cmd, args[0], names)
				}
			}
			return eachLedger(cmd.Context(), args[0], names, func(i int, l *ledger.Ledger) error {
				s, err := collect(cmd.Context(), l)
				if err != nil {
					return err
				}
				if wantsJSON(cmd) {
					return printJSON(cmd.OutOrStdout(), s)
				}
				if i > 0 {
					fmt.Fprintln(cmd.OutOrStdout())
				}
				return s.print(cmd.OutOrStdout())
			})
		})
	cmd.Flags().StringVar(&dataset, "dataset", "", "name of the dataset; all by default, and with --json the only one")
	jsonFlag(cmd, "JSON")
	return cmd
}

// collect gathers what is shown of a ledger.
func collect(ctx context.Context, l *ledger.Ledger) (*shownLedger, error) {
	sum, err := l.State(ctx)
	if err != nil {
		return nil, err
	}
	delta := sum.Budget.Delta - sum.Config.Reserve.Delta // at which spending is stated too
	s := &shownLedger{
		Schema: "discreet/ledger/v1", Config: sum.Config, Head: sum.Head, Budget: sum.Budget, Spent: sum.Spent,
		Left: newAllowance(sum.Left, delta), Charges: sum.Charges, Analysts: []shownAnalyst{},
		Pending: sum.Pending, PendingCount: sum.PendingCount, Contract: sum.Contract, FailedChecks: sum.FailedChecks, Witnesses: sum.Witnesses, Warnings: sum.Warnings,
	}
	for _, a := range sum.Analysts {
		shown := shownAnalyst{Analyst: a.Analyst, Charges: a.Charges, Spent: a.Spent, Share: a.Share, buys: largest(sum.Left, delta)}
		if a.Left != nil {
			shown.buys = largest(shareWithin(*a.Left, sum.Left), delta)
			left := newAllowance(*a.Left, 0) // the share's reserve is not known here
			shown.Left = &left
		}
		s.Analysts = append(s.Analysts, shown)
	}
	if s.History, err = l.History(ctx); err != nil {
		return nil, err
	}
	s.Tight, err = atOnce(ctx, l, sum)
	return s, err
}

// shareWithin is what is left of a share, of which no more than all that is left can be spent on one release.
func shareWithin(share, all account.Allowance) account.Allowance {
	share.Mu = min(share.Mu, all.Mu)
	return share
}

func newAllowance(a account.Allowance, delta float64) allowance {
	out := allowance{Epsilon: a.Basic.Epsilon, Delta: a.Basic.Delta, Mu: a.Mu, Divergence: a.Divergence}
	if a.Mu > 0 && delta > 0 {
		if b, err := account.GaussianEpsilon(a.Mu, delta); err == nil {
			out.One, out.OneDelta = b.Lower, delta
		}
	}
	return out
}

// print writes the tables.
func (s *shownLedger) print(w io.Writer) error {
	o := s.Config
	fmt.Fprintf(w, "dataset   %s (%s, %s, %s rule)\n", o.Dataset, oneOf(o.Unit), o.Adjacency, o.Rule)
	fmt.Fprintf(w, "budget    epsilon %g, delta %g\n", s.Budget.Epsilon, s.Budget.Delta)
	fmt.Fprintf(w, "spent     epsilon %.4g, delta %.4g, by %s\n", s.Spent.Epsilon, s.Spent.Delta, many(s.Charges, "charge"))
	s.printLeft(w)
	fmt.Fprintf(w, "analysts  %s\n", s.list())
	if t := s.Tight; t != nil && t.Epsilon != nil {
		fmt.Fprintf(w, "at once   epsilon in %v at delta %g, if all charges had been fixed in advance (%s): for information only, this is not what is left\n", *t.Epsilon, t.Delta, t.Accountant)
	} else if t != nil {
		fmt.Fprintf(w, "at once   not computed: %s\n", t.Omitted)
	}
	fmt.Fprintf(w, "head      entry %d, %s\n", s.Head.Seq, s.Head.Hash)
	if c := s.Contract; c != nil {
		fmt.Fprintf(w, "contract  version %d, sha256:%s\n", c.Number, c.Hash)
	}
	printChecks(w, s.FailedChecks)
	for _, place := range s.Witnesses {
		fmt.Fprintf(w, "witness   %s\n", printable(place))
	}
	for _, text := range s.Warnings {
		fmt.Fprintf(w, "warning   %s\n", alarm(w, text))
	}
	if err := s.printAnalysts(w); err != nil {
		return err
	}
	if err := s.printHistory(w); err != nil {
		return err
	}
	s.printPending(w)
	return nil
}

func (s *shownLedger) printLeft(w io.Writer) {
	l, where := s.Left, " in reserve for charges that the rule does not support"
	switch {
	case s.Config.Rule == account.Basic.String():
		where = ""
	case l.One > 0:
		fmt.Fprintf(w, "left      mu %.4g of Gaussian noise: one more charge of epsilon %s at delta %.4g\n", l.Mu, floored(l.One), l.OneDelta)
	default:
		fmt.Fprintln(w, "left      nothing for Gaussian noise")
	}
	fmt.Fprintf(w, "left      epsilon %.4g, delta %.4g%s\n", l.Epsilon, l.Delta, where)
}

// list says who may charge.
func (s *shownLedger) list() string {
	switch {
	case !s.Config.ClosedList:
		return "open: whoever has no share may spend up to the budget, under any name"
	case s.closed():
		return "closed: only those who have a share may charge"
	}
	return "whoever asks, until the first share closes the list"
}

// closed says that analysts without a share are refused.
func (s *shownLedger) closed() bool {
	return s.Config.ClosedList && slices.ContainsFunc(s.Analysts, func(a shownAnalyst) bool { return a.Share != nil })
}

func (s *shownLedger) printAnalysts(w io.Writer) error {
	if len(s.Analysts) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "\nanalyst\tcharges\tspent epsilon\tdelta\tshare\tleft")
	for _, a := range s.Analysts {
		share := "none: up to the budget"
		switch {
		case a.Share == nil && s.closed():
			share = "none: refused"
		case a.Share != nil:
			share = fmt.Sprintf("epsilon %g, delta %g", a.Share.Epsilon, a.Share.Delta)
		}
		fmt.Fprintf(t, "%s\t%d\t%.4g\t%.4g\t%s\t%s\n", a.Analyst, a.Charges, a.Spent.Epsilon, a.Spent.Delta, share, s.leftOf(a))
	}
	return t.Flush()
}

// leftOf is what an analyst may still spend, in one release where the rule is of
// Gaussian noise.
func (s *shownLedger) leftOf(a shownAnalyst) string {
	switch {
	case a.Share == nil && s.closed():
		return "nothing"
	case s.Config.Rule != account.Basic.String() && a.buys == "":
		return "nothing for Gaussian noise"
	case s.Config.Rule != account.Basic.String():
		return "one release of " + a.buys
	case a.Left == nil:
		return "as of the budget"
	}
	return fmt.Sprintf("epsilon %.4g, delta %.4g", min(a.Left.Epsilon, s.Left.Epsilon), min(a.Left.Delta, s.Left.Delta))
}

// mostRows bounds the tables; the JSON form has more.
const mostRows = 20

func (s *shownLedger) printHistory(w io.Writer) error {
	points := s.History
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "\nentry\ttime\tspent epsilon\tdelta\tof epsilon\tdelta")
	if n := len(points) - mostRows; n > 0 {
		fmt.Fprintf(t, "(%d earlier)\n", n)
		points = points[n:]
	}
	for _, p := range points {
		fmt.Fprintf(t, "%d\t%s\t%.4g\t%.4g\t%g\t%g\n", p.Seq, p.Time.Format(time.DateTime+" MST"), p.Spent.Epsilon, p.Spent.Delta, p.Budget.Epsilon, p.Budget.Delta)
	}
	return t.Flush()
}

func (s *shownLedger) printPending(w io.Writer) {
	if s.PendingCount == 0 {
		return
	}
	fmt.Fprintf(w, "\npending   %s without a recorded release. A run may be going on; if not, it failed or was\n", many(s.PendingCount, "charge"))
	fmt.Fprintln(w, "          interrupted after it was charged. Its budget is spent, and its key is never run again,")
	fmt.Fprintln(w, "          because its noise may have been seen: ask again with a new key.")
	for _, p := range s.Pending[:min(len(s.Pending), mostRows)] {
		fmt.Fprintf(w, "          entry %d of %s, analyst %s, key %s", p.Seq, p.Time.Format(time.DateTime+" MST"), p.Analyst, p.Key)
		if p.Purpose != "" {
			fmt.Fprintf(w, ": %s", p.Purpose)
		}
		fmt.Fprintln(w)
	}
	if more := s.PendingCount - mostRows; more > 0 {
		fmt.Fprintf(w, "          and %d more\n", more)
	}
}

// mostInFull is how many datasets of a store are shown one after the other; of
// more, such as the agents of a fleet, a line each.
const mostInFull = 5

// summarise prints a line for a dataset, up to a screen of them, and what holds of
// all.
func summarise(cmd *cobra.Command, location string, names []string) error {
	t := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 3, ' ', 0)
	fmt.Fprintln(t, "dataset\tcharges\tpending\tspent epsilon\tdelta\tof epsilon\tdelta")
	var charges, pending int64
	var most dp.Budget
	err := eachLedger(cmd.Context(), location, names, func(i int, l *ledger.Ledger) error {
		s, err := l.State(cmd.Context())
		if err != nil {
			return err
		}
		charges, pending = charges+s.Charges, pending+s.PendingCount
		most = dp.Budget{Epsilon: max(most.Epsilon, s.Spent.Epsilon), Delta: max(most.Delta, s.Spent.Delta)}
		if i < mostRows {
			fmt.Fprintf(t, "%s\t%d\t%d\t%.4g\t%.4g\t%g\t%g\n", names[i], s.Charges, s.PendingCount, s.Spent.Epsilon, s.Spent.Delta, s.Budget.Epsilon, s.Budget.Delta)
		}
		return nil
	})
	if err != nil {
		return err
	}
	if more := len(names) - mostRows; more > 0 {
		fmt.Fprintf(t, "(%d more)\n", more)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err = fmt.Fprintf(cmd.OutOrStdout(), "\n%s: %s, %d pending; the most that one has spent is epsilon %.4g, delta %.4g\nname one with --dataset for all of it\n",
		many(len(names), "dataset"), many(charges, "charge"), pending, most.Epsilon, most.Delta)
	return err
}
