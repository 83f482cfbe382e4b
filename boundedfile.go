package discreet

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// errUnfit marks a path that is no regular file, or one that is too long.
var errUnfit = errors.New("not a file of that kind")

// openBounded opens a regular file of at most so many bytes: a device never ends,
// and a file of data in the place of a policy would fill the memory.
func openBounded(path string, most int64) (*os.File, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%w: %s is a directory", errUnfit, path)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s is not a regular file", errUnfit, path)
	case info.Size() > most:
		return nil, fmt.Errorf("%w: %s has %d bytes, and at most %d are read", errUnfit, path, info.Size(), most)
	}
	return os.Open(path)
}

// boundedFile reads such a file.
func boundedFile(path string, most int64) ([]byte, error) {
	f, err := openBounded(path, most)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, most))
	return text, errors.Join(err, f.Close())
}
