package ledger

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
)

// TestRoundsAreVerified: a chain, with all its hashes right, whose rounds are of no charge,
// not in order, or after the release is refused.
func TestRoundsAreVerified(t *testing.T) {
	l, err := Create(t.Context(), filepath.Join(t.TempDir(), "budget.db"), Config{Dataset: "trial", Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	event := dp.Gaussian{NoiseMultiplier: 100}
	g, err := l.Charge(t.Context(), Charge{Key: "k", Analyst: "ann", Event: event, Adjacency: dp.ReplaceOne})
	if err != nil {
		t.Fatal(err)
	}
	rounds, err := l.Rounds(t.Context(), g.Receipt)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 2; n++ {
		if err := rounds.Add(t.Context(), n, chain.Hash{byte(n)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Receipt.Redeem(dp.ReplaceOne, event); err != nil {
		t.Fatal(err)
	}
	if err := l.Record(t.Context(), g.Receipt, []byte("{}")); err != nil {
		t.Fatal(err)
	}
	// Entries 0 to 4: open, charge, two rounds, record.
	for name, change := range map[string]func(all []*chain.Entry) []*chain.Entry{
		"as it is":          func(all []*chain.Entry) []*chain.Entry { return all },
		"of no charge":      func(all []*chain.Entry) []*chain.Entry { all[2].Round.Charge = 0; return all },
		"one left out":      func(all []*chain.Entry) []*chain.Entry { return append(all[:2], all[3:]...) },
		"one twice":         func(all []*chain.Entry) []*chain.Entry { all[3].Round.Number = 1; return all },
		"after the release": func(all []*chain.Entry) []*chain.Entry { all[3], all[4] = all[4], all[3]; return all },
	} {
		var all []*chain.Entry
		for n, err := range l.entries(t.Context(), 0) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, n.Entry)
		}
		r := newReplay("trial", l.key)
		var prev chain.Hash
		var failed error
		for seq, e := range change(all) {
			e.Seq, e.Prev = int64(seq), prev
			body, err := e.Encode()
			if err != nil {
				t.Fatal(err)
			}
			prev = chain.Sum(body)
			if failed = r.apply(e.Seq, prev[:], body); failed != nil {
				break
			}
		}
		if want := name != "as it is"; errors.Is(failed, ErrTampered) != want || !want && failed != nil {
			t.Errorf("%s: %v", name, failed)
		}
	}
}
