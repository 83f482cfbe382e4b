//go:build slow

package serve_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/internal/pgtest"
	"github.com/discreet-rl/discreet/serve"
	"github.com/discreet-rl/discreet/serve/curatorv1"
)

const backupVariable = "DISCREET_TEST_BACKUP"

// TestBackUpUntilKilled is the process that backs up; as a test of its own it has nothing to do.
func TestBackUpUntilKilled(t *testing.T) {
	config, dir, ok := strings.Cut(os.Getenv(backupVariable), "\n")
	if !ok {
		return
	}
	c, err := serve.Load(config)
	if err == nil {
		err = c.Backup(context.Background(), dir)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// A service in a process of its own is backed up again and again while clients ask; backups are
// killed at random moments, and so is the service. What has the name of a backup is whole, and
// restores to a service of which each answer is paid for.
func TestBackupsUnderLoad(t *testing.T) {
	h := furnish(t, "asks_per_hour: 1000000")
	h.write("serve.yaml", strings.Replace(h.read("serve.yaml"), "budget: {epsilon: 3, delta: 1e-5}", "budget: {epsilon: 50, delta: 1e-5}", 1))
	c := h.config()
	for _, person := range []string{"ann", "stella"} {
		token, err := c.CreateToken(person, "test", time.Hour)
		if err != nil {
			t.Fatal(err)
		}
		h.tokens[person] = token
	}
	p := h.process()
	stop := make(chan struct{})
	var clients sync.WaitGroup
	client := h.client("ann")
	clients.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			_, _ = client.Ask(context.Background(), &curatorv1.AskRequest{Dataset: "pbc", Question: wish(0.01), Key: fmt.Sprintf("%s-%d", oneKey, i)})
		}
	})
	at := t.TempDir()
	whole, killed := 0, 0
	for i := range 40 {
		dir := filepath.Join(at, fmt.Sprint(i))
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBackUpUntilKilled$")
		cmd.Env = append(os.Environ(), backupVariable+"="+h.dir+"/serve.yaml\n"+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 {
			time.AfterFunc(time.Duration(rand.IntN(150))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		}
		if i == 30 {
			_ = p.Process.Kill()
			_ = p.Wait()
		}
		if err := cmd.Wait(); err != nil {
			killed++
			if i%2 == 0 {
				t.Errorf("backup %d: %v", i, err)
			}
		}
		if _, err := os.Stat(dir); err != nil {
			continue
		}
		whole++
		h.restored(dir)
	}
	close(stop)
	clients.Wait()
	t.Logf("%d backups are whole, %d were killed", whole, killed)
	if whole < 20 {
		t.Errorf("%d backups", whole)
	}
}

// On PostgreSQL a service is backed up while it runs, and restored into empty databases; an
// older store, ledger or both in place of the newest start nothing, or are taken over.
func TestAServiceOnPostgresIsRestored(t *testing.T) {
	p, err := pgtest.Start(pgtest.Memory())
	if errors.Is(err, pgtest.ErrUnavailable) && !pgtest.Required() {
		t.Skipf("NOT TESTED ON POSTGRESQL: %v", err)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer p.Stop()
	schema := func() string {
		at, err := p.NewSchema()
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	h := furnish(t, "")
	store, budget := schema(), schema()
	at := func(store, budget string) {
		h.write("pbc.yaml", fmt.Sprintf(part, readAbs(t, trial), 312))
		h.write("serve.yaml", fmt.Sprintf(configuration, "witness: heads.ndjson"))
		h.write("pbc.yaml", strings.Replace(h.read("pbc.yaml"), "path: budget.db", fmt.Sprintf("path: %q", budget), 1))
		h.write("serve.yaml", strings.NewReplacer("store: curator.db", fmt.Sprintf("store: %q", store), "tokens: tokens", "tokens: store").Replace(h.read("serve.yaml")))
	}
	at(store, budget)
	h.open()
	h.answered(0, 2)
	older := filepath.Join(t.TempDir(), "older")
	if err := h.config().Backup(t.Context(), older); err != nil {
		t.Fatal(err)
	}
	h.answered(2, 4)
	newest := filepath.Join(t.TempDir(), "newest")
	if err := h.config().Backup(t.Context(), newest); err != nil {
		t.Fatal(err)
	}
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	refuses := func(what string) {
		t.Helper()
		if s, err := serve.Open(t.Context(), h.config()); err == nil {
			t.Errorf("%s: it starts: %v", what, s.Close())
		}
	}
	restore := func(what, dir string, lostNothing, works bool) {
		t.Helper()
		if done, err := h.config().Restore(t.Context(), dir, "a test", lostNothing); (err == nil) != works {
			t.Fatalf("%s: %q, %v", what, done, err)
		}
	}
	// An empty store, or an older one, lacks the asks of charges; what is lost is taken over.
	at(schema(), budget)
	refuses("a new store")
	restore("an older store", older, false, true)
	h.open()
	h.answered(2, 4) // the same keys have the same releases
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	// The newest ledger is the one that was lost, by witness and store.
	at(store, schema())
	restore("the newest ledger", newest, true, true)
	h.open()
	h.answered(3, 5)
	if err := h.stop(); err != nil {
		t.Fatal(err)
	}
	// An older ledger is refused, whatever is said of it, unless it has nothing left.
	at(store, schema())
	refuses("a new ledger")
	restore("an older ledger, of which nothing was lost", older, true, false)
	restore("an older ledger", older, false, true)
}

func readAbs(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}
