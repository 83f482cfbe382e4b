//go:build !slow

package store_test

import "testing"

// again is a fresh place of the same kind.
func again(t testing.TB, _ place) place { return lite(t) }
