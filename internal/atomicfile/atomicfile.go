// Package atomicfile makes and replaces files in one step: a reader sees the whole of a
// file or none of it, and a symbolic link in its place is replaced, not followed.
package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Write makes the file at path of what write gives it, with the permissions
// mode. Nothing is left behind when it fails.
func Write(path string, mode fs.FileMode, write func(io.Writer) error) error {
	return through(filepath.Dir(path), path, mode, write, os.Rename)
}

// Create is Write for a name that must be free: where it is taken, by then or in the
// end, the error wraps [fs.ErrExist]. Of several at once one succeeds. Until the
// whole file is there the name stays free, even if the process is killed.
func Create(path string, mode fs.FileMode, write func(io.Writer) error) error {
	return CreateFrom(filepath.Dir(path), path, mode, write)
}

// CreateFrom is Create with the file that is not whole yet in a directory of the same file
// system, so that whoever empties that directory finds what a killed process left.
func CreateFrom(dir, path string, mode fs.FileMode, write func(io.Writer) error) error {
	if _, err := os.Lstat(path); err == nil {
		return &fs.PathError{Op: "create", Path: path, Err: fs.ErrExist}
	}
	return through(dir, path, mode, write, move)
}

// move gives a file a name that is free.
func move(from, to string) error {
	err := os.Link(from, to)
	if err == nil {
		return os.Remove(from)
	}
	if errors.Is(err, fs.ErrExist) {
		return err
	}
	return claim(from, to)
}

// claim is move on a file system that knows no links: the name is taken by an empty
// file, which is replaced at once.
func claim(from, to string) error {
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Close(), os.Rename(from, to)); err != nil {
		return errors.Join(err, os.Remove(to))
	}
	return nil
}

// through writes a file under a name of its own and has it named at the end.
func through(dir, path string, mode fs.FileMode, write func(io.Writer) error, name func(from, to string) error) (err error) {
	f, err := os.CreateTemp(dir, ".writing-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(f.Name()))
		}
	}()
	err = errors.Join(write(f), f.Sync(), f.Chmod(mode), f.Close())
	if err != nil {
		return err
	}
	return name(f.Name(), path)
}
