package movedfile_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/discreet-rl/discreet/internal/source"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/csvfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/movedfile"
	"github.com/discreet-rl/discreet/rl/trajectory/internal/table"
)

// Example moves the second row of a file.
func Example() {
	from, err := csvfile.New(strings.NewReader("who,reward\nann,1\nbob,0.5\n"), "a.csv")
	if err != nil {
		log.Fatal(err)
	}
	picks := []table.Pick{{Field: 0, Kind: table.Key}, {Field: 1}}
	if err := from.Select(picks); err != nil {
		log.Fatal(err)
	}
	head, err := movedfile.NewHead(from, picks)
	if err != nil {
		log.Fatal(err)
	}
	b := table.NewBatch([]int{1}, 1)
	b.Reset()
	if err := from.Read(b); err != nil {
		log.Fatal(err)
	}
	rows := movedfile.NewRows(head)
	rows.Add(b, 1, 2)
	text, err := rows.Take()
	if err != nil {
		log.Fatal(err)
	}
	const name = source.MemoryScheme + "b"
	to, err := movedfile.Format().Open(source.With(context.Background(), source.Memory{name: text}), name)
	if err != nil {
		log.Fatal(err)
	}
	if err := to.Select(picks); err != nil {
		log.Fatal(err)
	}
	b.Reset()
	if err := to.Read(b); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d row: line %d, %s, %v\n", b.Rows, b.Row[0], b.Keys[0].At(0), b.Blocks[0].Values[0])
	// Output:
	// 1 row: line 3, bob, 0.5
}
