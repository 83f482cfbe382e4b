//go:build unix

package scale

import (
	"os/exec"
	"syscall"
	"time"
)

// patience is how long a command may take to end when it is asked to.
const patience = 10 * time.Second

// endTogether has what a shell started end with it, when the driver is cancelled: the
// shell alone would leave its children at work on shards that nobody waits for.
func endTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM) }
	cmd.WaitDelay = patience
}
