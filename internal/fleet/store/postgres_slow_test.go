//go:build slow

package store_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/internal/pgtest"
)

var server *pgtest.Postgres

// again is a fresh place of the same kind.
func again(t testing.TB, p place) place {
	if strings.HasPrefix(p.location, "postgres:") {
		return inPostgres(t)
	}
	return lite(t)
}

func inPostgres(t testing.TB) place {
	url, err := server.NewSchema()
	if err != nil {
		t.Fatal(err)
	}
	return place{location: url}
}

// start runs the server until the test ends.
func start(t *testing.T) {
	t.Helper()
	var err error
	server, err = pgtest.Start(pgtest.Memory())
	if errors.Is(err, pgtest.ErrUnavailable) && !pgtest.Required() {
		t.Skipf("NOT TESTED ON POSTGRESQL: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Stop)
}

func TestOnPostgres(t *testing.T) {
	start(t)
	eachTest(t, inPostgres)
}
