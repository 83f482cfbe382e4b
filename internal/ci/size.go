package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"text/tabwriter"
)

// sizes are figures that ought not to grow.
type sizes struct {
	Code  int `json:"code"`
	Tests int `json:"tests"`
	Words int `json:"words"`
	Names int `json:"names"`
	Root  int `json:"root"`
	// Program is the stripped command in megabytes, Seconds is of a processor.
	Program float64 `json:"program"`
	Seconds int     `json:"seconds"`
}

// release is what a version measured, and the most that the next may have; a bound of 0 is none.
type release struct {
	Version string `json:"version"`
	sizes
	Most sizes `json:"most"`
}

//go:embed size.json
var released []byte

// size prints the figures of the repository in the working directory beside those of the last
// release, and refuses what is above its bound. Of the seconds of the fast suite it knows only
// what it is given; 0 stands for none.
func size(ctx context.Context, seconds int, out io.Writer) error {
	var last release
	if err := json.Unmarshal(released, &last); err != nil {
		return fmt.Errorf("internal/ci/size.json: %w", err)
	}
	now, err := measure(ctx)
	if err != nil {
		return err
	}
	now.Seconds = seconds
	return compare(now, last, out)
}

func compare(now sizes, last release, out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "now\t%s\tmost\t\n", last.Version)
	var above []error
	for _, l := range []struct {
		what              string
		now, before, most float64
	}{
		{"lines of Go by hand", float64(now.Code), float64(last.Code), float64(last.Most.Code)},
		{"lines of tests by hand", float64(now.Tests), float64(last.Tests), float64(last.Most.Tests)},
		{"words by hand", float64(now.Words), float64(last.Words), float64(last.Most.Words)},
		{"exported names", float64(now.Names), float64(last.Names), float64(last.Most.Names)},
		{"files of the root package", float64(now.Root), float64(last.Root), float64(last.Most.Root)},
		{"megabytes of the stripped program", now.Program, last.Program, last.Most.Program},
		{"processor seconds of the fast suite (0: not measured)", float64(now.Seconds), float64(last.Seconds), float64(last.Most.Seconds)},
	} {
		most := "-"
		if l.most > 0 {
			most = fmt.Sprint(l.most)
			if l.now > l.most {
				above = append(above, fmt.Errorf("%v %s, of at most %v (internal/ci/size.json)", l.now, l.what, l.most))
			}
		}
		fmt.Fprintf(w, "%.9g\t%.9g\t%s\t  %s\n", l.now, l.before, most, l.what)
	}
	return errors.Join(append(above, w.Flush())...)
}

var (
	generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)
	otherWord = regexp.MustCompile(`^((python/)?THIRD_PARTY_NOTICES\.md|docs/(reference|results/papers)/[^/]*\.md)$`)
)

func measure(ctx context.Context) (sizes, error) {
	var s sizes
	list, err := output(ctx, "git", "ls-files", "-z", "*.go", "*.md")
	if err != nil {
		return s, err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(list, "\x00"), "\x00") {
		text, err := os.ReadFile(name)
		if err != nil {
			return s, err
		}
		s.add(name, text)
	}
	packages, err := publicPackages(".")
	if err != nil {
		return s, err
	}
	for _, p := range packages {
		s.Names += len(p.names())
	}
	dir, err := os.MkdirTemp("", "discreet-size-")
	if err != nil {
		return s, err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "discreet")
	if _, err := output(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", program, "./cmd/discreet"); err != nil {
		return s, err
	}
	of, err := os.Stat(program)
	if err != nil {
		return s, err
	}
	s.Program = math.Round(float64(of.Size())/1e5) / 10
	return s, nil
}

// add counts a file.
func (s *sizes) add(name string, text []byte) {
	lines := bytes.Count(text, []byte("\n"))
	switch {
	case path.Ext(name) == ".md":
		if !otherWord.MatchString(name) {
			s.Words += len(bytes.Fields(text))
		}
	case generated.Match(text):
	case strings.HasSuffix(name, "_test.go"):
		s.Tests += lines
	default:
		s.Code += lines
		if path.Dir(name) == "." {
			s.Root++
		}
	}
}
