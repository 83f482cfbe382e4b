package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/discreet-rl/discreet/internal/atomicfile"
)

// newFile writes a file that must not exist yet: a slip in a command line must not
// cost a ledger, a key or a release. The name is claimed first, by an empty file,
// so that of two commands one is refused.
func newFile(path string, mode fs.FileMode, write func(io.Writer) error) error {
	claim, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if errors.Is(err, fs.ErrExist) {
		return usage(fmt.Errorf("%s exists and is not overwritten; choose another name, or remove it", path))
	} else if err != nil {
		return usage(err)
	}
	err = errors.Join(claim.Close(), atomicfile.Write(path, mode, write))
	if err != nil {
		err = errors.Join(err, os.Remove(path))
	}
	return err
}
