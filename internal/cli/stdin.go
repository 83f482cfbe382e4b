package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/config"
)

// Data that come through a pipe, as from a database. They are read more than once, so that
// they are first kept in a temporary file without a name, which is gone with the process
// however that ends, and stands in the place of standard input.

const (
	piped = "-"
	stdin = "/dev/stdin"
)

// fromStandardInput has a configuration whose data.path is "-" read standard input.
func fromStandardInput(cmd *cobra.Command, c *config.Config) error {
	switch {
	case !slices.Contains(c.Data.Path, piped):
		return nil
	case len(c.Data.Path) > 1:
		return usage(errors.New("data.path: standard input (-) is not read beside files: write it into a file, or pipe all data"))
	}
	path, err := received(cmd, c.Data.Format)
	c.Data.Path = config.Names{path}
	return err
}

// received keeps standard input, and is the path of what was kept.
func received(cmd *cobra.Command, format string) (string, error) {
	if format == "" || format == "minari" {
		return "", usage(errors.New("of data on standard input (-) the format has to be named (data.format, or --format): arrow, csv, ndjson or parquet"))
	}
	in := cmd.InOrStdin()
	if f, ok := in.(*os.File); ok {
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			return stdin, nil
		}
	}
	f, err := os.CreateTemp("", "discreet-stdin-*")
	if err == nil {
		err = os.Remove(f.Name())
	}
	if err == nil {
		_, err = io.Copy(f, stoppable{cmd.Context(), in})
	}
	if err == nil {
		err = standIn(f)
	}
	if err != nil {
		return "", fmt.Errorf("standard input could not be kept in a temporary file in %s: %w", os.TempDir(), err)
	}
	return stdin, f.Close()
}

// stoppable is a reader that a context ends.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}
