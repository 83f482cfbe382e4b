//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package figure

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// lock keeps other processes out of a store. There is no flock here, so a file
// beside the store is the lock: a process that is killed leaves it behind, and a
// person has to remove it.
type lock struct{ file *os.File }

func lockFile(path string) (lock, error) {
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return lock{}, fmt.Errorf("%w; if that process was killed, remove %s.lock", inUse(path), path)
	}
	return lock{f}, err
}

// again keeps the lock, which stands for the name of the store.
func (l lock) again(string) (lock, error) { return l, nil }

func (l lock) release() error { return errors.Join(l.file.Close(), os.Remove(l.file.Name())) }
