//go:build slow

package audit

import "testing"

// TestTenThousandHonestRuns: at the default rate no alarm is to be expected, and one of
// 10,000 would have a probability of 1%; at one of 5% the count tells something.
func TestTenThousandHonestRuns(t *testing.T) {
	t.Run("default", func(t *testing.T) { honest(t, 10_000, DefaultFalseAlarm) })
	t.Run("5%", func(t *testing.T) { honest(t, 10_000, 0.05) })
}
