package source

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// MemoryScheme is what the names of data in memory begin with.
const MemoryScheme = "memory://"

// Memory is a store of data in memory, by their names.
type Memory map[string][]byte

// Scheme implements [Store].
func (m Memory) Scheme() string { return MemoryScheme }

type memoryFile struct {
	*bytes.Reader
	info memoryInfo
}

// Stat implements [fs.File].
func (f memoryFile) Stat() (fs.FileInfo, error) { return f.info, nil }

// Close implements [fs.File].
func (f memoryFile) Close() error { return nil }

type memoryInfo struct {
	name    string
	size    int64
	version Version
}

func (i memoryInfo) Name() string     { return i.name }
func (i memoryInfo) Size() int64      { return i.size }
func (memoryInfo) Mode() fs.FileMode  { return 0o400 }
func (memoryInfo) ModTime() time.Time { return time.Time{} }
func (memoryInfo) IsDir() bool        { return false }
func (i memoryInfo) Sys() any         { return i.version }

// Open implements [Store].
func (m Memory) Open(ctx context.Context, name string) (File, error) {
	info, err := m.info(name)
	return memoryFile{bytes.NewReader(m[name]), info}, err
}

func (m Memory) info(name string) (memoryInfo, error) {
	data, ok := m[name]
	if !ok {
		return memoryInfo{}, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return memoryInfo{name, int64(len(data)), Version(name)}, nil
}

// Stat implements [Store]. Of a directory, whose name ends in a slash, the version is of all that is in it.
func (m Memory) Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	if !strings.HasSuffix(name, "/") {
		return m.info(name)
	}
	names, err := m.List(ctx, name)
	if err != nil {
		return nil, err
	}
	sum, size := sha256.New(), int64(0)
	for _, n := range names {
		fmt.Fprintf(sum, "%q %d\n", n, len(m[n]))
		sum.Write(m[n])
		size += int64(len(m[n]))
	}
	return memoryInfo{name, size, Version(sum.Sum(nil))}, nil
}

// List implements [Store].
func (m Memory) List(_ context.Context, prefix string) ([]string, error) {
	var names []string
	for n := range m {
		if strings.HasPrefix(n, prefix) {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	return names, nil
}

// Write implements [Store]. It refuses: data in memory are only read.
func (m Memory) Write(context.Context, string, []byte) error { return errors.ErrUnsupported }

// Remove implements [Store], and refuses as well.
func (m Memory) Remove(context.Context, string) error { return errors.ErrUnsupported }
