package cli

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/yamlfile"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

func (r *remote) decide() *cobra.Command {
	var approve bool
	var refuse string
	cmd := r.verb("decide ASK [--approve | --refuse REASON]", "Steward: show what an ask asks, and approve or refuse it", 1, "the id of an ask", func(ctx context.Context, w io.Writer, c services, args []string) error {
		a, err := c.GetAsk(ctx, &curatorv1.GetAskRequest{Id: args[0]})
		if err != nil {
			return err
		}
		if err := tellQuestion(w, a.GetAsk()); err != nil || !approve && refuse == "" {
			return err
		}
		d, err := c.steward.Decide(ctx, &curatorv1.DecideRequest{Id: args[0], Approve: approve, Reason: refuse})
		if err != nil {
			return err
		}
		tellAsk(w, d.GetAsk())
		return nil
	})
	cmd.PreRunE = func(*cobra.Command, []string) error {
		if approve && refuse != "" {
			return usage(fmt.Errorf("remote decide: want --approve, --refuse REASON, or neither to read the question"))
		}
		return nil
	}
	cmd.Flags().BoolVar(&approve, "approve", false, "have the ask answered")
	cmd.Flags().StringVar(&refuse, "refuse", "", "the reason of a refusal; the analyst reads it, so it must say nothing of the data")
	return cmd
}

// tellQuestion says in words what an ask asks, as it is read.
func tellQuestion(w io.Writer, a *curatorv1.AskState) error {
	c, err := yamlfile.Decode[config.Config]("the question", []byte(a.GetQuestion()), nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s  by %s, %s\n", a.GetId(), a.GetAnalyst(), stateName(a.GetState()))
	for _, line := range c.Asks() {
		fmt.Fprintf(w, "          %s\n", printable(strings.ReplaceAll(line, "\n", " ")))
	}
	return nil
}

func (r *remote) setShare() *cobra.Command {
	var b dp.Budget
	cmd := r.verb("share DATASET ANALYST --epsilon E --delta D", "Steward: give an analyst a share of the budget", 2, "a dataset and an analyst", func(ctx context.Context, w io.Writer, c services, args []string) error {
		_, err := c.steward.SetShare(ctx, &curatorv1.SetShareRequest{Dataset: args[0], Analyst: args[1], Share: &curatorv1.Budget{Epsilon: b.Epsilon, Delta: b.Delta}})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "share     epsilon %g, delta %g of the budget for %s; of it the same fraction is in reserve as of the budget\n", b.Epsilon, b.Delta, printable(args[1]))
		return err
	})
	budgetFlags(cmd, &b)
	return cmd
}

func (r *remote) notices() *cobra.Command {
	return r.verb("notices DATASET", "Steward: what checks found in the data; it is private", 1, "a dataset", func(ctx context.Context, w io.Writer, c services, args []string) error {
		n, err := c.steward.ListNotices(ctx, &curatorv1.ListNoticesRequest{Dataset: args[0], PageSize: 100})
		if err != nil {
			return err
		}
		failed := "an unknown number, since the ledger cannot be trusted to say,"
		if n.FailedChecks != nil {
			failed = strconv.FormatInt(n.GetFailedChecks(), 10)
		}
		fmt.Fprintf(w, "checks    %s failed, of at most %d before asks wait\n", failed, n.GetMostFailedChecks())
		for _, x := range n.GetNotices() {
			fmt.Fprintf(w, "%s  %s  %s\n", x.GetTime().AsTime().Format(time.RFC3339), x.GetAsk(), printable(x.GetText()))
		}
		return nil
	})
}

func (r *remote) clear() *cobra.Command {
	return r.verb("clear DATASET", "Steward: say that you have looked at the failed checks", 1, "a dataset", func(ctx context.Context, w io.Writer, c services, args []string) error {
		n, err := c.steward.ClearChecks(ctx, &curatorv1.ClearChecksRequest{Dataset: args[0]})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "cleared   %d\n", n.GetCleared())
		return err
	})
}

func (r *remote) audit() *cobra.Command {
	return r.verb("audit DATASET", "Steward, auditor: who did what, a line each", 1, "a dataset", func(ctx context.Context, w io.Writer, c services, args []string) error {
		page := ""
		for {
			l, err := c.steward.ListAudit(ctx, &curatorv1.ListAuditRequest{Dataset: args[0], PageSize: 100, PageToken: page})
			if err != nil {
				return err
			}
			for _, e := range l.GetEntries() {
				fmt.Fprintf(w, "%6d  %s  %-12s %-22s %-36s %s\n", e.GetSeq(), e.GetTime().AsTime().Format(time.RFC3339), e.GetWho(), e.GetAddress(), e.GetAsk(), printable(e.GetWhat()))
			}
			if page = l.GetNextPageToken(); page == "" {
				return nil
			}
		}
	})
}
