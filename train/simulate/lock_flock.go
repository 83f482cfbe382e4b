//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package simulate

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/discreet-rl/discreet/train"
)

// dirLock keeps other processes, and other journals of this one, out of a
// directory. The system releases it when the process ends, however it ends. The
// file stays: were it removed, two processes could lock two files of one name.
type dirLock struct{ file *os.File }

// lockDir takes the lock that a file stands for, without waiting. The error wraps
// [ErrInUse] where another holds it.
func lockDir(path string) (dirLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return dirLock{}, fmt.Errorf("%w: %w", train.ErrState, err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	switch {
	case err == nil:
		return dirLock{f}, nil
	case errors.Is(err, syscall.EWOULDBLOCK):
		err = inUse(path)
	default:
		err = fmt.Errorf("%w: lock %s: %w; choose a directory on a local disk", train.ErrState, path, err)
	}
	return dirLock{}, errors.Join(err, f.Close())
}

func (l dirLock) release() error { return l.file.Close() }
