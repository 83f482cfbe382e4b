//go:build slow && measure

package audit

import "testing"

// TestTenThousandHonestRuns: at the default rate no alarm is to be expected, and one of
// 10,000 would have a probability of 1%.
func TestTenThousandHonestRuns(t *testing.T) { honest(t, 10_000, DefaultFalseAlarm) }
