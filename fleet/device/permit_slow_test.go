//go:build slow

package device_test

import "testing"

func TestCopiesOfADeviceAtEveryPoint(t *testing.T) {
	copies(t, []string{"seen", "trained", "asking", "asked", "paying", "debited", "encoded", "recorded", "kept", "sent", "uploaded", "acknowledged"}, 2)
}
