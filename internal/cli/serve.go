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
	cmd := &cobra.Command{
		Use:   "serve CONFIG.yaml",
		Short: "Run the curator's service: analysts plan and ask over HTTPS",
		Long: `Run the curator's service beside the data. Analysts plan and ask, by HTTPS or in a
browser; a steward decides. Outside loopback it needs TLS. The first Ctrl-C brings
the asks that are being answered to their end; the second ends the process at
once, which spends nothing twice. docs/serve.md explains the keys.`,
		Args: exactly(1, "one configuration"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := serve.Load(args[0])
			if err != nil {
				return err
			}
			return runServe(cmd.Context(), cmd.OutOrStdout(), c, args[0])
		},
	}
	cmd.AddCommand(newServeToken(), newServeAudit())
	return cmd
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
	return &cobra.Command{
		Use:   "audit CONFIG.yaml",
		Short: "Recompute the chain of the audit log; print its length and last hash, to be noted elsewhere",
		Args:  exactly(1, "one configuration"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := serve.Load(args[0])
			if err != nil {
				return err
			}
			lines, last, err := c.VerifyAudit(cmd.Context())
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "audit     %d lines, each holds the hash of the one before; the last is %x\n", lines, last)
			return err
		},
	}
}

func newServeToken() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Make, list and revoke bearer tokens",
		Args:  noOther,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newTokenCreate(), newTokenRevoke(), newTokenList())
	return cmd
}

func newTokenCreate() *cobra.Command {
	var label string
	var lifetime time.Duration
	cmd := &cobra.Command{
		Use:   "create CONFIG.yaml PERSON",
		Short: "Make a bearer token for a person; it is shown once",
		Args:  exactly(2, "a configuration and a person"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := serve.Load(args[0])
			if err != nil {
				return err
			}
			token, err := c.CreateToken(args[1], label, lifetime)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(cmd.OutOrStdout(), token)
			return err
		},
	}
	cmd.Flags().StringVar(&label, "label", "first", "what the token is called, such as the machine that it is for")
	cmd.Flags().DurationVar(&lifetime, "expires", 90*24*time.Hour, "how long it is good")
	return cmd
}

func newTokenRevoke() *cobra.Command {
	var label string
	cmd := &cobra.Command{
		Use:   "revoke CONFIG.yaml PERSON",
		Short: "Take a token back; a service that runs knows it within a second",
		Args:  exactly(2, "a configuration and a person"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := serve.Load(args[0])
			if err != nil {
				return err
			}
			return c.RevokeToken(args[1], label)
		},
	}
	cmd.Flags().StringVar(&label, "label", "first", "what the token is called")
	return cmd
}

func newTokenList() *cobra.Command {
	return &cobra.Command{
		Use:   "list CONFIG.yaml",
		Short: "List the tokens that were made",
		Args:  exactly(1, "one configuration"),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := serve.Load(args[0])
			if err != nil {
				return err
			}
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
		},
	}
}
