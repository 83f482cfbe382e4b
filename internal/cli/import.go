package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/internal/importing"
	"github.com/discreet-rl/discreet/internal/source"
)

func newImport() *cobra.Command {
	var configuration, out string
	var csv, repair bool
	cmd := command("import [RAW...] --config CONFIG.yaml -o TABLE.parquet", "Make one table in the canonical form of raw data, once and for all",
		`Read raw data as a configuration says (those that are named, else data.path; - is standard input), with all
columns that the configuration or the canonical schema knows, and write them as one Parquet
file: canonical names and numbers, sorted by person, each person's episodes in their own order.
A configuration of the table maps nothing. Any fault is reported as by discreet validate, and
nothing is written: nobody is left out. With --repair the table has episodes with such a value
as ones that cannot be used, which questions count as missing. TABLE.parquet.json, the manifest, has digests and
counts of what was read and written. All files are as private as the data, and new.`, nil,
		func(cmd *cobra.Command, args []string) error {
			switch {
			case configuration == "":
				return usage(errors.New("import: want --config CONFIG.yaml, which says how to read the data"))
			case !strings.HasSuffix(out, ".parquet"):
				return usage(errors.New("import: want -o TABLE.parquet, a new file"))
			}
			c, err := discreet.Load(configuration, overrides(cmd)...)
			if err != nil {
				return err
			}
			if len(args) > 0 {
				c.Data.Path = nil
				for _, path := range args {
					if path == piped {
						c.Data.Path = append(c.Data.Path, path)
						continue
					}
					if path, err = source.Abs(path); err != nil {
						return err
					}
					c.Data.Path = append(c.Data.Path, path)
				}
			}
			if err := fromStandardInput(cmd, &c); err != nil {
				return err
			}
			return runImport(cmd, importing.Order{Config: c, Table: out, Repair: repair}, csv)
		})
	cmd.Flags().StringVar(&configuration, "config", "", "the configuration that says how to read the data")
	setFlag(cmd)
	cmd.Flags().StringVarP(&out, "out", "o", "", "the table, a new file")
	cmd.Flags().BoolVar(&csv, "csv", false, "write TABLE.csv as well, for auditors")
	cmd.Flags().BoolVar(&repair, "repair", false, "keep episodes that cannot be used, as such")
	jsonFlag(cmd, "the manifest")
	return cmd
}

func runImport(cmd *cobra.Command, order importing.Order, csv bool) error {
	out := order.Table
	if csv {
		order.CSV = strings.TrimSuffix(out, ".parquet") + ".csv"
	}
	if _, err := os.Stat(filepath.Dir(out)); errors.Is(err, fs.ErrNotExist) {
		return usage(fmt.Errorf("%s: the directory %s does not exist; make it, or choose another name", out, filepath.Dir(out)))
	}
	bar := newProgress(cmd.ErrOrStderr())
	order.Progress = bar.update
	m, notices, err := importing.Import(cmd.Context(), order)
	bar.done()
	for _, line := range notices {
		notify(cmd, forCurator, brief(line))
	}
	if err == nil && m.Unusable != nil {
		for _, line := range m.Unusable.First {
			notify(cmd, forCurator, "cannot be used: "+line)
		}
	}
	var place *fs.PathError
	switch {
	case errors.Is(err, fs.ErrExist) && errors.As(err, &place):
		return usage(fmt.Errorf("%s exists and is not overwritten; choose another name, or remove it", place.Path))
	case err != nil:
		return err
	}
	return show(cmd, m, "imported: %s, %s, %s of %s (for the curator alone)\nwritten   %s and %[5]s.json\n",
		many(m.Persons, "person"), many(m.Episodes, "episode"), many(m.Rows, "row"), many(len(m.Inputs), "file"), out)
}
