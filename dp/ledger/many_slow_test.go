//go:build slow

package ledger_test

import "testing"

func TestRemainingBudgetAfter3000Charges(t *testing.T) {
	onEach(t, func(t *testing.T, location string) { manyCharges(t, location, 3000) })
}
