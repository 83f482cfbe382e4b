//go:build slow

package xie19

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// A probe repeats, since what it says decides whether stored trials count, and
// settings hold no address.
func TestProbesRepeat(t *testing.T) {
	ctx := context.Background()
	for _, item := range Study().Items {
		text, err := json.Marshal(item.Settings)
		if err != nil || len(text) < 10 || strings.Contains(string(text), "0x") {
			t.Errorf("%s: settings %s, %v", item.Name, text, err)
		}
		if item.Probe == nil {
			continue
		}
		a, err := item.Probe(ctx)
		if err != nil {
			t.Fatalf("%s: %v", item.Name, err)
		}
		b, err := item.Probe(ctx)
		if err != nil || !slices.Equal(a, b) {
			t.Errorf("%s: a second probe differs (%v):\n%v\n%v", item.Name, err, a, b)
		}
	}
}
