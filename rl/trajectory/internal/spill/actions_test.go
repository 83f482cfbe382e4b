package spill

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Actions of every size come back.
func TestActionsComeBack(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	for range 5000 {
		acts, kinds := make([]int32, r.IntN(40)), 1+r.IntN(20)
		for i := range acts {
			acts[i] = int32(r.IntN(kinds)) << (8 * r.IntN(1+kinds%4))
		}
		s := &table.Record{Left: actions(nil, acts)}
		if got := readActions(s, nil, len(acts)); s.Short || len(s.Left) > 0 || !slices.Equal(acts, got) {
			t.Fatalf("%v come back as %v", acts, got)
		}
	}
}
