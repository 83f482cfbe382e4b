package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/report"
	"github.com/discreet-rl/discreet/internal/schema"
)

func newReport() *cobra.Command {
	var out string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "report RELEASE.json",
		Short: "Render a release as one self-contained page",
		Long: `Render a release as one self-contained page. With --json it prints the headline
alone: whether the release answers the question (yes, in_part or no), and if not,
why.`,
		Args: exactly(1, "one release"),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := readRelease(args[0])
			if err != nil {
				return err
			}
			if asJSON {
				if out != "" {
					return usage(fmt.Errorf("report: --json prints the headline and writes no page; give it or -o"))
				}
				return json.NewEncoder(cmd.OutOrStdout()).Encode(headlineOf(r))
			}
			if out == "" {
				return usage(fmt.Errorf("report: -o is missing; name the .html file to write"))
			}
			if err := newFile(out, 0o644, func(w io.Writer) error { return report.Write(w, r) }); err != nil {
				return err
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "written   %s\n", out)
			return err
		},
	}
	cmd.Flags().StringVarP(&out, "output", "o", "", "the page to write; a new file")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the headline as JSON and nothing else")
	return cmd
}

// headline says whether a release answers the question.
type headline struct {
	Answered string `json:"answered"` // yes, in_part or no
	Why      string `json:"why,omitempty"`
}

func headlineOf(r *evaluate.Release) headline {
	if why := report.Unanswered(r); why != "" {
		return headline{"no", why}
	}
	if why := report.InPart(r); why != "" {
		return headline{"in_part", why}
	}
	return headline{Answered: "yes"}
}

func readRelease(path string) (*evaluate.Release, error) {
	text, err := readDocument(path)
	if err != nil {
		return nil, err
	}
	r, err := parseRelease(path, text)
	if err == nil {
		return r, nil
	}
	// Of a value of another type the schema speaks in words that are not a program's.
	var mistyped *json.UnmarshalTypeError
	if e := schema.Check(schema.Release, text); e != nil && errors.As(err, &mistyped) {
		err = fmt.Errorf("%s: %w", path, e)
	}
	return nil, usage(err)
}

func parseRelease(path string, text []byte) (*evaluate.Release, error) {
	var r evaluate.Release
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &r, nil
}
