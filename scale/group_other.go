//go:build !unix

package scale

import (
	"os/exec"
	"time"
)

// endTogether bounds the wait for what a cancelled command started: there are no groups of
// processes here, so that the command alone is ended.
func endTogether(cmd *exec.Cmd) { cmd.WaitDelay = 10 * time.Second }
