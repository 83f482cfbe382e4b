//go:build slow

package device_test

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"database/sql"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/proto"

	"github.com/discreet-rl/discreet/fleet/device"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
)

const (
	childURL  = "DISCREET_TEST_DEVICE_URL"
	childDir  = "DISCREET_TEST_DEVICE_DIR"
	childRoot = "DISCREET_TEST_DEVICE_ROOT"
)

// TestLiveUntilKilled is the process that is killed; as a test of its own it has nothing to do.
func TestLiveUntilKilled(t *testing.T) {
	if url := os.Getenv(childURL); url != "" {
		t.Fatal(live(url, os.Getenv(childDir)))
	}
}

// live is a device until it is killed.
func live(url, dir string) error {
	ctx := context.Background()
	root, err := hex.DecodeString(os.Getenv(childRoot))
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(dir, "ca.pem"))
	if err != nil {
		return err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(text)
	c := deviceConfig(filepath.Join(dir, "device"), root)
	a, err := device.Open(ctx, c)
	if err != nil {
		return err
	}
	services, err := device.Dial(url, roots, a.Certificate)
	if err != nil {
		return err
	}
	if err := a.Enrol(ctx, services.Enrol, "right"); err != nil {
		return err
	}
	return a.Run(ctx, services, learner(ones))
}

func deviceConfig(dir string, root ed25519.PublicKey) device.Config {
	c := (&server{randomize: signs, theta: make([]float64, 4), root: ed25519.NewKeyFromSeed(make([]byte, 32))}).config(dir)
	c.Root, c.Epsilon = root, 1e6
	c.Poll, c.BackOff, c.MostBackOff = 20*time.Millisecond, 10*time.Millisecond, 50*time.Millisecond
	return c
}

// killed lets a device live for random times, kills it with SIGKILL so often, and tells what the server and the device's own files
// came to.
func killed(t *testing.T, times int) {
	s := newServer(t, signs, 4, nil)
	lose := func(int) error { // three in ten get lost on either way
		if rand.IntN(10) < 3 {
			return connect.NewError(connect.CodeUnavailable, errors.New("connection lost"))
		}
		return nil
	}
	s.before, s.after = lose, lose
	mux := http.NewServeMux()
	mux.Handle(fleetv1.NewEnrolServiceHandler(s))
	mux.Handle(fleetv1.NewRunServiceHandler(s))
	mux.Handle(fleetv1.NewReportServiceHandler(s))
	web := httptest.NewUnstartedServer(mux)
	web.Config.ErrorLog = log.New(io.Discard, "", 0) // of connections that were killed
	web.TLS = &tls.Config{MinVersion: tls.VersionTLS13, ClientAuth: tls.RequestClientCert}
	web.StartTLS()
	defer web.Close()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "ca.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { // a round after the other
		defer close(stopped)
		for {
			s.open(60*time.Millisecond, 200*time.Millisecond, nil)
			select {
			case <-time.After(280 * time.Millisecond):
			case <-stop:
				return
			}
		}
	}()
	root := s.root.Public().(ed25519.PublicKey)
	for range times {
		c := exec.Command(os.Args[0], "-test.run=^TestLiveUntilKilled$")
		c.Env = append(os.Environ(), childURL+"="+web.URL, childDir+"="+dir, childRoot+"="+hex.EncodeToString(root))
		c.Stdout, c.Stderr = os.Stderr, os.Stderr
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(100+rand.IntN(600)) * time.Millisecond)
		if err := c.Process.Kill(); err != nil {
			t.Error(err) // it ended by itself
		}
		_ = c.Wait()
	}
	close(stop)
	<-stopped
	a, err := device.Open(t.Context(), deviceConfig(filepath.Join(dir, "device"), root))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	paid := spent(t, a)
	first := map[uint64]*fleetv1.UploadRequest{}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, u := range s.uploads {
		if before := first[u.r.GetRound()]; before != nil && !proto.Equal(before, u.r) {
			t.Errorf("two bodies in round %d", u.r.GetRound())
		}
		first[u.r.GetRound()] = u.r
	}
	counts := states(t, filepath.Join(dir, "device", "state.db"))
	if float64(len(first)) > paid {
		t.Errorf("%d reports left, and %v were paid", len(first), paid)
	}
	if n := counts["acknowledged"]; n > len(s.taken) {
		t.Errorf("%d reports are acknowledged, of %d that were taken", n, len(s.taken))
	}
	// Paid are those that were made and those that were forfeited; of the last one the wallet alone may know.
	if n := float64(counts["kept"] + counts["sent"] + counts["acknowledged"] + counts["forfeited"]); paid < n || paid > n+float64(counts["asking"]+counts["debited"]) {
		t.Errorf("the wallet paid for %v reports; the states are %v", paid, counts)
	}
	if len(s.taken) == 0 {
		t.Error("no report was taken: the test tests nothing")
	}
	t.Logf("%d kills, %d rounds: %d uploads of %d reports, %d taken, %v paid, states %v", times, len(s.rounds), len(s.uploads), len(first), len(s.taken), paid, counts)
}

// states counts rounds by state.
func states(t *testing.T, path string) map[string]int {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), `SELECT state, count(*) FROM agent_round GROUP BY state`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	out := map[string]int{}
	for rows.Next() {
		var state string
		var n int
		if err := rows.Scan(&state, &n); err != nil {
			t.Fatal(err)
		}
		out[state] = n
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestADeviceThatIsKilledSendsOneBodyARound and pays for every one.
func TestADeviceThatIsKilledSendsOneBodyARound(t *testing.T) { killed(t, 12) }
