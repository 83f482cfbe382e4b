package ono20_test

import (
	"context"
	"fmt"
	"os"

	"github.com/discreet-rl/discreet/internal/papers/figure"
	"github.com/discreet-rl/discreet/internal/papers/ono20"
)

// The items; without jobs to run, because the context has ended, nothing is written but
// the directory can be continued.
func Example() {
	study := ono20.Study()
	for _, item := range study.Items {
		fmt.Println(item.Name)
	}
	dir, err := os.MkdirTemp("", "ono20")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = figure.Run(ctx, study, figure.Options{Dir: dir, Items: []string{"poisoning"}, Quick: true})
	fmt.Println(err)
	// Output:
	// behaviour
	// efficiency
	// recipe
	// poisoning
	// context canceled
}
