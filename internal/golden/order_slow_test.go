//go:build slow

package golden

import "testing"

func TestAllReleasesDoNotDependOnTheOrderOfRows(t *testing.T) {
	sameInAnyOrder(t, append(private(), references()...))
}
