//go:build slow && measure

package discreet_test

import (
	"os"
	"testing"
)

// TestOpenBanditLog holds the references on the real log, which is not part of the
// repository: OPEN_BANDIT_MEN names the file bts/men/men.csv.
// The values were published with the log's evaluation code and recomputed.
func TestOpenBanditLog(t *testing.T) {
	path := os.Getenv("OPEN_BANDIT_MEN")
	if path == "" {
		t.Fatal("OPEN_BANDIT_MEN does not name the log")
	}
	checkBandit(t, path, 10000, 0.00300863, 0.00318942, 0.00324866)
}
