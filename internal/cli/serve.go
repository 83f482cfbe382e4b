package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/serve"
)

func newServe() *cobra.Command {
	cmd := ofService("serve CONFIG.yaml", "Run the curator's service: analysts plan and ask over HTTPS", oneConfiguration,
		func(cmd *cobra.Command, c serve.Config, args []string) error {
			return runServe(cmd.Context(), cmd.OutOrStdout(), c, args[0])
		})
	cmd.Long = `Run the curator's service beside the data. Analysts plan and ask, by HTTPS or in a
browser; a steward decides. Outside loopback it needs TLS. The first Ctrl-C brings
the asks that are being answered to their end; the second ends the process at
once, which spends nothing twice. docs/serve.md explains the keys.`
	cmd.AddCommand(newServeAudit(), newServeBackup(), newServeRestore(), family("token", "Make, list and revoke bearer tokens", "", newTokenCreate(), newTokenRevoke(), newTokenList()))
	return cmd
}

// ofService is a command that reads the configuration of a service, its first argument.
func ofService(use, short string, args cobra.PositionalArgs, run func(*cobra.Command, serve.Config, []string) error) *cobra.Command {
	return command(use, short, "", args, func(cmd *cobra.Command, args []string) error {
		c, err := serve.Load(args[0])
		if err != nil {
			return err
		}
		return run(cmd, c, args)
	})
}

func runServe(ctx context.Context, w io.Writer, c serve.Config, path string) (err error) {
	s, err := serve.Open(ctx, c)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	address, err := s.Listen(ctx)
	if err != nil {
		return err
	}
	scheme := "http"
	if c.TLS != nil {
		scheme = "https"
	}
	fmt.Fprintf(w, "listening %s://%s\n", scheme, address)
	if list, err := c.ListTokens(); err == nil && len(list) == 0 {
		fmt.Fprintf(w, "sign in   nobody has a token yet: discreet serve token create %s PERSON, and enter it at %s://%s\n", path, scheme, address)
	}
	ballast := service.Ballast()
	defer runtime.KeepAlive(ballast)
	return s.Run(ctx)
}

func newServeAudit() *cobra.Command {
	return ofService("audit CONFIG.yaml", "Recompute the chain of the audit log; print its length and last hash, to be noted elsewhere", oneConfiguration,
		func(cmd *cobra.Command, c serve.Config, _ []string) error {
			lines, last, err := c.VerifyAudit(cmd.Context())
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "audit     %d lines, each holds the hash of the one before; the last is %x\n", lines, last)
			return err
		})
}

func newServeBackup() *cobra.Command {
	cmd := ofService("backup CONFIG.yaml DIR", "Write store, ledgers and tokens into a new directory, while the service runs", exactly(2, "a configuration and a new directory"),
		func(cmd *cobra.Command, c serve.Config, args []string) error {
			if err := c.Backup(cmd.Context(), args[1]); err != nil {
				return err
			}
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "backup    %s; keep it as secret as the ledger\n", args[1])
			return err
		})
	cmd.Long = `Write store, ledgers and tokens of a service into a new directory, with the digest
of each file. The service may run meanwhile. DIR has its name once it is whole.`
	return cmd
}

func newServeRestore() *cobra.Command {
	var reason string
	var lostNothing bool
	cmd := ofService("restore CONFIG.yaml [DIR] --reason WHY", "Put back what is missing from a backup, and book what is not known as spent", between(1, 2, "a configuration and a backup"),
		func(cmd *cobra.Command, c serve.Config, args []string) error {
			dir := ""
			if len(args) == 2 {
				dir = args[1]
			}
			done, err := c.Restore(cmd.Context(), dir, reason, lostNothing)
			for _, line := range done {
				fmt.Fprintln(cmd.OutOrStdout(), line)
			}
			if err == nil && len(done) == 0 {
				fmt.Fprintln(cmd.OutOrStdout(), "nothing is missing")
			}
			return err
		})
	cmd.Long = `Stop the service, move away what is damaged, and put back what is missing from a
backup; what is there is not touched. A ledger that is put back has no budget left,
because nobody knows what was charged after the backup; --lost-nothing says that
nothing was, and witnesses and store are asked whether they know better. Then, or
without a backup, charges of the ledger that the store does not know are taken
over: they stay spent.`
	cmd.Flags().StringVar(&reason, "reason", "", "why it is restored; kept in the ledger and in the audit log")
	cmd.Flags().BoolVar(&lostNothing, "lost-nothing", false, "nothing was charged after the backup")
	return cmd
}

func newTokenCreate() *cobra.Command {
	var label string
	var lifetime time.Duration
	cmd := ofService("create CONFIG.yaml PERSON", "Make a bearer token for a person; it is shown once", exactly(2, "a configuration and a person"),
		func(cmd *cobra.Command, c serve.Config, args []string) error {
			token, err := c.CreateToken(args[1], label, lifetime)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), token)
			return err
		})
	cmd.Flags().StringVar(&label, "label", "first", "what the token is called, such as the machine that it is for")
	cmd.Flags().DurationVar(&lifetime, "expires", 90*24*time.Hour, "how long it is good")
	return cmd
}

func newTokenRevoke() *cobra.Command {
	var label string
	cmd := ofService("revoke CONFIG.yaml PERSON", "Take a token back; a service that runs knows it within a second", exactly(2, "a configuration and a person"),
		func(_ *cobra.Command, c serve.Config, args []string) error { return c.RevokeToken(args[1], label) })
	cmd.Flags().StringVar(&label, "label", "first", "what the token is called")
	return cmd
}

func newTokenList() *cobra.Command {
	return ofService("list CONFIG.yaml", "List the tokens that were made", oneConfiguration,
		func(cmd *cobra.Command, c serve.Config, _ []string) error {
			all, err := c.ListTokens()
			if err != nil {
				return err
			}
			for _, t := range all {
				state := "until " + t.Expires.Format(time.RFC3339)
				if t.Revoked != nil {
					state = "revoked " + t.Revoked.Format(time.RFC3339)
				} else if !t.Valid(time.Now()) {
					state = "expired " + t.Expires.Format(time.RFC3339)
				}
				fmt.Fprintf(cmd.OutOrStdout(), "%-16s %-16s %s\n", t.Person, t.Label, state)
			}
			return nil
		})
}
