// Package oracle reads the reference values that tests hold the project against:
// JSON files under testdata, made by independent code. The README beside each
// says by which.
//
// Start with [Load].
package oracle

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
)

// Load reads one JSON value and fails the test where it cannot, or where
// anything follows the value.
func Load[T any](t testing.TB, path string) T {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var v T
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	if d.More() {
		t.Fatalf("%s: more than one value", path)
	}
	return v
}
