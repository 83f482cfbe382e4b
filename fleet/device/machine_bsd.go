//go:build darwin || freebsd

package device

import (
	"runtime"
	"syscall"
)

// systemID is the identifier that the kernel knows; "" for none.
func systemID() string {
	name := map[string]string{"darwin": "kern.uuid", "freebsd": "kern.hostuuid"}[runtime.GOOS]
	id, err := syscall.Sysctl(name)
	if err != nil || len(id) < 16 {
		return ""
	}
	return id
}
