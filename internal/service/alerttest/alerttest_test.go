package alerttest_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/discreet-rl/discreet/internal/service/alerttest"
)

const rule = `
groups:
  - name: shop
    rules:
      - alert: ShopIsFull
        expr: shop_guests{room="blue"} > 3
        for: 1m
        annotations: {summary: Too many., runbook: Open another room.}
`

func Example() {
	t := &testing.T{}
	dir, err := os.MkdirTemp("", "rules")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "rules.yaml")
	if err := os.WriteFile(file, []byte(rule), 0o600); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(alerttest.Names(t, file, "shop_guests{room=\"blue\"} 2\n", "shop"), t.Failed())
	alerttest.Names(t, file, "shop_guests{room=\"red\"} 2\n", "shop")
	fmt.Println(t.Failed())
	// Output:
	// [ShopIsFull] false
	// true
}
