//go:build slow

package account_test

import (
	"testing"

	"pgregory.net/rapid"
)

// TestExtremeParametersNeverGiveAWrongAnswerSlow draws 800 questions, 8 times
// as many as the default test.
func TestExtremeParametersNeverGiveAWrongAnswerSlow(t *testing.T) {
	for range 8 {
		rapid.Check(t, func(t *rapid.T) {
			q := anyQuestion(t)
			if fault := q.fault(); fault != "" {
				t.Fatalf("%v: %s", q, fault)
			}
		})
	}
}
