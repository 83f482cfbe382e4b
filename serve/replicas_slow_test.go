//go:build slow

package serve_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/internal/pgtest"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// held are the moments of an ask at which the replica that has it is killed. Each of them
// is a lock in the database that the replica waits for.
var held = []struct {
	what string
	lock string // beside that of the ledger, which is given up then; empty for that of the ledger
	ends curatorv1.State
}{
	{"before the check", "", curatorv1.State_STATE_RELEASED},
	{"between the charge and the release", "ledger_releases", curatorv1.State_STATE_PENDING},
	{"between the release and the end of the ask", "curator_audit", curatorv1.State_STATE_RELEASED},
}

// Two services share one PostgreSQL: asks, ledger and tokens. The one that has an ask is
// killed in the midst of it, at three moments, twice each. The other brings the ask to its
// end: it is charged once, and answered once or, where its charge had no release, never.
func TestAReplicaTakesOver(t *testing.T) {
	p, err := pgtest.Start(pgtest.Memory())
	if errors.Is(err, pgtest.ErrUnavailable) && !pgtest.Required() {
		t.Skipf("NOT TESTED ON POSTGRESQL: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	at, err := p.NewSchema()
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("pgx", at)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	t.Setenv(holdVariable, "3s")
	houses, processes := map[string]*house{}, map[string]*exec.Cmd{}
	start := func(name string) { processes[name] = houses[name].process() }
	for _, name := range []string{"replica-a", "replica-b"} {
		h := furnish(t, "asks_per_hour: 1000000")
		h.write("pbc.yaml", strings.Replace(h.read("pbc.yaml"), "path: budget.db", fmt.Sprintf("path: %q", at), 1))
		h.write("serve.yaml", strings.NewReplacer("store: curator.db", fmt.Sprintf("store: %q", at), "tokens: tokens", "tokens: store").Replace(h.read("serve.yaml")))
		houses[name] = h
		start(name)
		defer func() {
			_ = processes[name].Process.Kill()
			_ = processes[name].Wait()
		}()
	}
	kill := func(name string) {
		if err := processes[name].Process.Kill(); err != nil {
			t.Fatal(err)
		}
		_ = processes[name].Wait()
	}
	// A token that is made beside one replica is good at both within a second.
	token, err := houses["replica-a"].config().CreateToken("ann", "test", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	for name, h := range houses {
		h.tokens["ann"] = token
		h.until("the token is known at "+name, func() bool {
			_, err := h.client("ann").GetBudget(t.Context(), &curatorv1.GetBudgetRequest{Dataset: "pbc"})
			return err == nil
		})
	}
	kill("replica-b")
	charges, releases := int64(0), int64(0)
	for i := range 6 {
		moment := held[i%3]
		// The one takes the ask, while no charge can be made; then the other comes up.
		first, second := "replica-a", "replica-b"
		if i%2 == 1 {
			first, second = second, first
		}
		unlock := locked(t, db, `SELECT 1 FROM ledger_datasets FOR UPDATE`)
		id := houses[first].ask("ann", fmt.Sprintf("%s-%d", oneKey, i), wish(0.1))
		houses[first].until("a worker waits for the ledger", func() bool {
			return count(t, db, `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name = 'discreet-ledger'`) > 0
		})
		start(second)
		if moment.lock != "" {
			next := locked(t, db, `LOCK TABLE `+moment.lock+` IN EXCLUSIVE MODE`)
			unlock()
			unlock = next
			houses[first].until("a worker waits "+moment.what, func() bool {
				return count(t, db, `SELECT count(*) FROM pg_locks WHERE NOT granted AND relation = '`+moment.lock+`'::regclass`) > 0
			})
		}
		kill(first)
		unlock()
		alive := houses[second]
		a := alive.end("ann", id)
		if a.GetState() != moment.ends {
			t.Errorf("killed %s: it ended as %v", moment.what, a)
		}
		charges++
		if moment.ends == curatorv1.State_STATE_RELEASED {
			releases++
			v, err := alive.client("ann").VerifyRelease(t.Context(), &curatorv1.VerifyReleaseRequest{Id: id})
			if err != nil || !v.GetHolds() {
				t.Errorf("killed %s: %v, %v", moment.what, v, err)
			}
		}
		if again := alive.ask("ann", fmt.Sprintf("%s-%d", oneKey, i), wish(0.1)); again != id {
			t.Errorf("asked again at the other replica it is ask %s; want %s", again, id)
		}
		l, err := ledger.Open(t.Context(), at, "pbc")
		if err != nil {
			t.Fatal(err)
		}
		s, err := l.State(t.Context())
		if err := errors.Join(err, l.Verify(t.Context()), l.Close()); err != nil {
			t.Fatal(err)
		}
		if s.Charges != charges || s.PendingCount != charges-releases {
			t.Errorf("killed %s: %d charges, %d without a release; want %d and %d", moment.what, s.Charges, s.PendingCount, charges, charges-releases)
		}
	}
}

// until asks again and again, for a minute.
func (h *house) until(what string, holds func() bool) {
	h.t.Helper()
	ctx, cancel := context.WithTimeout(h.t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			h.t.Fatalf("waited a minute until %s", what)
		case <-tick.C:
		}
	}
}

// locked takes a lock, and returns what gives it up.
func locked(t *testing.T, db *sql.DB, statement string) func() {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), nil)
	if err == nil {
		_, err = tx.ExecContext(t.Context(), statement)
	}
	if err != nil {
		t.Fatal(err)
	}
	return func() {
		if err := tx.Rollback(); err != nil {
			t.Error(err)
		}
	}
}

func count(t *testing.T, db *sql.DB, query string) (n int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}
