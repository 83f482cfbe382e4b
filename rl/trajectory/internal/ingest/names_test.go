package ingest

import (
	"fmt"
	"testing"
)

// The table of names against a map.
func TestNamesAreNumberedOnce(t *testing.T) {
	n, want := newNames(), map[string]int{}
	for i := range 20_000 {
		key := fmt.Sprint("k", i*i%9973)
		got, fresh := n.add([]byte(key))
		id, seen := want[key]
		if !seen {
			id = len(want)
			want[key] = id
		}
		if got != id || fresh == seen {
			t.Fatalf("%s: %d, %v; want %d, %v", key, got, fresh, id, !seen)
		}
	}
	all := n.strings()
	if len(all) != len(want) || n.len() != len(all) {
		t.Fatalf("%d names, want %d", len(all), len(want))
	}
	for key, id := range want {
		if all[id] != key || string(n.at(id)) != key {
			t.Fatalf("name %d is %q, want %q", id, all[id], key)
		}
	}
}
