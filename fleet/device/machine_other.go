//go:build !darwin && !freebsd

package device

// systemID is the identifier that the kernel knows; files name the machine elsewhere.
func systemID() string { return "" }
