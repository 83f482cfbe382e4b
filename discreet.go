package discreet

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/atomicfile"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// Plan says what an evaluation would release, what it would cost and how far
// off it is expected to be. It does not open the data.
func Plan(c Config) (*evaluate.Plan, error) {
	j, err := newJob(c)
	if err != nil {
		return nil, err
	}
	return j.estimator.Plan(j.public)
}

// Result is a release and what only the curator may see.
type Result struct {
	Release *evaluate.Release
	// Notices are remarks on the data for its curator. They are not part of the
	// release and must not leave with it.
	Notices []string
	// Path is the file that the release was written to; empty when the
	// configuration names no output.
	Path string
}

// Option changes how [Evaluate] runs.
type Option func(*job)

// WithProgress calls f now and then while the data is read.
func WithProgress(f func(trajectory.Progress)) Option {
	return func(j *job) { j.progress = f }
}

// WithSource draws the noise from src instead of a fresh cryptographic source.
// A seeded source serves tests alone and marks the release.
func WithSource(src *noise.Source) Option {
	return func(j *job) { j.source = src }
}

// Evaluate runs the whole path: it plans from public facts, reads and checks the
// data, charges, runs, and writes the release before it returns it. Errors
// before the charge cost nothing; those that concern the data are for its
// curator alone.
func Evaluate(ctx context.Context, c Config, options ...Option) (*Result, error) {
	j, err := newJob(c)
	if err != nil {
		return nil, err
	}
	for _, o := range options {
		o(j)
	}
	if err := j.prepareOutput(); err != nil {
		return nil, err
	}
	ready, notices, err := j.check(ctx)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if j.source == nil {
		if j.source, err = noise.NewSource(); err != nil {
			return nil, err
		}
	}
	release, err := ready.Run(ctx, ledger.None(), j.source)
	if err != nil {
		return nil, err
	}
	result := &Result{Release: release, Notices: notices}
	if c.Output.Dir != "" {
		result.Path = filepath.Join(c.path(c.Output.Dir), "release.json")
		if err := writeRelease(result.Path, release); err != nil {
			return nil, err
		}
	}
	return result, nil
}

// Validate reads the data as [Evaluate] would and says what is wrong with it.
// Nothing is released; counts and notices are for the curator alone.
func Validate(ctx context.Context, c Config, options ...Option) (file.Summary, error) {
	j, err := newJob(c)
	if err != nil {
		return file.Summary{}, err
	}
	for _, o := range options {
		o(j)
	}
	o := j.options
	o.Progress = j.progress
	return file.Validate(ctx, j.paths(), c.Data.Format, o)
}

// job is one evaluation on its way through the four steps.
type job struct {
	config    Config
	method    evaluate.Method
	estimator evaluate.Estimator
	public    evaluate.Public
	options   trajectory.Options
	progress  func(trajectory.Progress)
	source    *noise.Source
}

func newJob(c Config) (*job, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	j := &job{config: c}
	var err error
	if j.method, err = evaluate.MethodNamed(c.Method.Name); err != nil {
		return nil, err
	}
	if j.estimator, err = evaluate.New(c.Method.Name, c.Method.Params); err != nil {
		return nil, err
	}
	if j.public, err = c.public(); err != nil {
		return nil, err
	}
	if j.method.NeedFeatures && j.public.Features == nil {
		return nil, fmt.Errorf("%w: method %s estimates a value function and needs features, such as {kind: tabular, states: 40, column: obs_state}", ErrConfig, j.method.Name)
	}
	j.options, err = c.reading(j.public, j.method)
	return j, err
}

// check plans and checks. When the number of persons is public but was not
// given, the data is read first and counts them.
func (j *job) check(ctx context.Context) (*evaluate.Ready, []string, error) {
	count := j.public.Persons == 0 && j.public.Privacy != nil && j.public.Privacy.Adjacency == dp.ReplaceOne
	if !count {
		if _, err := j.estimator.Plan(j.public); err != nil {
			return nil, nil, err
		}
	}
	data, notices, err := j.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	if count {
		j.public.Persons = int64(data.Persons())
	}
	plan, err := j.estimator.Plan(j.public)
	if err != nil {
		return nil, nil, err
	}
	ready, err := plan.Check(ctx, data)
	return ready, notices, err
}

func (j *job) read(ctx context.Context) (*trajectory.Dataset, []string, error) {
	o := j.options
	o.Progress = j.progress
	return file.Read(ctx, j.paths(), j.config.Data.Format, o)
}

func (j *job) paths() []string {
	paths := make([]string, len(j.config.Data.Path))
	for i, p := range j.config.Data.Path {
		paths[i] = j.config.path(p)
	}
	return paths
}

// prepareOutput makes sure that the release can be written, before anything is
// spent on it.
func (j *job) prepareOutput() error {
	if j.config.Output.Dir == "" {
		return nil
	}
	dir := j.config.path(j.config.Output.Dir)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("%w: output.dir: %w", ErrConfig, err)
	}
	probe, err := os.CreateTemp(dir, ".release-*")
	if err != nil {
		return fmt.Errorf("%w: output.dir: %w", ErrConfig, err)
	}
	if err := probe.Close(); err != nil {
		return err
	}
	return os.Remove(probe.Name())
}

// writeRelease replaces the file at path in one step, so that a reader sees a
// whole release or none.
func writeRelease(path string, r *evaluate.Release) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return atomicfile.Write(path, 0o644, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}
