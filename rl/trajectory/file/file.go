package file

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/arrowfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/csvfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ingest"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/minarifile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/movedfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ndjsonfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/parquetfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// ErrFormat marks a format that is not known, or cannot be told from the names
// of the files.
var ErrFormat = fault.Input("unknown file format")

// formats are all that there are.
func formats() []table.Format {
	return []table.Format{csvfile.Format(), parquetfile.Format(), ndjsonfile.Format(), arrowfile.Format(), minarifile.Format()}
}

// Names lists the names of the formats.
func Names() []string {
	var names []string
	for _, f := range formats() {
		names = append(names, f.Name)
	}
	return names
}

// writable names an extension of each format that can be written.
func writable() string {
	var all []string
	for _, f := range formats() {
		if f.Write != nil {
			all = append(all, f.Extensions[0])
		}
	}
	last := len(all) - 1
	return strings.Join(all[:last], ", ") + " or " + all[last]
}

// Read reads the files that the patterns name into memory, and returns notices
// for the curator beside the dataset (see [Stream.Notices]). A
// pattern is a path or a glob; the files are read in the order of their sorted
// paths, each once. An empty format chooses by the files' extension. Errors
// about the data wrap [trajectory.ErrInput].
func Read(ctx context.Context, patterns []string, format string, o trajectory.Options) (*trajectory.Dataset, []string, error) {
	s, err := Open(ctx, patterns, format, o)
	if err != nil {
		return nil, nil, err
	}
	return ingest.Collect(s.in)
}

// Open is like [Read], but gives one episode at a time.
func Open(ctx context.Context, patterns []string, format string, o trajectory.Options) (*Stream, error) {
	files, err := expand(ctx, patterns, format)
	if err != nil {
		return nil, err
	}
	f, err := choose(files, format)
	if err != nil {
		return nil, err
	}
	return open(ctx, f, files, o)
}

// OpenOne is Open of files that [Stream.Files] gave, of a format that [Stream.Format] gave:
// it reads the one with this index, and leaves the others to other readers. The columns are
// held against those of the first file. A file that stands there several times, one after
// another, is read by [Stream.Divide] in so many parts.
func OpenOne(ctx context.Context, files []string, index int, format string, o trajectory.Options) (*Stream, error) {
	f, err := choose(files, format)
	if err != nil {
		return nil, err
	}
	path, first := files[index], slices.Index(files, files[index])
	distinct := slices.Compact(slices.Clone(files))
	s, err := open(ctx, f, distinct, o)
	if err != nil {
		return nil, err
	}
	s.part, s.ofParts = index-first, 0
	for _, f := range files {
		if f == path {
			s.ofParts++
		}
	}
	return s, s.in.Only(slices.Index(distinct, path))
}

func open(ctx context.Context, f table.Format, files []string, o trajectory.Options) (*Stream, error) {
	beside, outcomes, err := besides(ctx, f, o)
	if err != nil {
		return nil, err
	}
	if f.Name == csvfile.Format().Name {
		f = dialect(o)
	} else if beside.Name == csvfile.Format().Name || f.Name == movedfile.Format().Name {
		o.Separator, o.NA, o.Multiline = 0, nil, false // which are theirs, or were heeded
	} else if o.Separator != 0 || len(o.NA) > 0 || o.Multiline {
		return nil, fmt.Errorf("%w: separators and markers of missing values are of CSV, and the format is %s; leave data.separator and data.na out, and data.multiline", trajectory.ErrOptions, f.Name)
	}
	if o.Rows != "" && f.Nested == nil {
		return nil, fmt.Errorf("%w: rows in a list are of NDJSON, and the format is %s; leave data.rows out", trajectory.ErrOptions, f.Name)
	}
	in, err := ingest.NewStream(ctx, f, files, o)
	if err != nil {
		return nil, err
	}
	if keys := source.Partitions(files); len(keys) > 0 {
		in.Notice("directories are named " + strings.Join(keys, "=..., ") + "=...: their values are not read; a column of the files is")
	}
	if len(outcomes) > 0 {
		in.Beside(beside, outcomes)
	}
	return &Stream{in: in}, nil
}

func dialect(o trajectory.Options) table.Format {
	return csvfile.Dialect{Separator: o.Separator, NA: o.NA, Multiline: o.Multiline}.Format()
}

// besides finds the files of outcomes, and their format: by their extension, else that of
// the data.
func besides(ctx context.Context, f table.Format, o trajectory.Options) (table.Format, []string, error) {
	if len(o.OutcomeFiles) == 0 {
		return table.Format{}, nil, nil
	}
	files, err := expand(ctx, o.OutcomeFiles, "")
	if err != nil {
		return f, nil, err
	}
	if _, known := byExtension(files[0]); known {
		if f, err = choose(files, ""); err != nil {
			return f, nil, err
		}
	}
	switch f.Name {
	case csvfile.Format().Name:
		f = dialect(o)
	case minarifile.Format().Name:
		return f, nil, fmt.Errorf("%w: outcomes are read from CSV, Parquet or NDJSON, not from a dataset of Minari", ErrFormat)
	}
	return f, files, nil
}

// Summary is what validation has counted. It is for the curator: counts are as
// private as the data.
type Summary struct {
	Files, Persons, Episodes, Rows int
	// Records are the rows of the files, and Lines those of CSV files; 0 of other formats.
	Records, Lines int
	// Whole tells that all of the data was read, so that Persons counts all of them.
	// Episodes and rows are counted up to the first fault.
	Whole bool
	// EndUnknown tells that the data do not say how episodes end.
	EndUnknown bool
	// Unfollowed counts the episodes that were cut off and whose observation after
	// the last decision is not known.
	Unfollowed int
	// Unused counts the decisions that the caps left out.
	Unused trajectory.Unused
	// Repaired counts what was changed or left out for a violation.
	Repaired trajectory.Repaired
	Notices  []string
}

// Validate reads all of the data, keeps nothing, and returns what is wrong with
// them: the first fault, or as many as [trajectory.Options.Faults] says.
// The options say which columns are looked at; [trajectory.AllParts] as the
// optional parts looks at everything.
func Validate(ctx context.Context, patterns []string, format string, o trajectory.Options) (Summary, error) {
	s, err := Open(ctx, patterns, format, o)
	if err != nil {
		return Summary{}, err
	}
	defer s.Close()
	sum := Summary{Files: len(s.Files())}
	for {
		e, err := s.Next()
		if err != nil {
			sum.Notices, sum.Persons, sum.Unused, sum.Whole, sum.Repaired = s.Notices(), s.Persons(), s.Unused(), s.in.Whole(), s.Repaired()
			sum.Records, sum.Lines = s.in.Rows(), s.in.Lines()
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return sum, err
		}
		sum.EndUnknown = e.EndUnknown
		if e.Len() == 0 {
			continue
		}
		sum.Episodes++
		sum.Rows += e.Len()
		if !e.Terminated && e.Final == nil {
			sum.Unfollowed++
		}
	}
}

// Write writes a dataset to a new file, or in place of an old one, in the
// format of the extension or the one named. The file appears only when it is
// whole, and only its owner may read it: it holds data about people.
//
// A dataset of Minari is a new directory: the format minari is its Parquet
// layout, and minari-arrow its Arrow layout.
func Write(path, format string, d *trajectory.Dataset) error {
	if format == "minari-arrow" {
		return minarifile.Write(path, minarifile.Arrow, d)
	}
	f, err := choose([]string{path}, format)
	if err != nil {
		return err
	}
	if f.Name == minarifile.Format().Name {
		return minarifile.Write(path, minarifile.Parquet, d)
	}
	if f.Write == nil || strings.HasSuffix(path, ".gz") {
		return fmt.Errorf("%w: %s cannot be written; choose %s", ErrFormat, path, writable())
	}
	w, err := os.CreateTemp(filepath.Dir(path), ".writing-*")
	if err != nil {
		return err
	}
	err = errors.Join(f.Write(w, d), w.Close())
	if err == nil {
		err = os.Rename(w.Name(), path)
	}
	if err != nil {
		os.Remove(w.Name())
	}
	return err
}

// expand lists the files, sorted, each once. Of a directory they are those below it, but for
// a dataset of Minari.
func expand(ctx context.Context, patterns []string, format string) ([]string, error) {
	var files []string
	for _, p := range patterns {
		if format == minarifile.Format().Name && !source.Remote(p) {
			if _, err := os.Stat(p); err == nil {
				files = append(files, filepath.Clean(p))
				continue
			}
		}
		found, err := source.Find(ctx, p)
		switch {
		case errors.Is(err, filepath.ErrBadPattern):
			return nil, fmt.Errorf("%w: the pattern %s is not a glob: %w", trajectory.ErrOptions, p, err)
		case err != nil:
			return nil, err
		case len(found) == 0:
			return nil, &trajectory.InputError{File: p, What: "no file matches", Remedy: "correct the pattern", Kind: trajectory.ErrEmpty}
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	files = slices.Compact(files)
	return files, distinct(files)
}

// distinct refuses two names of one file: its persons would count twice, or, in
// a log of one-row episodes, as others.
func distinct(files []string) error {
	infos := make([]os.FileInfo, len(files))
	for i, name := range files {
		if source.Remote(name) { // an object has one name
			continue
		}
		info, err := os.Stat(name)
		if err != nil {
			return fmt.Errorf("%w: %w", trajectory.ErrInput, err)
		}
		if !info.Mode().IsRegular() && !info.IsDir() { // a pipe could keep its reader waiting for ever
			return &trajectory.InputError{File: name, What: "is not a regular file", Remedy: "copy what it holds into one", Kind: trajectory.ErrFormat}
		}
		for j, before := range infos[:i] {
			if before != nil && os.SameFile(info, before) {
				return &trajectory.InputError{File: name, What: "is the same file as " + files[j], Remedy: "name it once", Kind: trajectory.ErrFormat}
			}
		}
		infos[i] = info
	}
	return nil
}

// choose finds the format: by name, else by the extension that all files have. What is in memory without an extension are
// pieces of [Stream.Divide], whatever they were of.
func choose(files []string, name string) (table.Format, error) {
	if len(files) > 0 && strings.HasPrefix(files[0], source.MemoryScheme) && FormatOf(files[0]) == "" {
		return movedfile.Format(), nil
	}
	if name != "" {
		for _, f := range formats() {
			if f.Name == name {
				return f, nil
			}
		}
		return table.Format{}, fmt.Errorf("%w: %s; choose one of %s", ErrFormat, name, strings.Join(Names(), ", "))
	}
	var chosen table.Format
	for _, path := range files {
		f, ok := byExtension(path)
		if !ok {
			return f, fmt.Errorf("%w: %s: the extension is none of %s; name the format (%s)%s", ErrFormat, path,
				strings.Join(extensions(), ", "), strings.Join(Names(), ", "), tabs(path))
		}
		if chosen.Name != "" && chosen.Name != f.Name {
			return f, fmt.Errorf("%w: %s is %s and the files before it are %s; read them apart", ErrFormat, path, f.Name, chosen.Name)
		}
		chosen = f
	}
	return chosen, nil
}

// tabs says how a file with tabs is read.
func tabs(path string) string {
	if lower := strings.ToLower(path); !strings.HasSuffix(lower, ".tsv") && !strings.HasSuffix(lower, ".tsv.gz") && !strings.HasSuffix(lower, ".tab") {
		return ""
	}
	return `; for fields between tabs it is csv: data.format: csv and data.separator: "\t", which discreet init --format csv writes`
}

// FormatOf is the name of the format whose extension a path has, "" where none has it.
func FormatOf(path string) string {
	f, _ := byExtension(path)
	return f.Name
}

func byExtension(path string) (table.Format, bool) {
	lower := strings.ToLower(path)
	for _, f := range formats() {
		for _, e := range f.Extensions {
			if strings.HasSuffix(lower, e) {
				return f, true
			}
		}
	}
	return table.Format{}, false
}

func extensions() []string {
	var all []string
	for _, f := range formats() {
		all = append(all, f.Extensions...)
	}
	return all
}

// WriteMarked writes a dataset as Parquet, with further texts by name in the file's
// metadata; see [Marks].
func WriteMarked(w io.Writer, d *trajectory.Dataset, marks map[string]string) error {
	return parquetfile.WriteMarked(w, d, marks)
}

// Marks returns those of the named texts that are in a Parquet file's metadata.
func Marks(ctx context.Context, path string, names ...string) (map[string]string, error) {
	return parquetfile.Marks(ctx, path, names...)
}
