//go:build slow

package alerttest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/service/alerttest"
)

// A rule fires when its condition has held for its time, by the clock of the test, and ends with it.
func TestARuleFiresInItsTime(t *testing.T) {
	file := filepath.Join(t.TempDir(), "rules.yaml")
	if err := os.WriteFile(file, []byte(rule), 0o600); err != nil {
		t.Fatal(err)
	}
	m, guests := alerttest.Start(t, file), 3
	target := serve(t, &guests)
	for i, c := range []struct {
		guests int
		fires  bool
	}{{3, false}, {4, false}, {4, false}, {4, true}, {4, true}, {3, false}, {4, false}} {
		guests = c.guests
		if got := m.Steps(1, 30*time.Second, target); slices.Contains(got, "ShopIsFull") != c.fires {
			t.Errorf("step %d: %v; want it to fire: %v", i, got, c.fires)
		}
	}
}

func serve(t *testing.T, guests *int) alerttest.Target {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "shop_guests{room=\"blue\"} %d\n", *guests)
	}))
	t.Cleanup(s.Close)
	return alerttest.Target{Job: "shop", URL: s.URL, Client: s.Client()}
}
