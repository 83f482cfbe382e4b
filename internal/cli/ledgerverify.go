package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// ledgerVerdict is what was found right of one dataset.
type ledgerVerdict struct {
	Dataset string     `json:"dataset"`
	Ledger  string     `json:"ledger"`
	Head    chain.Head `json:"head"`
	Charges int64      `json:"charges,omitempty"`
	Pending int64      `json:"pending,omitempty"`
	// Paid is the number of the entry that paid for the release, where one is
	// checked.
	Paid int64 `json:"paid_by_entry,omitempty"`
}

func newLedgerVerify() *cobra.Command {
	var dataset, key, head string
	cmd := command("verify LEDGER [RELEASE.json]", "Recompute the chain and the accounting, and hold a release against them",
		`Recompute the chain of hashes, the cost of every charge, and all sums, and hold
what is kept beside the chain against it; without --dataset, of every dataset. The
entry at fault is named.

With a release, also check all that discreet verify checks, that the entry it
names paid for it, and that its bytes are the recorded ones. With --head, noted
from an earlier show or verify, check that the ledger still holds that entry: one
that was rolled back does not.

LEDGER may also be a file that export or backup wrote; it is verified by itself.
Releases and --head are held against a ledger: this one, or one restored from a
backup.`, between(1, 2, "a ledger and perhaps a release"),
		func(cmd *cobra.Command, args []string) error {
			if len(args) == 1 && key != "" {
				return usage(fmt.Errorf("%s: --public-key checks a release; name one", cmd.CommandPath()))
			}
			v := verdict{Valid: true}
			w := words(cmd)
			kind, err := storedAs(args[0])
			switch {
			case err != nil:
				return err
			case kind != "" && (len(args) == 2 || head != ""):
				return usage(fmt.Errorf("%s: %s is %s of a ledger, which is verified by itself; to check a release or --head, give the ledger, or one restored from a backup", cmd.CommandPath(), args[0], kind))
			case kind != "":
				err = v.written(w, args[0], kind)
			case len(args) == 2:
				err = v.releaseAndLedger(cmd, w, args[0], args[1], dataset, key)
			default:
				err = v.ledgers(cmd, w, args[0], dataset)
			}
			if err == nil && head != "" {
				err = v.head(cmd, w, args[0], dataset, head)
			}
			if err != nil || !wantsJSON(cmd) {
				return err
			}
			return printJSON(cmd.OutOrStdout(), v)
		})
	datasetFlag(cmd, &dataset)
	cmd.Flags().StringVar(&key, "public-key", "", "public key of the release's signer (PEM)")
	cmd.Flags().StringVar(&head, "head", "", "an earlier head, NUMBER:HASH, that the ledger must still hold")
	jsonFlag(cmd, "JSON")
	return cmd
}

func (v *verdict) ledgers(cmd *cobra.Command, w io.Writer, location, dataset string) error {
	names := []string{dataset}
	if dataset == "" {
		var err error
		if names, err = ledger.Datasets(cmd.Context(), location); err != nil {
			return err
		}
		if len(names) == 0 {
			return failed(shown(location), fmt.Errorf("%w: it holds no dataset at all, so there is nothing that could be right; discreet ledger init begins one", ledger.ErrNoDataset))
		}
	}
	return eachLedger(cmd.Context(), location, names, func(_ int, l *ledger.Ledger) error { return v.ledger(cmd, w, location, l) })
}

func (v *verdict) ledger(cmd *cobra.Command, w io.Writer, location string, l *ledger.Ledger) error {
	if err := l.Verify(cmd.Context()); err != nil {
		return failed(shown(location), err)
	}
	s, err := l.State(cmd.Context())
	if err != nil {
		return err
	}
	v.Ledgers = append(v.Ledgers, ledgerVerdict{Dataset: l.Dataset(), Ledger: s.Config.Ledger, Head: s.Head, Charges: s.Charges, Pending: s.PendingCount})
	fmt.Fprintf(w, "ledger      dataset %s: entries 0 to %d, %s (%d pending); chain, costs and sums are right\n", l.Dataset(), s.Head.Seq, many(s.Charges, "charge"), s.PendingCount)
	fmt.Fprintf(w, "head        %s\n", s.Head.Hash)
	for _, place := range s.Witnesses {
		fmt.Fprintf(w, "witness     %s knows nothing that is not in it\n", printable(place))
	}
	for _, warning := range s.Warnings {
		v.note(w, warning)
	}
	return nil
}

func (v *verdict) releaseAndLedger(cmd *cobra.Command, w io.Writer, location, path, dataset, key string) error {
	text, err := readDocument(path)
	if err != nil {
		return err
	}
	v.Release = path
	found, err := v.release(w, path, text, key, true)
	if err != nil {
		return err
	}
	text = found.JSON // out of its envelope
	stamp, err := ledger.StampOf(text)
	if err != nil {
		return failed(path, err)
	}
	if dataset == "" {
		dataset = stamp.Dataset
	}
	return withLedger(cmd.Context(), location, dataset, func(l *ledger.Ledger) error {
		if err := v.ledger(cmd, w, location, l); err != nil {
			return err
		}
		if err := l.VerifyRelease(cmd.Context(), text); errors.Is(err, ledger.ErrTampered) {
			// The ledger was found right just before, so it is the release that was changed.
			what := strings.TrimPrefix(err.Error(), ledger.ErrTampered.Error()+": ")
			return failure(fmt.Errorf("%s: the release differs from what the ledger recorded; the ledger itself is intact: %s", path, what))
		} else if err != nil {
			return failed(path, err)
		}
		v.Ledgers[0].Paid = stamp.Seq
		fmt.Fprintf(w, "release     entry %d paid for it, and these are the bytes that were recorded\n", stamp.Seq)
		if unsigned(found) {
			v.note(w, unsignedHere)
		} else if key == "" {
			v.note(w, uncheckedHere)
		}
		return nil
	})
}

// head checks that the ledger still holds what was its head once.
func (v *verdict) head(cmd *cobra.Command, w io.Writer, location, dataset, text string) error {
	number, hash, _ := strings.Cut(text, ":")
	var h chain.Head
	var err error
	if h.Seq, err = strconv.ParseInt(number, 10, 64); err == nil {
		err = h.Hash.UnmarshalText([]byte(hash))
	}
	if err != nil {
		return usage(fmt.Errorf("%s: --head is %q; want NUMBER:HASH, as in 7:%s", cmd.CommandPath(), text, chain.Hash{}))
	}
	return withLedger(cmd.Context(), location, dataset, func(l *ledger.Ledger) error {
		if err := l.VerifyHead(cmd.Context(), h); err != nil {
			return failed(shown(location), err)
		}
		fmt.Fprintf(w, "head        entry %d is still what it was\n", h.Seq)
		return nil
	})
}

// The files that are written from a ledger.
const (
	anExport = "an export"
	aBackup  = "a backup"
)

// storedAs tells a file that export or backup wrote by its first bytes; anything
// else is left to the ledger to open.
func storedAs(location string) (string, error) {
	info, err := os.Stat(location)
	if err != nil || !info.Mode().IsRegular() {
		return "", nil // a URL, or what the ledger explains better
	}
	f, err := os.Open(location)
	if err != nil {
		return "", usage(err)
	}
	defer f.Close()
	start, err := io.ReadAll(io.LimitReader(f, 16))
	switch {
	case err != nil:
		return "", err
	case bytes.HasPrefix(start, []byte(`{"hash":`)):
		return anExport, nil
	case bytes.HasPrefix(start, []byte(`{"backup":`)):
		return aBackup, nil
	}
	return "", nil
}

// written verifies an export or a backup by itself.
func (v *verdict) written(w io.Writer, path, kind string) error {
	f, err := os.Open(path)
	if err != nil {
		return usage(err)
	}
	defer f.Close()
	check := ledger.VerifyExport
	if kind == aBackup {
		check = ledger.VerifyBackup
	}
	config, head, err := check(f)
	if err != nil {
		return failed(path, err)
	}
	v.Ledgers = append(v.Ledgers, ledgerVerdict{Dataset: config.Dataset, Ledger: config.Ledger, Head: head})
	fmt.Fprintf(w, "%-11s dataset %s: entries 0 to %d; chain, costs and sums are right\n", strings.Fields(kind)[1], printable(config.Dataset), head.Seq)
	fmt.Fprintf(w, "head        %s\n", head.Hash)
	return nil
}
