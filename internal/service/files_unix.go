//go:build unix

package service

import (
	"math"
	"syscall"
)

// openFiles is how many files this process may have open.
func openFiles() int {
	var r syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &r); err != nil {
		return math.MaxInt32
	}
	return int(min(uint64(r.Cur), math.MaxInt32))
}
