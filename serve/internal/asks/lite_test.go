//go:build !slow

package asks_test

import (
	"path/filepath"
	"testing"
)

// locations are the stores that need nothing but a directory.
func locations(t *testing.T) map[string]string {
	return map[string]string{"sqlite": filepath.Join(t.TempDir(), "curator.db")}
}
