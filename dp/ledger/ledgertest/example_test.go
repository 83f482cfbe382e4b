package ledgertest_test

import (
	"errors"
	"fmt"

	"github.com/discreet-rl/discreet/dp/ledger/ledgertest"
)

func Example() {
	server, err := ledgertest.Start(ledgertest.Memory())
	if errors.Is(err, ledgertest.ErrUnavailable) && !ledgertest.Required() {
		fmt.Println("ready") // a test would skip here, and say so
		return
	} else if err != nil {
		panic(err)
	}
	defer server.Stop()
	if _, err := server.NewSchema(); err != nil { // a postgres:// URL for ledger.Create
		panic(err)
	}
	fmt.Println("ready")
	// Output: ready
}
