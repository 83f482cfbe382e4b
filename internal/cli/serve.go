package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/spf13/cobra"

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
	cmd.AddCommand(newServeAudit(), family("token", "Make, list and revoke bearer tokens", "", newTokenCreate(), newTokenRevoke(), newTokenList()))
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
