//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package simulate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/discreet-rl/discreet/train"
)

// dirLock keeps other processes, and other journals of this one, out of a
// directory. There is no flock here, so the file itself is the lock: a process
// that is killed leaves it behind, and a person has to remove it.
type dirLock struct{ file *os.File }

// lockDir makes the file that stands for the lock. The error wraps [ErrInUse]
// where it is there already.
func lockDir(path string) (dirLock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	switch {
	case err == nil:
		return dirLock{f}, nil
	case errors.Is(err, fs.ErrExist):
		return dirLock{}, fmt.Errorf("%w; if that process was killed, remove %s", inUse(path), path)
	}
	return dirLock{}, fmt.Errorf("%w: %w", train.ErrState, err)
}

func (l dirLock) release() error {
	return errors.Join(l.file.Close(), os.Remove(l.file.Name()))
}
