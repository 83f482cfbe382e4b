//go:build slow

package ledger_test

import "testing"

func TestExactlyWhatFitsIsGrantedTo64Processes(t *testing.T) {
	onEach(t, func(t *testing.T, location string) { race(t, location, 64, 500) })
}
