package serve

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/yamlfile"
	"github.com/discreet-rl/discreet/serve/internal/asks"
)

// ErrQuestion marks a question that cannot be asked as it stands.
var ErrQuestion = fault.Input("the question cannot be asked")

// question is what an analyst chooses of an evaluation.
type question struct {
	Target    config.Target        `yaml:"target"`
	Targets   []config.NamedTarget `yaml:"targets"`
	Levels    *config.Levels       `yaml:"levels"`
	Contrasts *config.Contrasts    `yaml:"contrasts"`
	Select    *config.Select       `yaml:"select"`
	By        *config.By           `yaml:"by"`
	Start     *config.Start        `yaml:"start"`
	Method    config.Method        `yaml:"method"`
	Privacy   struct {
		Epsilon float64 `yaml:"epsilon"`
		Delta   float64 `yaml:"delta"`
	} `yaml:"privacy"`
	Justification string `yaml:"justification"`
}

// longest question and purpose, in bytes.
const (
	longestQuestion = 64 << 10
	longestPurpose  = 500
)

// policyName is what an uploaded policy is called.
var policyName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,50}(\.[A-Za-z0-9]{1,12})?$`)
})

// reorders tells the characters by which a steward who reads a question could be shown another one.
func reorders(r rune) bool { return unicode.Is(unicode.Bidi_Control, r) }

// printable tells that a text has no ends of lines, and nothing that a terminal obeys.
func printable(text string) bool {
	return utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// compose joins a question and the steward's part of a dataset. The result's Dir is that of
// the steward's part, and every policy's path that of an uploaded file.
func (s *Service) compose(ctx context.Context, d *dataset, analyst, text, purpose string) (config.Config, error) {
	if len(text) > longestQuestion {
		return config.Config{}, fmt.Errorf("%w: it is longer than 64 KiB; upload tables as policies", ErrQuestion)
	}
	if len(purpose) > longestPurpose || !printable(purpose) {
		return config.Config{}, fmt.Errorf("%w: purpose: want one line of at most %d bytes", ErrQuestion, longestPurpose)
	}
	if i := strings.IndexFunc(text, reorders); i >= 0 {
		return config.Config{}, fmt.Errorf("%w: line %d holds a character that nobody sees and that changes the order of others, so that it would read otherwise than it is; remove it", ErrQuestion, 1+strings.Count(text[:i], "\n"))
	}
	q, err := yamlfile.Decode[question]("question", []byte(text), nil)
	if err != nil {
		return config.Config{}, err
	}
	if !printable(strings.ReplaceAll(q.Justification, "\n", "")) {
		return config.Config{}, fmt.Errorf("%w: justification: want lines of printable characters", ErrQuestion)
	}
	c := d.part
	if err := errors.Join(d.allows(q), s.uploaded(ctx, d, analyst, &q)); err != nil {
		return config.Config{}, err
	}
	c.Target, c.Targets, c.Levels, c.Contrasts, c.Select, c.Start, c.Method = q.Target, q.Targets, q.Levels, q.Contrasts, q.Select, q.Start, q.Method
	if q.By != nil {
		if c.By != nil || q.By.Group == "fixed" {
			return config.Config{}, fmt.Errorf("%w: by: fixed groups are the steward's to state", ErrQuestion)
		}
		c.By = q.By
	}
	c.Privacy.Epsilon, c.Privacy.Delta = q.Privacy.Epsilon, q.Privacy.Delta
	c.Justification = q.Justification
	c.Ledger = &config.Ledger{Path: d.location, Dataset: d.part.Ledger.Dataset, Analyst: analyst, Purpose: purpose}
	return c, nil
}

// allows holds a question against the dataset's rules.
func (d *dataset) allows(q question) error {
	switch {
	case q.Method.Name == "":
		return fmt.Errorf("%w: method is missing, such as {name: dp-wis}", ErrQuestion)
	case len(d.methods) > 0 && !slices.Contains(d.methods, q.Method.Name):
		return fmt.Errorf("%w: method %s; the steward allows %s", ErrQuestion, q.Method.Name, strings.Join(d.methods, ", "))
	case q.Privacy.Epsilon == 0:
		return fmt.Errorf("%w: privacy.epsilon is missing or 0; want a number above 0", ErrQuestion)
	case !(q.Privacy.Epsilon > 0):
		return fmt.Errorf("%w: privacy.epsilon is %g; want a number above 0", ErrQuestion, q.Privacy.Epsilon)
	case d.LargestEpsilon > 0 && q.Privacy.Epsilon > d.LargestEpsilon:
		return fmt.Errorf("%w: privacy.epsilon is %g; the steward allows at most %g an ask", ErrQuestion, q.Privacy.Epsilon, d.LargestEpsilon)
	case !(q.Privacy.Epsilon <= 1e6) || !(q.Privacy.Delta >= 0 && q.Privacy.Delta < 1):
		return fmt.Errorf("%w: privacy: epsilon is %g and delta %g; want finite numbers, a delta below 1", ErrQuestion, q.Privacy.Epsilon, q.Privacy.Delta)
	case d.LargestDelta > 0 && q.Privacy.Delta > d.LargestDelta:
		return fmt.Errorf("%w: privacy.delta is %g; the steward allows at most %g an ask", ErrQuestion, q.Privacy.Delta, d.LargestDelta)
	}
	return d.columns(q)
}

// mostActions of a policy that a question states by their number.
const mostActions = 1024

// columns refuses columns that the steward does not offer: one that is not in the data would
// count as a failed check of them. And it bounds the tables that a number of actions makes.
func (d *dataset) columns(q question) error {
	type policy struct {
		kind    string
		actions int
		names   []string
	}
	all := []policy{{q.Target.Kind, q.Target.Actions, append(slices.Clone(q.Target.Names), q.Target.Name)}}
	for _, t := range q.Targets {
		all = append(all, policy{t.Kind, t.Actions, append(slices.Clone(t.Names), t.Column)})
	}
	for _, p := range all {
		if p.actions > mostActions {
			return fmt.Errorf("%w: actions is %d; want at most %d", ErrQuestion, p.actions, mostActions)
		}
		if p.kind != "column" && p.kind != "columns" {
			continue
		}
		for _, name := range p.names {
			if name != "" && !slices.Contains(d.PolicyColumns, name) {
				return fmt.Errorf("%w: column %q; the steward offers %q as columns of policies", ErrQuestion, name, d.PolicyColumns)
			}
		}
		if p.kind == "column" && p.names[0] == "" && !slices.Contains(d.PolicyColumns, "target_prob") {
			return fmt.Errorf("%w: column target_prob; the steward offers %q as columns of policies", ErrQuestion, d.PolicyColumns)
		}
	}
	if q.By != nil && !slices.Contains(d.GroupColumns, strings.TrimPrefix(q.By.Column, "obs_")) {
		return fmt.Errorf("%w: by.column is %q; group columns allowed by the steward: %q", ErrQuestion, q.By.Column, d.GroupColumns)
	}
	return nil
}

// uploaded puts the files of the analyst's own policies in place of their names. No other
// file of this machine can be named.
func (s *Service) uploaded(ctx context.Context, d *dataset, analyst string, q *question) error {
	paths := []*string{&q.Target.Path}
	for i := range q.Targets {
		paths = append(paths, &q.Targets[i].Path)
	}
	for _, p := range paths {
		if *p == "" {
			continue
		}
		if !policyName().MatchString(*p) {
			return fmt.Errorf("%w: path %q; want the name of a policy that you uploaded (discreet remote policy)", ErrQuestion, *p)
		}
		content, err := s.store.Policy(ctx, d.name, analyst, *p)
		if errors.Is(err, asks.ErrNone) {
			return fmt.Errorf("%w: path %q: you uploaded no policy of this name to dataset %s", ErrQuestion, *p, d.name)
		}
		if err != nil {
			return err
		}
		if *p, err = s.policyFile(*p, content); err != nil {
			return err
		}
	}
	return nil
}

// policyFile writes a policy under its hash, so that a file never changes, and returns its
// path.
func (s *Service) policyFile(name string, content []byte) (string, error) {
	sum := sha256.Sum256(content)
	dir := filepath.Join(s.files, hex.EncodeToString(sum[:]))
	path := filepath.Join(dir, name)
	if was, err := os.ReadFile(path); err == nil && bytes.Equal(was, content) {
		return path, nil // otherwise it was cut short or replaced
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return path, atomicfile.Write(path, 0o600, func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	})
}

// public takes the places of files on this machine out of a message.
func (s *Service) public(d *dataset, text string) string {
	for _, dir := range []string{s.files, d.part.Dir, s.config.Dir} {
		if abs, err := filepath.Abs(dir); err == nil && len(abs) > 1 {
			text = strings.ReplaceAll(text, abs+string(filepath.Separator), "")
		}
		if len(dir) > 1 {
			text = strings.ReplaceAll(text, dir+string(filepath.Separator), "")
		}
	}
	return hashDir().ReplaceAllString(text, "")
}

var hashDir = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[0-9a-f]{64}/`) })
