package ingest

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Names that count up, and go on otherwise, against a map: also where they are joined
// from pieces, which begin anywhere.
func TestNamesThatCountUp(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		one, joined, want := newNames(), newNames(), map[string]int{}
		next, fresh := 0, true
		for range rapid.IntRange(1, 5).Draw(t, "pieces") {
			part, before, whole := newNames(), len(want), fresh
			if rapid.Bool().Draw(t, "anywhere") {
				next = rapid.IntRange(-100, 100).Draw(t, "next")
			}
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
				fresh = fresh && id >= before
				part.add(idOf(key))
			}
			if rapid.IntRange(0, 3).Draw(t, "looked for") == 0 {
				if _, known := joined.find(idOf("-1000")); known {
					t.Fatal("a name is found that was not joined")
				}
			}
			if whole && joined.join(part) != fresh {
				t.Fatalf("joined: %v; want %v", !fresh, fresh)
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
			for key, id := range want {
				if got, isNew := joined.add(idOf(key)); got != id || isNew {
					t.Fatalf("%s is joined as %d, %v; want %d", key, got, isNew, id)
				}
			}
		}
	})
}

// Ids of every kind, also where all of one kind come before others, against a map; and names
// of episodes that are those of persons for a while.
func TestNamesOfEveryKind(t *testing.T) {
	form := func(kind, i int) string {
		switch kind {
		case 0:
			return fmt.Sprint(i)
		case 1:
			return fmt.Sprint(int64(i) * 99_999_999_999)
		case 2:
			return fmt.Sprintf("%08x-0000-4000-8000-%012x", uint32(i)*2654435761, uint32(i))
		}
		return fmt.Sprint("0", i)
	}
	rapid.Check(t, func(t *rapid.T) {
		persons, episodes := newNames(), newNames()
		episodes.of = persons
		wantPersons, wantEpisodes := map[string]int{}, map[string]int{}
		number := func(want map[string]int, key string) (int, bool) {
			i, known := want[key]
			if !known {
				i = len(want)
				want[key] = i
			}
			return i, !known
		}
		kind := rapid.IntRange(0, 3).Draw(t, "kind")
		for i := range rapid.SampledFrom([]int{1, 9, 9, 9, 300, 9000}).Draw(t, "rows") {
			if rapid.IntRange(0, 30).Draw(t, "another kind") == 0 {
				kind = rapid.IntRange(0, 3).Draw(t, "kind")
			}
			switch rapid.IntRange(0, 40).Draw(t, "step") {
			case 0:
				i /= 2
			case 1:
				i = -i
			}
			person := form(kind, i)
			episode := person
			if rapid.IntRange(0, 200).Draw(t, "named otherwise") == 0 {
				episode = "e" + person
			}
			e, fresh := episodes.pair(idOf(episode), idOf(person))
			if want, isNew := number(wantEpisodes, episode); e != want || fresh != isNew {
				t.Fatalf("episode %s: %d, %v; want %d, %v", episode, e, fresh, want, isNew)
			}
			p, fresh := persons.add(idOf(person))
			if want, isNew := number(wantPersons, person); p != want || fresh != isNew {
				t.Fatalf("person %s: %d, %v; want %d, %v", person, p, fresh, want, isNew)
			}
		}
		for n, want := range map[*names]map[string]int{persons: wantPersons, episodes: wantEpisodes} {
			all := n.strings()
			if len(all) != len(want) || n.len() != len(want) {
				t.Fatalf("%d names, want %d", len(all), len(want))
			}
			for key, i := range want {
				got, ok := n.find(idOf(key))
				if as := n.id(i); !ok || got != i || all[i] != key || string(n.at(i)) != key || string(as.Append(nil)) != key || !n.is(i, idOf(key)) {
					t.Fatalf("%s: %d, %v, %q, %q; want %d", key, got, ok, all[i], n.at(i), i)
				}
			}
			if _, ok := n.find(idOf("nobody")); ok {
				t.Fatal("a name is found that was not added")
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
