package aggregator_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/internal/service"
)

// Environment variables that make the test's program a server: where it listens, its
// store and its keys.
const (
	listenVariable = "DISCREET_TEST_FLEET_LISTEN"
	storeVariable  = "DISCREET_TEST_FLEET_STORE"
	keysVariable   = "DISCREET_TEST_FLEET_KEYS"
	plainVariable  = "DISCREET_TEST_FLEET_PLAIN" // limits are those by default
)

func TestMain(m *testing.M) {
	if os.Getenv(listenVariable) == "" {
		os.Exit(m.Run())
	}
	if err := serveAlone(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serveAlone is a server that others kill.
func serveAlone() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	keys, err := aggregator.OpenKeys(os.Getenv(keysVariable))
	if err != nil {
		return err
	}
	c := aggregator.Config{
		Listen: os.Getenv(listenVariable), Store: os.Getenv(storeVariable), Keys: keys, Tick: 20 * time.Millisecond, Grace: time.Millisecond,
		PerDevice: service.Rate{Every: time.Microsecond, Burst: 1000}, PerAddress: service.Rate{Every: time.Microsecond, Burst: 1000}, Metrics: service.NewMetrics("fleet"), Limits: service.Limits{IdleTime: time.Minute, AddressConnections: 1 << 14},
		Log: service.NewLog(os.Stderr, slog.LevelInfo, aggregator.LogKeys()),
	}
	if os.Getenv(plainVariable) != "" {
		c = aggregator.Config{Listen: c.Listen, Store: c.Store, Keys: keys, Metrics: service.NewMetrics("fleet").WithProcess(), Log: c.Log}
	}
	a, err := aggregator.New(ctx, c)
	if err != nil {
		return err
	}
	return a.Run(ctx)
}
