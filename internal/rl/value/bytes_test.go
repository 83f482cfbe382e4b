package value_test

import (
	"runtime"
	"testing"

	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// TestBytesAreThoseOfMemory, but for a fifth, of a part as large as readers make.
func TestBytesAreThoseOfMemory(t *testing.T) {
	d, err := chain.Simulate(chain.Options{Episodes: 5000, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	rho := make([]float64, d.Rows())
	for i := range rho {
		rho[i] = float64(i)
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	parts := make([]*value.Part, 20)
	for i := range parts {
		parts[i] = value.Pack(d, [][]float64{rho})
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	said := float64(len(parts)) * float64(parts[0].Bytes())
	if got := float64(after.HeapAlloc) - float64(before.HeapAlloc); said < .8*got || said > 1.2*got {
		t.Errorf("%.0f bytes are said, and %.0f held", said, got)
	}
	runtime.KeepAlive(parts)
	runtime.KeepAlive(d)
}
