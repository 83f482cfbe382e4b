package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/config"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// stewardVerb is a command that makes a call for stewards.
func (r *remote) stewardVerb(use, short string, arguments int, what string, run func(context.Context, io.Writer, curatorv1.StewardServiceClient, []string) error) *cobra.Command {
	return &cobra.Command{
		Use: use, Short: short, Args: exactly(arguments, what),
		RunE: func(cmd *cobra.Command, args []string) error {
			h, server, err := r.dial()
			if err != nil {
				return err
			}
			return answered(run(cmd.Context(), cmd.OutOrStdout(), curatorv1.NewStewardServiceClient(h, server), args))
		},
	}
}

func (r *remote) decide() *cobra.Command {
	var approve bool
	var refuse string
	cmd := &cobra.Command{
		Use: "decide ASK [--approve | --refuse REASON]", Short: "Steward: show what an ask asks, and approve or refuse it", Args: exactly(1, "the id of an ask"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if approve && refuse != "" {
				return usage(fmt.Errorf("remote decide: want --approve, --refuse REASON, or neither to read the question"))
			}
			h, server, err := r.dial()
			if err != nil {
				return err
			}
			ctx, w := cmd.Context(), cmd.OutOrStdout()
			a, err := curatorv1.NewCuratorServiceClient(h, server).GetAsk(ctx, &curatorv1.GetAskRequest{Id: args[0]})
			if err != nil {
				return answered(err)
			}
			if err := tellQuestion(w, a.GetAsk()); err != nil || !approve && refuse == "" {
				return err
			}
			d, err := curatorv1.NewStewardServiceClient(h, server).Decide(ctx, &curatorv1.DecideRequest{Id: args[0], Approve: approve, Reason: refuse})
			if err != nil {
				return answered(err)
			}
			tellAsk(w, d.GetAsk())
			return nil
		},
	}
	cmd.Flags().BoolVar(&approve, "approve", false, "have the ask answered")
	cmd.Flags().StringVar(&refuse, "refuse", "", "the reason of a refusal; the analyst reads it, so it must say nothing of the data")
	return cmd
}

// tellQuestion says in words what an ask asks, as it is read.
func tellQuestion(w io.Writer, a *curatorv1.AskState) error {
	c, err := config.Decode[discreet.Config]("the question", []byte(a.GetQuestion()), nil)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "%s  by %s, %s\n", a.GetId(), a.GetAnalyst(), stateName(a.GetState()))
	for _, line := range c.Asks() {
		fmt.Fprintf(w, "          %s\n", printable(strings.ReplaceAll(line, "\n", " ")))
	}
	return nil
}

func (r *remote) share() *cobra.Command {
	var b dp.Budget
	cmd := r.stewardVerb("share DATASET ANALYST --epsilon E --delta D", "Steward: give an analyst a share of the budget", 2, "a dataset and an analyst", func(ctx context.Context, _ io.Writer, c curatorv1.StewardServiceClient, args []string) error {
		_, err := c.SetShare(ctx, &curatorv1.SetShareRequest{Dataset: args[0], Analyst: args[1], Share: &curatorv1.Budget{Epsilon: b.Epsilon, Delta: b.Delta}})
		return err
	})
	budgetFlags(cmd, &b)
	return cmd
}

func (r *remote) notices() *cobra.Command {
	return r.stewardVerb("notices DATASET", "Steward: what checks found in the data; it is private", 1, "a dataset", func(ctx context.Context, w io.Writer, c curatorv1.StewardServiceClient, args []string) error {
		n, err := c.ListNotices(ctx, &curatorv1.ListNoticesRequest{Dataset: args[0], PageSize: 100})
		if err != nil {
			return err
		}
		fmt.Fprintf(w, "checks    %d failed, of at most %d before asks wait\n", n.GetFailedChecks(), n.GetMostFailedChecks())
		for _, x := range n.GetNotices() {
			fmt.Fprintf(w, "%s  %s  %s\n", x.GetTime().AsTime().Format(time.RFC3339), x.GetAsk(), printable(x.GetText()))
		}
		return nil
	})
}

func (r *remote) clear() *cobra.Command {
	return r.stewardVerb("clear DATASET", "Steward: say that you have looked at the failed checks", 1, "a dataset", func(ctx context.Context, w io.Writer, c curatorv1.StewardServiceClient, args []string) error {
		n, err := c.ClearChecks(ctx, &curatorv1.ClearChecksRequest{Dataset: args[0]})
		if err != nil {
			return err
		}
		_, err = fmt.Fprintf(w, "cleared   %d\n", n.GetCleared())
		return err
	})
}

func (r *remote) audit() *cobra.Command {
	return r.stewardVerb("audit DATASET", "Steward, auditor: who did what, a line each", 1, "a dataset", func(ctx context.Context, w io.Writer, c curatorv1.StewardServiceClient, args []string) error {
		page := ""
		for {
			l, err := c.ListAudit(ctx, &curatorv1.ListAuditRequest{Dataset: args[0], PageSize: 100, PageToken: page})
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
