//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package filelock

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// Take makes the file that stands for the lock. The error wraps [ErrHeld] where it
// is there already.
func Take(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil, fmt.Errorf("%w; if it was killed, remove %s", ErrHeld, path)
	}
	if err != nil {
		return nil, err
	}
	return &Lock{f}, nil
}
