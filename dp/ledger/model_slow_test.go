//go:build slow

package ledger_test

import "testing"

func TestManyRandomHistoriesFollowTheModel(t *testing.T) { randomHistories(t, "120") }
