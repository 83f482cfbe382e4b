// Package boundedfile reads files whose size is limited before they are opened.
package boundedfile

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
)

// ErrUnfit marks a path that is no regular file, or one that is too long.
var ErrUnfit = errors.New("not a file of that kind")

// Open opens a regular file of at most so many bytes: a device never ends,
// and a file of data in the place of a policy would fill the memory.
func Open(path string, most int64) (*os.File, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("%w: %s is a directory", ErrUnfit, path)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%w: %s is not a regular file", ErrUnfit, path)
	case info.Size() > most:
		return nil, fmt.Errorf("%w: %s has %d bytes, and at most %d are read", ErrUnfit, path, info.Size(), most)
	}
	return os.Open(path)
}

// Read reads such a file.
func Read(path string, most int64) ([]byte, error) {
	f, err := Open(path, most)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(f, most))
	return text, errors.Join(err, f.Close())
}

// LargestPolicy bounds, in bytes, the file of a policy.
const LargestPolicy = 64 << 20

// Hash is the SHA-256, in hexadecimal, of such a file.
func Hash(path string, most int64) (string, error) {
	text, err := Read(path, most)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}
