package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// File is open data. Several goroutines may call ReadAt.
type File interface {
	fs.File
	io.ReaderAt
}

// Store reaches the objects of one scheme. What it opens is of one version of an object; a
// version that is another than the store met first is an error.
type Store interface {
	// Scheme is what names begin with, such as s3://.
	Scheme() string
	// Open opens an object, and Stat describes it; Sys of that is its [Version].
	Open(ctx context.Context, name string) (File, error)
	Stat(ctx context.Context, name string) (fs.FileInfo, error)
	// List gives the names that begin with a text, sorted.
	List(ctx context.Context, prefix string) ([]string, error)
	// Write makes a small object, or takes the place of one.
	Write(ctx context.Context, name string, text []byte) error
	Remove(ctx context.Context, name string) error
}

// Version recognises the content of an object.
type Version string

type key struct{}

// With has [Open] and its kin reach a store.
func With(ctx context.Context, s Store) context.Context { return context.WithValue(ctx, key{}, s) }

// Remote tells that a name is no path of this machine.
func Remote(name string) bool {
	scheme, _, found := strings.Cut(name, "://")
	return found && scheme != "" && strings.Trim(scheme, "abcdefghijklmnopqrstuvwxyz0123456789") == ""
}

// StoreOf is the store of a remote name.
func StoreOf(ctx context.Context, name string) (Store, error) {
	if s, ok := ctx.Value(key{}).(Store); ok && strings.HasPrefix(name, s.Scheme()) {
		return s, nil
	}
	scheme, _, _ := strings.Cut(name, "://")
	return nil, fmt.Errorf("%w: %s:// is none of the schemes of this program; discreet-beam reads s3:// (docs/scale.md)", ErrScheme, scheme)
}

// Open opens data to be read.
func Open(ctx context.Context, name string) (File, error) {
	if !Remote(name) {
		f, err := os.Open(name)
		if err != nil {
			return nil, err // a nil *os.File would be no nil File
		}
		return f, nil
	}
	s, err := StoreOf(ctx, name)
	if err != nil {
		return nil, err
	}
	return s.Open(ctx, name)
}

// Stat describes data. Objects are regular.
func Stat(ctx context.Context, name string) (fs.FileInfo, error) {
	if !Remote(name) {
		return os.Stat(name)
	}
	s, err := StoreOf(ctx, name)
	if err != nil {
		return nil, err
	}
	return s.Stat(ctx, name)
}

// Same tells that two descriptions are of one file, or object, that was not written between
// them.
func Same(a, b fs.FileInfo) bool {
	if v, ok := a.Sys().(Version); ok {
		return b.Sys() == v
	}
	return os.SameFile(a, b) && a.Size() == b.Size() && a.ModTime().Equal(b.ModTime())
}

// Abs is a name that is the same from every directory.
func Abs(name string) (string, error) {
	if Remote(name) {
		return name, nil
	}
	return filepath.Abs(name)
}

// StoreError is an error of a store. It names the object and holds nothing of the data.
type StoreError struct{ Err error }

// Error implements [error].
func (e *StoreError) Error() string { return e.Err.Error() }

// Unwrap gives what is wrong.
func (e *StoreError) Unwrap() error { return e.Err }

// Told is the error of a store where a reader took it for a fault of the data, else err.
func Told(err error) error {
	if e, ok := errors.AsType[*StoreError](err); ok {
		return e
	}
	return err
}
