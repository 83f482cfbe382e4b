package aggregator_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/internal/service"
)

func Example() {
	dir, err := os.MkdirTemp("", "fleet")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := aggregator.CreateKeys(filepath.Join(dir, "keys"), []string{"127.0.0.1"}, time.Now()); err != nil {
		panic(err)
	}
	keys, err := aggregator.OpenKeys(filepath.Join(dir, "keys"))
	if err != nil {
		panic(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	a, err := aggregator.New(ctx, aggregator.Config{
		Listen: "127.0.0.1:0", Store: filepath.Join(dir, "fleet.db"), Keys: keys,
		Metrics: service.NewMetrics("fleet"), Log: service.NewLog(os.Stderr, slog.LevelWarn, aggregator.LogKeys()),
	})
	if err != nil {
		panic(err)
	}
	cancel() // until then it would serve
	fmt.Println(a.Run(ctx))
	// Output: <nil>
}

func ExampleNewSuccess() {
	// 140 of 200 devices said yes at epsilon 1, in the first of 10 announced looks.
	s := aggregator.NewSuccess(140, 200, 1, 10)
	fmt.Printf("%.2f, in [%.2f, %.2f]\n", s.Share, s.Low, s.High)
	// Output: 0.93, in [0.72, 1.00]
}
