package source

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// marks are what tells of a directory that its files are more or less than its rows: the
// history of a table, or a job that is writing.
var marks = []struct{ name, what string }{
	{"_delta_log", "a Delta table, of which some files hold rows that were removed"},
	{".hoodie", "a Hudi table, of which some files hold rows that were replaced"},
	{".metadata.json", "an Iceberg table, of which some files hold rows that were removed"},
	{"_temporary", "what a job writes that did not end"},
}

// Find lists what a name stands for: itself, what a glob matches, or the files below a
// directory, but for those that begin with _ or a dot, as do their directories. It is empty
// where a glob matches nothing. A name that exists is itself even if it looks like a glob.
func Find(ctx context.Context, name string) ([]string, error) {
	if Remote(name) {
		return findRemote(ctx, name)
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return below(name)
	case err == nil:
		return []string{filepath.Clean(name)}, nil
	case !strings.ContainsAny(name, `*?[`):
		return nil, err
	}
	found, err := filepath.Glob(name)
	if err != nil {
		return nil, err
	}
	var files []string
	asked := isHidden(filepath.Base(name)) // for hidden ones
	for _, f := range found {
		if info, err := os.Stat(f); err != nil || !info.IsDir() {
			files = append(files, f)
			continue
		}
		if base := filepath.Base(f); !asked && isHidden(base) {
			if err := history(filepath.Dir(f), base); err != nil {
				return nil, err
			}
			continue
		}
		within, err := below(f)
		if err != nil {
			return nil, err
		}
		files = append(files, within...)
	}
	return files, nil
}

// isHidden tells of a name that it is none of data. A partition such as _key=1 is.
func isHidden(name string) bool {
	return strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") && !strings.Contains(name, "=")
}

// below lists the files of a directory.
func below(dir string) ([]string, error) {
	var names []string
	root := dir
	if !os.IsPathSeparator(root[len(root)-1]) {
		root += string(filepath.Separator) // follows a link that is named itself
	}
	err := filepath.WalkDir(root, func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type()&fs.ModeSymlink != 0 {
			switch info, err := os.Stat(name); {
			case err != nil:
				return fmt.Errorf("%w: %s is a link to what cannot be read; remove it, or name the files", ErrDirectory, name)
			case info.IsDir():
				return fmt.Errorf("%w: %s is a link to a directory; name the files in it", ErrDirectory, name)
			}
		}
		if err == nil && !e.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return visible(names, dir, func(name string) string {
		within, err := filepath.Rel(dir, name) // names are cleaned, and dir may not be
		if err != nil {
			return name
		}
		return filepath.ToSlash(within)
	})
}

// visible are the files below a directory that are data; within is a name's part below it.
func visible(names []string, dir string, within func(string) string) ([]string, error) {
	var files []string
	for _, name := range names {
		hidden := false
		for part := range strings.SplitSeq(strings.Trim(within(name), "/"), "/") {
			if err := history(dir, part); err != nil {
				return nil, err
			}
			hidden = hidden || isHidden(part)
		}
		if !hidden && !strings.HasSuffix(name, "/") { // which consoles write for an empty directory
			files = append(files, name)
		}
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%w: %s holds no file of data", ErrDirectory, dir)
	}
	return files, nil
}

// history refuses a directory by a name in it that is one of the marks.
func history(dir, part string) error {
	for _, m := range marks {
		if part == m.name || m.name == ".metadata.json" && strings.HasSuffix(part, m.name) {
			return fmt.Errorf("%w: %s holds %s, so that it is %s; have its engine write the rows as files of their own, or name the files", ErrDirectory, dir, part, m.what)
		}
	}
	return nil
}

// findRemote is Find of objects. A directory is a part of their keys.
func findRemote(ctx context.Context, name string) ([]string, error) {
	s, err := StoreOf(ctx, name)
	if err != nil {
		return nil, err
	}
	if at := strings.IndexAny(name, `*?[`); at >= 0 {
		if _, err := path.Match(name, ""); err != nil {
			return nil, filepath.ErrBadPattern
		}
		all, err := s.List(ctx, name[:at])
		if err != nil {
			return nil, err
		}
		var files []string
		for _, n := range all {
			if ok, _ := path.Match(name, n); ok {
				files = append(files, n)
			}
		}
		return files, nil
	}
	dir := strings.TrimSuffix(name, "/")
	if dir == name && strings.Count(name, "/") > 2 { // else it is a bucket
		if _, err := s.Stat(ctx, name); !errors.Is(err, fs.ErrNotExist) {
			return []string{name}, err
		}
	}
	all, err := s.List(ctx, dir+"/")
	if err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return visible(all, dir, func(p string) string { return p[len(dir):] })
}

// Partitions are the keys of directories such as year=2026 above files, in the order in
// which they come.
func Partitions(names []string) []string {
	var keys []string
	seen := map[string]bool{}
	for _, name := range names {
		for part := range strings.SplitSeq(path.Dir(filepath.ToSlash(name)), "/") {
			if key, _, found := strings.Cut(part, "="); found && key != "" && !seen[key] {
				seen[key] = true
				keys = append(keys, key)
			}
		}
	}
	return keys
}
