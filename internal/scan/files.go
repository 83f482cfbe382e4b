package scan

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// paths are those of the data, and of outcomes in files of their own.
func paths(s *spec.Spec) []string { return slices.Concat(s.Paths, s.Reading.OutcomeFiles) }

// keyOf is the key that names a path.
func keyOf(s *spec.Spec, path string) string {
	if slices.Contains(s.Reading.OutcomeFiles, path) {
		return "data.outcome.path"
	}
	return "data.path"
}

// files lists the files behind the paths of the data.
func files(ctx context.Context, s *spec.Spec) ([]string, error) {
	var all []string
	for _, p := range paths(s) {
		found := []string{p}
		if !isMinari(s, p) {
			var err error
			if found, err = source.Find(ctx, p); errors.Is(err, filepath.ErrBadPattern) {
				return nil, fmt.Errorf("%w: %s: %w", config.ErrConfig, keyOf(s, p), err)
			} else if err != nil {
				return nil, fmt.Errorf("%w: %w", trajectory.ErrInput, err)
			}
		}
		for _, name := range found {
			below, err := regularFiles(name)
			if err != nil {
				return nil, fmt.Errorf("%w: %w", trajectory.ErrInput, err)
			}
			all = append(all, below...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all), nil
}

// isMinari tells that a path is that of a dataset of Minari, which is all files of a directory.
func isMinari(s *spec.Spec, path string) bool {
	if s.Format == "minari" || s.Format == "" && file.FormatOf(path) == "minari" {
		_, err := os.Stat(path)
		return err == nil
	}
	return false
}

// CheckFiles refuses, before anything is opened, paths of the data that hold nothing
// and files that could keep a reader waiting for ever, such as pipes.
func CheckFiles(ctx context.Context, s *spec.Spec) error {
	for _, p := range paths(s) {
		if found, err := source.Find(ctx, p); errors.Is(err, fs.ErrNotExist) || err == nil && len(found) == 0 {
			return fmt.Errorf("%w: %s: %s: %w; a relative path starts at the configuration's directory", config.ErrConfig, keyOf(s, p), p, fs.ErrNotExist)
		}
	}
	found, err := files(ctx, s)
	if err != nil {
		return err
	}
	for _, name := range found {
		if info, err := source.Stat(ctx, name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return fmt.Errorf("%w: data.path: %s is not a regular file; copy what it holds into one", config.ErrConfig, name)
		}
	}
	return checkImported(ctx, s, found)
}

// ImportMark is the text in the metadata of a table that discreet import wrote, and
// ImportVersion what it says; RepairedVersion is that of a table with episodes that cannot be
// used, in which values are missing.
const (
	ImportMark    = "discreet_import"
	ImportVersion = "1"

	RepairedVersion = "2"
)

// checkImported refuses keys that map columns of a table that has nothing left to map:
// under its canonical names a key would read something else.
func checkImported(ctx context.Context, s *spec.Spec, files []string) error {
	keys := spec.Mappings(s.Config)
	if len(keys) == 0 {
		return nil
	}
	for _, name := range files {
		if s.Format != "parquet" && (s.Format != "" || file.FormatOf(name) != "parquet") {
			continue
		}
		marks, err := file.Marks(ctx, name, ImportMark)
		if err != nil || marks[ImportMark] == "" { // whoever reads the file says what is wrong with it
			continue
		}
		left := keys
		if marks[ImportMark] == RepairedVersion {
			left = slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return key == "data.missing" })
		}
		if len(left) == 0 {
			continue
		}
		return fmt.Errorf("%w: %s was made by discreet import and is read as it is; leave %s out", config.ErrConfig, name, strings.Join(left, ", "))
	}
	return nil
}

// Contents recognises a file, whose name is told without its directory: its SHA-256 and its
// size.
type Contents struct {
	File   string `json:"file"`
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

// ContentsOf are those of the files of the data, sorted by their paths.
func ContentsOf(ctx context.Context, s *spec.Spec) ([]Contents, error) {
	found, err := files(ctx, s)
	if err != nil {
		return nil, err
	}
	var out []Contents
	for _, name := range found {
		info, err := source.Stat(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", trajectory.ErrInput, err)
		}
		sum, err := FileDigest(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("%w: %s: %w", trajectory.ErrInput, name, err)
		}
		out = append(out, Contents{File: filepath.Base(name), Bytes: info.Size(), SHA256: hex.EncodeToString(sum)})
	}
	return out, nil
}

// Digest recognises the data's files under whatever names: the hash of the hashes of
// their contents, in an order that the names do not make. It is over bytes, not
// over what a configuration reads of them, so that two questions about one file
// see the same data; a file that was written anew, by another program or in
// another order, is another one.
func Digest(ctx context.Context, s *spec.Spec) ([]byte, error) {
	found, err := files(ctx, s)
	if err != nil {
		return nil, err
	}
	digests := make([][]byte, len(found))
	for i, path := range found {
		if digests[i], err = FileDigest(ctx, path); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", trajectory.ErrInput, path, err)
		}
	}
	slices.SortFunc(digests, bytes.Compare)
	return bytes.Join(digests, nil), nil
}

// regularFiles is the file itself, or all files of a dataset that is a directory:
// the path then names the directory or the metadata in it.
func regularFiles(path string) ([]string, error) {
	if source.Remote(path) {
		return []string{path}, nil
	}
	if strings.EqualFold(filepath.Base(path), "metadata.json") {
		path = filepath.Dir(path)
	}
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		// An open file that has no name, such as a memory file under /dev/stdin or a
		// pipe under /dev/fd: the link to it opens, and leads nowhere.
		if _, err = os.Stat(path); err == nil {
			return []string{path}, nil
		}
	}
	if err != nil {
		return nil, err
	}
	path = real
	var files []string
	err = filepath.WalkDir(path, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, name)
		}
		return err
	})
	return files, err
}

// FileDigest is the SHA-256 of a file.
func FileDigest(ctx context.Context, path string) ([]byte, error) {
	f, err := source.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, &stoppable{ctx, f}); err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}

// stoppable is a reader that a context ends.
type stoppable struct {
	ctx context.Context
	r   io.Reader
}

func (s *stoppable) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, err
	}
	return s.r.Read(p)
}
