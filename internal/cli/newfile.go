package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/discreet-rl/discreet/internal/atomicfile"
)

// newFile writes a file that must not exist yet: a slip in a command line must not
// cost a ledger, a key or a release. Under its name is the whole file or nothing.
func newFile(path string, mode fs.FileMode, write func(io.Writer) error) error {
	err := atomicfile.Create(path, mode, write)
	var place *fs.PathError
	switch {
	case errors.Is(err, fs.ErrExist):
		return usage(fmt.Errorf("%s exists and is not overwritten; choose another name, or remove it", path))
	case errors.Is(err, fs.ErrNotExist):
		return usage(fmt.Errorf("%s: the directory %s does not exist; make it, or choose another name", path, filepath.Dir(path)))
	case errors.As(err, &place) && place.Op == "open": // no such directory, or not ours
		return usage(err)
	}
	return err
}
