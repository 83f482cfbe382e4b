//go:build slow

package ledger_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp"
)

// kills is a multiple of 100. Few are a quick look; .ci/long kills makes 1000.
var kills = flag.Int("kills", 100, "processes to kill on each kind of store")

// Processes on each store are killed while they charge, run, record and
// show, four at a time on one ledger; its budget runs out in half of the batches.
func TestKilledAtRandomMoments(t *testing.T) {
	const batch, together = 50, 4
	runs := *kills
	for _, s := range stores {
		t.Run(s.name, func(t *testing.T) {
			total := newObserved()
			rng := rand.New(rand.NewPCG(1, 2))
			charges, pending, drawn, shown := 0, 0, 0, 0
			for b := 0; b < runs/batch; b++ {
				location := s.make(t)
				l := create(t, location, plain(someBudget))
				if err := l.AddWitness(context.Background(), filepath.Join(t.TempDir(), "head")); err != nil {
					t.Fatal(err) // settle verifies, and so asks it
				}
				k := 1000
				if b%2 == 1 {
					k = 60
				}
				noise := noiseFor(t, someBudget, k)
				o := newObserved()
				var mu sync.Mutex
				for done := 0; done < batch; done += together {
					n := min(together, batch-done)
					var all sync.WaitGroup
					for range n {
						delay := time.Duration(rng.Int64N(int64(40 * time.Millisecond)))
						all.Go(func() {
							p := launch(t, "evaluate", location, noise)
							p.start()
							time.Sleep(delay)
							p.cmd.Process.Kill()
							lines := p.rest()
							mu.Lock()
							defer mu.Unlock()
							o.hear(t, lines)
						})
					}
					all.Wait()
				}
				c, p := o.settle(t, l, dp.Gaussian{NoiseMultiplier: noise})
				if c > k {
					t.Errorf("%d charges on a budget for %d", c, k)
				}
				charges, pending, drawn, shown = charges+c, pending+p, drawn+len(o.drawn), shown+len(o.shown)
				for step, n := range o.at {
					total.at[step] += n
				}
				l.Close()
			}
			t.Logf("%d runs killed; charges %d, pending %d, noise drawn %d, releases shown %d", runs, charges, pending, drawn, shown)
			t.Logf("last step reported before the kill: %v", fmt.Sprint(total.at))
			if runs < 1000 {
				return // too few to be sure to meet every step
			}
			if pending == 0 || shown == 0 || total.at["asked"] == 0 || total.at["drawn"] == 0 {
				t.Error("the kills did not meet the steps that they are about")
			}
		})
	}
}
