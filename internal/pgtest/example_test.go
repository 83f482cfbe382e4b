package pgtest_test

import (
	"errors"
	"fmt"

	"github.com/discreet-rl/discreet/internal/pgtest"
)

func Example() {
	server, err := pgtest.Start(pgtest.Memory())
	if errors.Is(err, pgtest.ErrUnavailable) && !pgtest.Required() {
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
