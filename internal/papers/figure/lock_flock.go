//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package figure

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock keeps other processes out of a store. The system releases it when the
// process ends, however it ends.
type lock struct{ file *os.File }

// lockFile takes the lock on a file, which it makes, without waiting. Where the
// file was replaced meanwhile it takes that of the new one.
func lockFile(path string) (lock, error) {
	for {
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
		if err != nil {
			return lock{}, err
		}
		for {
			if err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); !errors.Is(err, syscall.EINTR) {
				break
			}
		}
		switch {
		case errors.Is(err, syscall.EWOULDBLOCK):
			return lock{}, errors.Join(inUse(path), f.Close())
		case err != nil:
			return lock{}, errors.Join(fmt.Errorf("lock %s: %w", path, err), f.Close())
		}
		held, err := f.Stat()
		if err != nil {
			return lock{}, errors.Join(err, f.Close())
		}
		if now, err := os.Stat(path); err == nil && os.SameFile(held, now) {
			return lock{f}, nil
		}
		if err := f.Close(); err != nil {
			return lock{}, err
		}
	}
}

// again takes the lock on the file that has taken the place of the locked one.
func (l lock) again(path string) (lock, error) {
	next, err := lockFile(path)
	if err != nil {
		return l, err
	}
	return next, l.release()
}

func (l lock) release() error { return l.file.Close() }
