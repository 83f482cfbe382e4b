package device

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"
)

// machineFiles hold the name of a Linux system, which is drawn when it is installed.
var machineFiles = []string{"/etc/machine-id", "/var/lib/dbus/machine-id"}

// machine is a name of this machine, and whether it is its own: without one the host's name stands for it.
func machine() (name string, own bool, err error) {
	if id := systemID(); id != "" {
		return id, true, nil
	}
	for _, path := range machineFiles {
		if text, err := os.ReadFile(path); err == nil {
			if id := strings.TrimSpace(string(text)); len(id) >= 16 {
				return id, true, nil
			}
		}
	}
	host, err := os.Hostname()
	if err != nil {
		return "", false, fmt.Errorf("%w: this machine has no name to bind the state to: %w; name one (machine)", ErrConfig, err)
	}
	return "host " + host, false, nil
}

// bound is what the store keeps of a machine's name.
func bound(name string) []byte {
	sum := sha256.Sum256([]byte("discreet fleet machine 1\x00" + name))
	return sum[:]
}

// bind binds a state to this machine, or finds that it is another's.
func (a *Agent) bind(ctx context.Context) error {
	name := a.cfg.Machine
	if name == "" {
		own := false
		var err error
		if name, own, err = machine(); err != nil {
			return err
		}
		if !own {
			a.cfg.Log.Warn("this machine has no identifier; the state is bound to the host's name")
		}
	}
	a.machine = bound(name)
	id, err := a.store.identity(ctx)
	if err != nil || id == nil {
		return err
	}
	if id.machine == nil || a.cfg.Move {
		return a.store.bind(ctx, a.machine)
	}
	if !bytes.Equal(id.machine, a.machine) {
		return fmt.Errorf("%w: %s was begun on another; where it was moved, and the other machine has no copy that goes on, say so: discreet fleet agent move CONFIG.yaml", errMachine, a.cfg.Dir)
	}
	return nil
}
