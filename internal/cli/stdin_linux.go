package cli

import (
	"os"
	"syscall"
)

// standIn puts a file in the place of standard input, so that its path leads to it.
func standIn(f *os.File) error { return syscall.Dup3(int(f.Fd()), 0, 0) }
