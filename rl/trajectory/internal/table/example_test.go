package table_test

import (
	"context"
	"fmt"
	"io"

	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/ingest"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// coins is a log that lies in no file: three tosses, one episode each.
type coins struct {
	rewards []float64
	picks   []table.Pick
	next    int
}

func (c *coins) Fields() []table.Field           { return []table.Field{{Name: "episode_id"}, {Name: "reward"}} }
func (c *coins) Width(int) (int, error)          { return 1, nil }
func (c *coins) Select(picks []table.Pick) error { c.picks = picks; return nil }
func (c *coins) Progress() int64                 { return int64(c.next) }
func (c *coins) Close() error                    { return nil }

func (c *coins) Read(b *table.Batch) error {
	if c.next == len(c.rewards) {
		return io.EOF
	}
	for ; b.Rows < b.Cap && c.next < len(c.rewards); b.Rows++ {
		for _, p := range c.picks {
			if p.Kind == table.Key {
				b.Keys[p.Block].Append(fmt.Append(nil, "toss-", c.next), 1)
			} else {
				block := &b.Blocks[p.Block]
				block.Values[b.Rows*block.Width+p.Offset] = c.rewards[c.next]
			}
		}
		c.next++
		b.Row[b.Rows] = c.next
	}
	return nil
}

// A format is a function that opens a Table; reading finds the episodes in it.
func Example() {
	format := table.Format{Name: "coins", Open: func(context.Context, string) (table.Table, error) {
		return &coins{rewards: []float64{1, 0, 1}}, nil
	}}
	d, _, err := ingest.Read(context.Background(), format, []string{"tosses"}, trajectory.Options{End: trajectory.EndTerminated})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(d.Episodes(), "episodes,", d.Reward, d.EpisodeID)
	// Output: 3 episodes, [1 0 1] [toss-0 toss-1 toss-2]
}
