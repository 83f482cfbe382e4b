//go:build slow && linux

package aggregator_test

import (
	"context"
	"database/sql"
	"errors"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet/store"
	"github.com/discreet-rl/discreet/internal/pgtest"
	"github.com/discreet-rl/discreet/train"
)

const backupVariable = "DISCREET_TEST_FLEET_BACKUP"

// TestBackUpUntilKilled is the process that backs up; as a test of its own it has nothing to do.
func TestBackUpUntilKilled(t *testing.T) {
	location, dir, ok := strings.Cut(os.Getenv(backupVariable), "\n")
	if !ok {
		return
	}
	if _, err := store.Backup(context.Background(), location, dir); err != nil {
		t.Fatal(err)
	}
}

// TestBackupsUnderLoad: while devices take part, a server is backed up again and again; half of the backups are killed, and so is the server.
// What has the name of a backup is whole: it is restored, its rounds, weights and permits agree with each other, it gives no permits of what
// was lost, and a server runs on it.
func TestBackupsUnderLoad(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		w := newWorld(t)
		backupsUnderLoad(t, w, filepath.Join(w.dir, "fleet.db"), func() string { return filepath.Join(t.TempDir(), "fleet.db") }, "sqlite")
	})
	t.Run("postgres", func(t *testing.T) {
		p, err := pgtest.Start(pgtest.Memory())
		if errors.Is(err, pgtest.ErrUnavailable) && !pgtest.Required() {
			t.Skipf("NOT TESTED ON POSTGRESQL: %v", err)
		} else if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Stop)
		fresh := func() string {
			url, err := p.NewSchema()
			if err != nil {
				t.Fatal(err)
			}
			return url
		}
		backupsUnderLoad(t, newWorld(t), fresh(), fresh, "pgx")
	})
}

func backupsUnderLoad(t *testing.T, w *world, location string, fresh func() string, driver string) {
	const dim, n = 3, 4
	p := &process{t: t, w: w, listen: address(t), store: location}
	p.start()
	t.Cleanup(p.kill)
	w.url = "https://" + p.listen
	if _, err := askAny(t, w, []string{w.url}, func(c fleetv1.OperatorServiceClient) (*fleetv1.CreateCodesResponse, error) {
		return c.CreateCodes(t.Context(), &fleetv1.CreateCodesRequest{Count: 1, ValidFor: 1000})
	}); err != nil {
		t.Fatal(err)
	}
	spec := w.spec(dim, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1})
	spec.ReportsPerDevice = 1 << 20
	w.create(t, spec, `{"rounds":1000000,"train_seconds":0.001,"upload_seconds":86400,"sample_rate":1,"min_reports":4,"max_reports":4}`, 0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var wg sync.WaitGroup
	for i, d := range w.enrol(t, n) {
		d.noise = noise.NewSeeded(uint64(i))
		a := &agent{device: d, urls: []string{w.url}, clients: []*http.Client{w.client(t, &d.pair)}, rng: rand.New(rand.NewPCG(uint64(i), 9)), accepted: map[uint64][]byte{}}
		wg.Go(func() { a.takePart(ctx, t) })
	}
	whole, killed, rounds := 0, 0, int64(0)
	for i := range 20 {
		dir := filepath.Join(t.TempDir(), "backup")
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestBackUpUntilKilled$")
		cmd.Env = append(os.Environ(), backupVariable+"="+location+"\n"+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if i%2 == 1 {
			time.AfterFunc(time.Duration(rand.IntN(60))*time.Millisecond, func() { _ = cmd.Process.Kill() })
		}
		if i == 12 {
			p.kill()
			p.start()
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
		rounds = max(rounds, restored(t, w, dir, fresh(), driver))
	}
	cancel()
	wg.Wait()
	t.Logf("%d backups are whole, %d were killed; the last is of round %d", whole, killed, rounds)
	if whole < 10 || killed == 0 || rounds < 3 {
		t.Errorf("%d backups are whole, %d were killed, the last is of round %d: the test tests nothing", whole, killed, rounds)
	}
}

// restored restores a backup, looks whether it agrees with itself, and runs a server on it; it returns the rounds that it has.
func restored(t *testing.T, w *world, dir, to, driver string) (rounds int64) {
	t.Helper()
	m, err := store.ReadBackup(dir)
	if err != nil {
		t.Fatal(err)
	}
	if made, err := store.Restore(t.Context(), to, dir, m, time.Now()); err != nil || !made {
		t.Fatal(made, err)
	}
	db, err := sql.Open(driver, to)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for what, query := range map[string]string{
		"a run that goes on":                     `SELECT count(*) FROM fleet_run WHERE NOT ended`,
		"a round that is open":                   `SELECT count(*) FROM fleet_round WHERE state = 'open'`,
		"a version that is not the last":         `SELECT count(*) FROM fleet_run r WHERE r.version <> (SELECT max(version) FROM fleet_policy)`,
		"a round that was applied and no record": `SELECT count(*) FROM fleet_round r WHERE state = 'applied' AND NOT EXISTS (SELECT 1 FROM fleet_record d WHERE d.round = r.id)`,
		"reports without permits":                `SELECT count(*) FROM (SELECT round, count(*) AS n FROM fleet_report GROUP BY round) r WHERE r.n > (SELECT count(*) FROM fleet_permit p WHERE p.round = r.round)`,
		"permits that are not counted":           `SELECT abs((SELECT count(*) FROM fleet_permit) - (SELECT coalesce(sum(devices), 0) FROM fleet_drawn))`,
	} {
		var n int64
		if err := db.QueryRowContext(t.Context(), query).Scan(&n); err != nil || n != 0 {
			t.Errorf("%s: %d, %v", what, n, err)
		}
	}
	if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM fleet_round`).Scan(&rounds); err != nil {
		t.Fatal(err)
	}
	other := *w
	c := other.config()
	c.Store = to
	other.serve(t, c)
	o := other.operator(t)
	if rounds > 0 {
		other.await(t, o, uint64(rounds)) // what was accepted is applied
	}
	s, err := o.Status(t.Context(), &fleetv1.StatusRequest{Rounds: 1})
	if err != nil || !s.GetEnded() {
		t.Errorf("%v, %v", s, err)
	}
	if err := other.stop(); err != nil {
		t.Error(err)
	}
	return rounds
}
