package cli

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/config"
	"github.com/discreet-rl/discreet/internal/fleet/operator"
)

func newFleetEnrol() *cobra.Command {
	var count uint32
	var valid time.Duration
	cmd := operate("enrol FLEET.yaml --codes N", "Make codes with which devices enrol",
		"Prints one code a line, each good for one device. A device that has enrolled renews its certificate by itself.",
		func(cmd *cobra.Command, _ fleetFile, s operator.Services, asJSON bool) error {
			answer, err := s.Operator.CreateCodes(cmd.Context(), &fleetv1.CreateCodesRequest{Count: count, ValidFor: valid.Milliseconds()})
			if err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"codes": answer.GetCodes()})
			}
			_, err = io.WriteString(cmd.OutOrStdout(), strings.Join(answer.GetCodes(), "\n")+"\n")
			return err
		})
	cmd.Flags().Uint32Var(&count, "codes", 1, "the number of codes")
	cmd.Flags().DurationVar(&valid, "valid", 24*time.Hour, "how long they are good")
	return cmd
}

func newFleetRevoke() *cobra.Command {
	var path, code string
	cmd := operate("revoke FLEET.yaml --code CODE", "Take a device out of the fleet",
		"Takes the code that the device was given, used or not, or any of its certificates. All its certificates are refused,\nat this server at once and at its replicas within 30 seconds, and its code enrols nobody. Reports that were accepted stay.",
		func(cmd *cobra.Command, _ fleetFile, s operator.Services, asJSON bool) error {
			r := &fleetv1.RevokeRequest{Code: code}
			if (code == "") == (path == "") {
				return usage(errors.New("fleet revoke: want either --code or --certificate"))
			}
			if path != "" {
				c, err := readCertificate(path)
				if err != nil {
					return err
				}
				r.Serial = c.SerialNumber.Bytes()
			}
			if _, err := s.Operator.Revoke(cmd.Context(), r); err != nil {
				return err
			}
			if asJSON {
				return printJSON(cmd.OutOrStdout(), map[string]any{"revoked": true})
			}
			fmt.Fprintln(cmd.OutOrStdout(), "revoked")
			return nil
		})
	cmd.Flags().StringVar(&code, "code", "", "the device's code of enrolment")
	cmd.Flags().StringVar(&path, "certificate", "", "a certificate of the device, in PEM, in place of its code")
	return cmd
}

func readCertificate(path string) (*x509.Certificate, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%w: %s: no certificate in PEM", config.ErrSyntax, path)
	}
	c, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", config.ErrSyntax, path, err)
	}
	return c, nil
}
