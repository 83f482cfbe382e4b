package ledger_test

import (
	"fmt"
	"testing"
)

// The charge of a key is the entry that the chain has of it, and a key that was never
// charged has none, whoever else's dataset it was charged to.
func TestTheChargeOfAKeyIsThatOfTheChain(t *testing.T) {
	onEach(t, func(t *testing.T, location string) {
		l := create(t, location, plain(someBudget))
		other := plain(someBudget)
		other.Dataset = "another"
		m := create(t, location, other)
		for i := range 5 {
			for _, at := range []struct {
				key string
				of  int
			}{{fmt.Sprintf("both %d", i), 2}, {fmt.Sprintf("one %d", i), 1}} {
				asked := ask(little)
				asked.Key = at.key
				if _, err := l.Charge(t.Context(), asked); err != nil {
					t.Fatal(err)
				}
				if at.of < 2 {
					continue
				}
				if _, err := m.Charge(t.Context(), asked); err != nil {
					t.Fatal(err)
				}
			}
		}
		for n, err := range l.Entries(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if n.Charge == nil {
				continue
			}
			got, err := l.ChargeOf(t.Context(), n.Charge.Key)
			if err != nil || got == nil || got.Seq != n.Seq || got.Hash != n.Hash || string(got.Line) != string(n.Line) {
				t.Errorf("key %q: %v, %v; want entry %d", n.Charge.Key, got, err, n.Seq)
			}
		}
		for _, key := range []string{"", "both", "one 3"} {
			if got, err := m.ChargeOf(t.Context(), key); got != nil || err != nil {
				t.Errorf("key %q of the other dataset: %v, %v; want none", key, got, err)
			}
		}
	})
}
