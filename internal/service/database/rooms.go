package database

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// ErrRoom marks a directory that takes no more: its disk is full, read-only or broken.
var ErrRoom = errors.New("nothing can be written")

// Rooms are directories that a service writes to. They are found out about by writing, since
// quotas, inodes and reserved blocks are not in the free space that a disk states.
type Rooms struct {
	dirs   []string
	every  time.Duration
	turn   chan struct{} // holds one while it writes
	looked time.Time
	err    error // of the last look
}

// NewRooms are directories, each once.
func NewRooms(dirs ...string) *Rooms {
	dirs = slices.Clone(dirs)
	slices.Sort(dirs)
	return &Rooms{dirs: slices.Compact(dirs), every: time.Second, turn: make(chan struct{}, 1)}
}

// Check writes to each of the directories, at most once a second however often it is asked.
func (r *Rooms) Check(ctx context.Context) error {
	done := make(chan error, 1)
	go func() { // a disk that hangs ends nobody's wait
		r.turn <- struct{}{}
		defer func() { <-r.turn }()
		if time.Since(r.looked) >= r.every {
			r.err = nil
			for _, dir := range r.dirs {
				r.err = errors.Join(r.err, room(dir))
			}
			r.looked = time.Now()
		}
		done <- r.err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%w in time: %w", ErrRoom, ctx.Err())
	}
}

// probe is what is written: more than the pages of one change, and nothing that a file system
// could leave out.
const probe = 64 << 10

// room writes a file and removes it. It has always the same name, so that a killed process leaves
// no more than one.
func room(dir string) error {
	path := filepath.Join(dir, ".ready")
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRoom, err)
	}
	var b [probe]byte
	_, _ = rand.Read(b[:]) // never fails
	_, err = f.Write(b[:])
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if gone := os.Remove(path); !errors.Is(gone, fs.ErrNotExist) { // another service of the directory removed it
		err = errors.Join(err, gone)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrRoom, err)
	}
	return nil
}
