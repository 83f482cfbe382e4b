package ingest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Names that count up, and go on otherwise, against a map: also where they are joined
// from pieces.
func TestNamesThatCountUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, joined, want := newNames(), newNames(), map[string]int{}
		next, fresh := 0, true
		for range rapid.IntRange(1, 5).Draw(t, "pieces") {
			part := newNames()
			for range rapid.IntRange(0, 8).Draw(t, "names") {
				next += rapid.SampledFrom([]int{1, 1, 1, 7, 90, 0, -3}).Draw(t, "step")
				key := fmt.Sprint(next)
				got, isNew := one.add(idOf(key))
				id, seen := want[key]
				if !seen {
					id = len(want)
					want[key] = id
				}
				if got != id || isNew == seen {
					t.Fatalf("%s: %d, %v; want %d, %v", key, got, isNew, id, !seen)
				}
				if _, known := joined.find(idOf(key)); known {
					fresh = false
				}
				part.add(idOf(key))
			}
			if got := fresh && joined.join(part); got != fresh {
				t.Fatalf("joined: %v; want %v", got, fresh)
			}
		}
		for key, id := range want {
			if got, ok := one.find(idOf(key)); !ok || got != id {
				t.Fatalf("%s is %d, %v; want %d", key, got, ok, id)
			}
		}
		if _, ok := one.find(idOf("-1000")); ok {
			t.Fatal("a name is found that was not added")
		}
		if fresh {
			if diff := cmp.Diff(one.strings(), joined.strings()); diff != "" {
				t.Fatal(diff)
			}
		}
	})
}

// The table of names against a map.
func TestNamesAreNumberedOnce(t *testing.T) {
	n, want := newNames(), map[string]int{}
	for i := range 20_000 {
		key := fmt.Sprint("k", i*i%9973)
		got, fresh := n.add(idOf(key))
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

func idOf(text string) *table.ID {
	id := table.IDOf([]byte(text))
	return &id
}
