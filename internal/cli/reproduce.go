package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/discreet-rl/discreet/internal/buildinfo"
	"github.com/discreet-rl/discreet/internal/papers/balle16"
	"github.com/discreet-rl/discreet/internal/papers/figure"
	"github.com/discreet-rl/discreet/internal/papers/ono20"
	xie19paper "github.com/discreet-rl/discreet/internal/papers/xie19"
)

// reproductions lists the papers.
func reproductions() []figure.Study {
	return []figure.Study{balle16.Study(), xie19paper.Study(), ono20.Study()}
}

// everyPaper is the argument that stands for all of them.
const everyPaper = "all"

func newReproduce() *cobra.Command {
	var o figure.Options
	var resume string
	cmd := command("reproduce PAPER|all [ITEM...]", "Run the figures and claims of a published paper",
		"Run the figures of a paper on simulated data and hold its claims against them. Each item makes\n"+
			"a CSV and an SVG; claims.json and index.html list which claims hold. An interrupted run\n"+
			"continues when the same command is given again. Noise is seeded: this protects nobody.\n\n"+
			"With --resume DIR finished trials are kept in DIR/PAPER.ndjson, one line each, and runs on several\n"+
			"days and machines add to it; --budget ends a run after so long; without -o nothing is drawn.\n"+
			"Stored trials of other settings, or of code that gives other numbers, are refused.\n", nil,
		func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(errors.New("reproduce: name a paper; discreet reproduce --help lists them"))
			}
			studies, err := papersNamed(args[0])
			if err != nil {
				return err
			}
			switch {
			case o.Dir == "" && resume == "":
				return usage(errors.New("reproduce: -o is missing; name a directory for the results, or with --resume one for the trials"))
			case o.Workers < 0:
				return usage(fmt.Errorf("reproduce: --workers is %d; want 1 or more, or 0 for one a core", o.Workers))
			case o.Budget < 0:
				return usage(fmt.Errorf("reproduce: --budget is %v; want a time above 0, or nothing for no limit", o.Budget))
			case args[0] == everyPaper && len(args) > 1:
				return usage(errors.New("reproduce: items belong to one paper; name the paper in place of all"))
			case args[0] == everyPaper && wantsJSON(cmd):
				return usage(errors.New("reproduce: --json prints one object; name one paper in place of all"))
			}
			o.Items = args[1:]
			return reproduceAll(cmd, studies, o, resume)
		})
	cmd.SetHelpFunc(func(c *cobra.Command, args []string) {
		c.Long += listOfPapers()
		c.Root().HelpFunc()(c, args)
	})
	f := cmd.Flags()
	f.StringVarP(&o.Dir, "output", "o", "", "directory for the results; a run is continued in it")
	f.BoolVar(&o.Quick, "quick", false, "fewer trials, smaller batches")
	f.IntVar(&o.Workers, "workers", 0, "trials at a time; 0 means one a core; the results do not depend on it")
	f.StringVar(&resume, "resume", "", "directory of stored trials, which the run goes on from and adds to")
	f.DurationVar(&o.Budget, "budget", 0, "end after so long, such as 40m, with everything that finished stored")
	f.BoolVar(&o.Recompute, "recompute", false, "make stored trials again whose settings or code have changed")
	f.StringVar(&o.Commit, "commit", builtFrom(), "version of the code, kept with each trial")
	f.StringVar(&o.Page, "page", "", "directory for PAPER.md and its pictures, as docs/results/papers has them")
	f.Bool("json", false, "print the claims as JSON")
	return cmd
}

// listOfPapers names the papers and their items, for the help: every start of the
// program would wait for it otherwise.
func listOfPapers() string {
	var about strings.Builder
	for _, s := range reproductions() {
		fmt.Fprintf(&about, "\n%s: %s\n", s.Paper, s.Title)
		for _, item := range s.Items {
			fmt.Fprintf(&about, "  %-14s %s\n", item.Name, item.Title)
		}
	}
	return about.String()
}

// builtFrom is the commit that the program was built from, where it is known.
func builtFrom() string {
	b := buildinfo.This()
	commit := cmp.Or(b.Commit, "unknown")
	if b.Modified {
		commit += "+modified"
	}
	return commit
}

func papersNamed(name string) ([]figure.Study, error) {
	var known []string
	for _, s := range reproductions() {
		if s.Paper == name {
			return []figure.Study{s}, nil
		}
		known = append(known, s.Paper)
	}
	if name == everyPaper {
		return reproductions(), nil
	}
	return nil, usage(fmt.Errorf("reproduce: no paper %q; there is %s", name, strings.Join(known, ", ")))
}

// reproduceAll runs one paper after the other within the budget, of which each
// gets an equal part of what is left.
func reproduceAll(cmd *cobra.Command, studies []figure.Study, o figure.Options, resume string) error {
	begin, budget, dir := time.Now(), o.Budget, o.Dir
	for i, s := range studies {
		if budget > 0 {
			if o.Budget = (budget - time.Since(begin)) / time.Duration(len(studies)-i); o.Budget <= 0 {
				fmt.Fprintf(cmd.OutOrStdout(), "%s: not begun, the time is up\n", s.Paper)
				continue
			}
		}
		if len(studies) > 1 && dir != "" {
			o.Dir = filepath.Join(dir, s.Paper)
		}
		if resume != "" {
			o.Store = filepath.Join(resume, s.Paper+".ndjson")
		}
		o.Progress = tellProgress(cmd.ErrOrStderr(), s.Paper)
		if err := reproduce(cmd, s, o); err != nil {
			return err
		}
	}
	return nil
}

func reproduce(cmd *cobra.Command, s figure.Study, o figure.Options) error {
	done, err := figure.Run(cmd.Context(), s, o)
	switch {
	case errors.Is(err, figure.ErrItem), errors.Is(err, figure.ErrDir), errors.Is(err, figure.ErrStale), errors.Is(err, figure.ErrBusy):
		return usage(err)
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(cmd.ErrOrStderr(), "%s keeps the trials that finished; the same command continues\n", cmp.Or(o.Store, o.Dir))
		return err
	case err != nil:
		return err
	}
	if wantsJSON(cmd) {
		return printJSON(cmd.OutOrStdout(), done)
	}
	if o.Store != "" {
		writeTrials(cmd.OutOrStdout(), s, done)
	}
	if o.Dir == "" {
		return nil
	}
	writeClaims(cmd.OutOrStdout(), done.Claims)
	if o.Quick {
		fmt.Fprintln(cmd.OutOrStdout(), "a quick run: verdicts that rest on so few trials may change in a full one")
	}
	fmt.Fprintf(cmd.OutOrStdout(), "read %s/index.html\n", o.Dir)
	fmt.Fprintln(cmd.OutOrStdout(), "simulated persons and seeded noise: these are no releases, and nothing was charged")
	return nil
}

// writeTrials tells how many trials the store has.
func writeTrials(w io.Writer, s figure.Study, done *figure.Result) {
	for _, item := range done.Items {
		if n := done.Trials[item]; n > 0 {
			fmt.Fprintf(w, "%s %s: %d trials of each point\n", s.Paper, item, n)
		}
	}
	if done.Left > 0 {
		fmt.Fprintf(w, "%s: %d trials are left to later runs\n", s.Paper, done.Left)
	}
}

// writeClaims writes two lines a claim: the verdict and the sentence; what was
// measured, and the name under which claims.json has the rest.
func writeClaims(w io.Writer, claims []figure.Claim) {
	holds := 0
	for _, c := range claims {
		verdict := "fails"
		if c.Holds {
			verdict = "holds"
			holds++
		}
		fmt.Fprintf(w, "%s  %s\n       %s", verdict, shortened(c.Claim, 100), plain(c.Ours, 3))
		if c.StdErr > 0 {
			fmt.Fprintf(w, " +- %s", plain(c.StdErr, 1))
		}
		if c.PaperValue != nil {
			fmt.Fprintf(w, " (paper: %s)", plain(*c.PaperValue, 3))
		}
		fmt.Fprintf(w, ": %s [%s]\n", gist(c.Note), c.ID)
	}
	fmt.Fprintf(w, "%d of %d claims hold\n", holds, len(claims))
}

// gist is what a claim's note begins with, what was measured, and the rule it was
// judged by.
func gist(note string) string {
	measured, rest, _ := strings.Cut(note, ";")
	text := shortened(measured, 100)
	if _, rule, ok := strings.Cut(rest, "judged"); ok {
		rule, _, _ = strings.Cut(rule, ";")
		text += "; judged" + strings.TrimSuffix(rule, ".")
	}
	return text
}

// plain writes a number with so many digits, and without an exponent where that
// is as short.
func plain(x float64, digits int) string {
	s := fmt.Sprintf("%.*g", digits, x)
	if size := math.Abs(x); strings.Contains(s, "e") && size >= 1 && size < 1e6 {
		return fmt.Sprintf("%.0f", x)
	}
	return s
}

// shortened cuts a text at a word, to at most so many characters.
func shortened(s string, most int) string {
	r := []rune(s)
	if len(r) <= most {
		return s
	}
	cut := string(r[:most-3])
	if i := strings.LastIndexByte(cut, ' '); i > 0 {
		cut = cut[:i]
	}
	return strings.TrimRight(cut, ",.:") + "..."
}

// tellProgress writes the trials done and the time left.
func tellProgress(w io.Writer, paper string) func(figure.Progress) {
	t := &ticker{w: w}
	return func(p figure.Progress) {
		end := p.Done == p.Jobs
		if !t.due(end) {
			return
		}
		line := fmt.Sprintf("%s: %d of %d trials", paper, p.Done, p.Jobs)
		if p.Left > 0 {
			line += fmt.Sprintf(", about %v left", p.Left.Round(time.Second))
		}
		t.write(line)
		if end {
			t.end()
		}
	}
}
