//go:build slow && !linux

package ledger_test

import "testing"

func smallDisk(t *testing.T, _ int) string {
	t.Skip("NOT TESTED ON A FULL DISK: mounting a small one is written for Linux")
	return ""
}
