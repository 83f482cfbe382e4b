//go:build !linux

package cli

import (
	"errors"
	"os"
)

// standIn refuses: elsewhere than on Linux the path of standard input reads it only once.
func standIn(*os.File) error {
	return errors.New("data are read from a pipe on Linux alone; write them into a file")
}
