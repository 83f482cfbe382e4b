//go:build slow

package account_test

import (
	"testing"

	"pgregory.net/rapid"
)

// TestExtremeParametersNeverGiveAWrongAnswerSlow draws 2,000 questions, 20 times
// as many as the default test.
func TestExtremeParametersNeverGiveAWrongAnswerSlow(t *testing.T) {
	for range 20 {
		rapid.Check(t, func(t *rapid.T) {
			q := anyQuestion(t)
			if fault := q.fault(); fault != "" {
				t.Fatalf("%v: %s", q, fault)
			}
		})
	}
}
