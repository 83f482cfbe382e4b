package filelock

import (
	"errors"
	"os"
)

// ErrHeld marks a lock that another holds.
var ErrHeld = errors.New("held by another process")

// Lock is a lock that was taken.
type Lock struct{ file *os.File }

// Release gives the lock back and removes its file.
func (l *Lock) Release() error {
	// Removed first: who locks the file that has lost its name looks again.
	return errors.Join(os.Remove(l.file.Name()), l.file.Close())
}
