package device_test

import (
	"testing"

	"github.com/discreet-rl/discreet/fleet/device"
	"github.com/discreet-rl/discreet/train"
)

var signs = train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}

// tolerate is what Run may return in the end.
func tolerate(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func spent(t *testing.T, a *device.Agent) float64 {
	t.Helper()
	b, err := a.Spent(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b.Epsilon
}
