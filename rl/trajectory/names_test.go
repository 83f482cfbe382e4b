package trajectory

import (
	"fmt"
	"testing"
)

// The table of names against a map.
func TestNamesAreNumberedOnce(t *testing.T) {
	n, want := newNames(), map[string]int{}
	unnamed := 0
	for i := range 20_000 {
		if i%7 == 0 {
			if got := n.addUnnamed(); got != len(want)+unnamed {
				t.Fatalf("unnamed: %d", got)
			}
			unnamed++
		}
		key := fmt.Sprint("k", i*i%9973)
		got, fresh := n.add([]byte(key))
		id, seen := want[key]
		if !seen {
			id = len(want) + unnamed
			want[key] = id
		}
		if got != id || fresh == seen {
			t.Fatalf("%s: %d, %v; want %d, %v", key, got, fresh, id, !seen)
		}
	}
	all := n.strings()
	if len(all) != len(want)+unnamed || n.len() != len(all) {
		t.Fatalf("%d names, want %d", len(all), len(want)+unnamed)
	}
	for key, id := range want {
		if all[id] != key || string(n.at(id)) != key {
			t.Fatalf("name %d is %q, want %q", id, all[id], key)
		}
	}
}
