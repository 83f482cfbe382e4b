package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/scale"
)

// shardFlags are the flags of evaluate about data in shards.
type shardFlags struct {
	shards, on, command, dir string
	partitions               int
	more                     []Engine
}

// Engine is one more choice for evaluate --on, of a program that links what discreet does
// not, with the commands that go with it.
type Engine struct {
	// Name is the word after --on, and About what help says of it.
	Name, About string
	// Flags adds its flags to evaluate; all of them begin with its name.
	Flags func(*pflag.FlagSet)
	// Open makes it ready. Tell says something to the caller in a line. End is called
	// when the run is over.
	Open     func(ctx context.Context, tell func(string)) (engine scale.Engine, end func(), err error)
	Commands []*cobra.Command
	// Store reaches data that are no files, nil if the program has none.
	Store source.Store
	// Groups tells that the engine groups rows of files by person.
	Groups bool
}

// The engines of --on.
const (
	onLocal = "local"
	onExec  = "exec"
	onBeam  = "beam" // of cmd/discreet-beam in the module beam
)

func (f *shardFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.shards, "shards", "", "files that discreet shard made, in place of data.path: a file or a glob, relative to the configuration")
	f.addEngines(cmd, "with --shards, who reads them: local, all cores of this machine, or exec, a command for each round")
	cmd.Flags().StringVar(&f.command, "command", "", "with --on exec, a shell command that has every shard of $SHARDS answer the task $TASK by discreet partial, into $OUT")
	cmd.Flags().IntVar(&f.partitions, "partitions", 0, "in place of --shards, into how many parts an engine groups the rows by person: a command of --on exec, Beam, or Spark by the Python package")
	cmd.Flags().StringVar(&f.dir, "run", "", "with --shards or --partitions, the directory of the run's transcript; run in the output directory by default")
}

// addEngines adds --on, and the flags of the engines that the program brought.
func (f *shardFlags) addEngines(cmd *cobra.Command, who string) {
	for _, e := range f.more {
		who += ", or " + e.Name + ", " + e.About
		e.Flags(cmd.Flags())
	}
	cmd.Flags().StringVar(&f.on, "on", onLocal, who)
}

// used tells that the data are not read by this process.
func (f *shardFlags) used() bool { return f.shards != "" || f.partitions != 0 }

func (f *shardFlags) validate(cmd *cobra.Command) error {
	for _, name := range []string{"on", "command", "run"} {
		if !f.used() && cmd.Flags().Changed(name) {
			return usage(fmt.Errorf("evaluate: --%s is about data in shards; name them with --shards", name))
		}
	}
	if err := f.validateEngine(cmd, "--shards with ", f.used(), onLocal, onExec); err != nil {
		return err
	}
	if f.partitions != 0 {
		if err := f.validatePartitions(cmd); err != nil {
			return err
		}
	}
	switch {
	case !f.used():
	case f.on == onExec && f.command == "":
		return usage(fmt.Errorf("evaluate: --on exec runs a command for each round; give it with --command (docs/scale.md has some)"))
	case f.on != onExec && f.command != "":
		return usage(fmt.Errorf("evaluate: --command is for --on exec"))
	}
	return nil
}

// validateEngine checks --on, where a command uses it, and that flags of engines are those of its engine.
func (f *shardFlags) validateEngine(cmd *cobra.Command, with string, used bool, names ...string) error {
	for _, e := range f.more {
		names = append(names, e.Name)
		if wrong := flagOf(cmd, e); wrong != "" && (!used || f.on != e.Name) {
			return usage(fmt.Errorf("%s: --%s is for %s--on %s", cmd.Name(), wrong, with, e.Name))
		}
	}
	switch {
	case !used || slices.Contains(names, f.on):
		return nil
	case f.on == onBeam:
		return usage(fmt.Errorf("%s: --on beam is in a program of its own, discreet-beam, with these commands; docs/scale.md says how to build it", cmd.Name()))
	}
	return usage(fmt.Errorf("%s: --on %s; want %s", cmd.Name(), f.on, strings.Join(names, " or ")))
}

// engine is the one of --on that the program brought.
func (f *shardFlags) engine() (Engine, bool) {
	at := slices.IndexFunc(f.more, func(e Engine) bool { return e.Name == f.on })
	if at < 0 {
		return Engine{}, false
	}
	return f.more[at], true
}

// overrides put the shards in the place of the data.
func (f *shardFlags) overrides() []string {
	if f.shards == "" {
		return nil
	}
	return []string{"data.path=" + strconv.Quote(f.shards), "data.format=parquet"}
}

// driver makes the driver of a configuration; end is to be called when it is done.
func (f *shardFlags) driver(cmd *cobra.Command, c config.Config, path string, overrides []string) (d scale.Driver, end func(), err error) {
	d, end = scale.Driver{Config: c, Dir: f.dir}, func() {}
	if d.Dir == "" {
		if c.Output.Dir == "" {
			return d, end, usage(fmt.Errorf("evaluate: a run in shards keeps its transcript; name a directory for it with --run, or give output.dir"))
		}
		d.Dir = filepath.Join(c.Resolve(c.Output.Dir), "run")
	}
	if d.Partitions = f.partitions; f.shards != "" {
		d.Shards, err = source.Find(cmd.Context(), c.Resolve(f.shards))
	}
	switch {
	case errors.Is(err, filepath.ErrBadPattern):
		return d, end, usage(fmt.Errorf("evaluate: --shards %s: %w", f.shards, err))
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return d, end, err
	case len(d.Shards) == 0 && f.partitions == 0:
		return d, end, usage(fmt.Errorf("evaluate: --shards %s: no file matches; a relative pattern starts at the configuration's directory", f.shards))
	}
	if d.Question, err = discreet.Question(path, overrides...); err != nil {
		return d, end, err
	}
	key, found, err := scale.KeyFromEnvironment()
	switch {
	case err != nil:
		return d, end, err
	case f.on != onLocal && !found:
		return d, end, noRunKey()
	case !found:
		if key, err = scale.KeyOfRun(d.Dir); err != nil {
			return d, end, err
		}
	}
	d.Key = key
	d.Progress = func(round int) {
		what := "check of all shards, with the first sum"
		if round > 0 {
			what = fmt.Sprintf("round %d", round)
		}
		notify(cmd, forAnyone, what)
	}
	switch e, ok := f.engine(); {
	case f.partitions != 0 && f.on == onLocal:
		d.Engine = scale.Command{Call: grouped(cmd)}
	case ok:
		d.Engine, end, err = e.Open(cmd.Context(), func(line string) { notify(cmd, forAnyone, line) })
	case f.on == onExec:
		d.Engine = scale.Command{Shell: f.command, Output: cmd.ErrOrStderr()}
	default:
		d.Engine = scale.Local{}
	}
	return d, end, err
}

func noRunKey() error {
	return usage(fmt.Errorf("%w: partials are masked under a run key, and none is given; set %s to 64 hexadecimal digits (openssl rand -hex 32), or %s to a file of them with mode 0600, here and for every worker",
		scale.ErrKey, scale.KeyVariable, scale.KeyFileVariable))
}

// sharder is an engine that makes shards as well.
type sharder interface {
	Shard(context.Context, scale.Sharding) ([]string, error)
}

// make makes shards by the engine of --on.
func (f *shardFlags) make(cmd *cobra.Command, s scale.Sharding) ([]string, error) {
	if f.on == onLocal {
		return s.Write(cmd.Context())
	}
	e, _ := f.engine()
	engine, end, err := e.Open(cmd.Context(), func(line string) { notify(cmd, forAnyone, line) })
	if err != nil {
		return nil, err
	}
	defer end()
	by, ok := engine.(sharder)
	if !ok {
		return nil, usage(fmt.Errorf("shard: --on %s makes no shards; use --on %s", f.on, onLocal))
	}
	return by.Shard(cmd.Context(), s)
}

// flagOf is a flag of an engine that was given, if one was.
func flagOf(cmd *cobra.Command, e Engine) string {
	var given string
	cmd.Flags().Visit(func(g *pflag.Flag) {
		if strings.HasPrefix(g.Name, e.Name+"-") {
			given = g.Name
		}
	})
	return given
}

func newShard(more []Engine) *cobra.Command {
	who := shardFlags{more: more}
	var dir, schema, format string
	var count int
	cmd := command("shard DATA -o DIR --shards S", "Split data by person into Parquet files for evaluate --shards",
		`Read data, a file or a glob of any format of docs/data.md, by the canonical schema or the one in
--schema, and write them into S Parquet files in canonical columns. A person is
whole in one file, chosen by a keyed hash of unit_id. The data must be right: a
fault ends it (discreet validate lists them), and so does a missing observation
unless --schema says what it becomes. Memory holds the names of one shard; all rows are
on disk meanwhile, in a private directory beside DIR that is removed at the end. Where columns were mapped by --schema, a
configuration of the shards maps none.`, exactly(1, "one file or glob"),
		func(cmd *cobra.Command, args []string) error {
			if dir == "" || count < 1 {
				return usage(fmt.Errorf("shard: want -o DIR and --shards S, a number of files"))
			}
			if err := who.validateEngine(cmd, "", true, onLocal); err != nil {
				return err
			}
			o, err := loadSchema(schema)
			if err != nil {
				return err
			}
			if schema == "" {
				o.Missing = trajectory.MissingReject // a shard has a number in every cell
			}
			bar := newProgress(cmd.ErrOrStderr())
			o.Progress, o.Faults = bar.update, toldFaults
			names, err := who.make(cmd, scale.Sharding{Data: args, Format: format, Options: o, Dir: dir, Shards: count,
				Tell: func(line string) { notify(cmd, forCurator, brief(line)) }})
			bar.done()
			if err != nil {
				if schema == "" && strings.Contains(err.Error(), "is missing") {
					notify(cmd, forAnyone, "a shard has a number in every cell: fill missing observations in before, or name in --schema the observations to take (observations: [...]), or what a missing one becomes (missing: zero, or missing: mean with public means)")
				}
				if strings.Contains(err.Error(), "data.") {
					notify(cmd, forAnyone, "keys data.… belong into a configuration and discreet shard reads none: discreet import reads DATA by one, and shards are made of its table; a file for --schema holds "+
						"columns, one_row_episodes, sort, densities, observations, need, reward, missing and means (docs/scale.md)")
				}
				return err
			}
			if wantsJSON(cmd) {
				return json.NewEncoder(cmd.OutOrStdout()).Encode(map[string]any{"shards": names})
			}
			fmt.Fprintf(cmd.OutOrStdout(), "written   %s to %s\n", names[0], filepath.Base(names[len(names)-1]))
			return nil
		})
	cmd.Flags().StringVarP(&dir, "out", "o", "", "directory for the shards, which must not be there yet")
	cmd.Flags().IntVar(&count, "shards", 0, "how many shards")
	cmd.Flags().StringVar(&schema, "schema", "", "what the data must hold (YAML, see docs/data.md); the canonical schema by default")
	cmd.Flags().StringVar(&format, "format", "", "format of the data; by default the extension says it")
	jsonFlag(cmd, "JSON")
	who.addEngines(cmd, "who divides the data: local, this process")
	return cmd
}

func newMerge() *cobra.Command {
	var out string
	cmd := command("merge FILE.part ... -o ALL.part", "Add partials of one task, in any order and as a tree; needs no key", "", between(1, math.MaxInt, "one partial or more"),
		func(_ *cobra.Command, args []string) error {
			if out == "" {
				return usage(fmt.Errorf("merge: want -o ALL.part"))
			}
			parts := make([]scale.Partial, len(args))
			for i, name := range args {
				var err error
				if parts[i], err = scale.ReadPartial(name); err != nil {
					return err
				}
			}
			all, err := scale.Merge(parts...)
			if err != nil {
				return err
			}
			return writePartial(out, all)
		})
	cmd.Flags().StringVarP(&out, "out", "o", "", "file of the sum, a new one")
	return cmd
}

func writePartial(path string, p scale.Partial) error {
	text, err := p.Encode()
	if err != nil {
		return err
	}
	return writeNew(path, 0o600, text)
}
