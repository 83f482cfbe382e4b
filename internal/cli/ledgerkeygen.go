package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/internal/signature"
)

func newLedgerKeygen() *cobra.Command {
	return &cobra.Command{
		Use:   "keygen KEY.pem",
		Short: "Make a key pair that signs releases",
		Long: `Make an Ed25519 key pair: KEY.pem signs (sign in a configuration, or evaluate
--sign-key) and stays with the steward; KEY.pub.pem is for everyone who checks.
Hand it out by another way than the releases.`,
		Args: exactly(1, "one file"),
		RunE: func(cmd *cobra.Command, args []string) error {
			public := strings.TrimSuffix(args[0], ".pem") + ".pub.pem"
			key, err := signature.Generate(args[0], public)
			if err != nil {
				return err
			}
			fmt.Fprintf(cmd.OutOrStdout(), "%s   keep secret\n%s   hand out; its identity is %s\n", args[0], public, signature.KeyID(key))
			return nil
		},
	}
}
