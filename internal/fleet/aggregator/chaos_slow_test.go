//go:build slow && linux

package aggregator_test

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/pgtest"
	"github.com/discreet-rl/discreet/internal/service/alerttest"
	"github.com/discreet-rl/discreet/train"
)

var kills = flag.Int("kills", 12, "processes that TestKilledAtAnyMoment kills, on each kind of store")

// process is a server that is killed and started again under one address, and that is
// started again when it ends by itself, as one does that begins while there is no
// database.
type process struct {
	t             *testing.T
	w             *world
	listen, store string

	mu    sync.Mutex
	cmd   *exec.Cmd
	ended chan struct{} // closed when cmd is gone
	down  bool          // on purpose
}

func (p *process) start() {
	p.mu.Lock()
	defer p.mu.Unlock()
	log, err := os.OpenFile(filepath.Join(p.w.dir, "server.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		p.t.Error(err)
		return
	}
	defer log.Close()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), listenVariable+"="+p.listen, storeVariable+"="+p.store, keysVariable+"="+p.w.keysDir())
	cmd.Stderr = log
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		p.t.Error(err)
		return
	}
	ended := make(chan struct{})
	p.cmd, p.ended, p.down = cmd, ended, false
	go func() {
		_ = cmd.Wait() // killed, or for want of a database
		close(ended)
		p.mu.Lock()
		again := p.cmd == cmd && !p.down
		p.mu.Unlock()
		if again {
			p.start()
		}
	}()
}

func (p *process) signal(s syscall.Signal) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		p.t.Error(err)
	}
}

// kill ends it, and returns when it is gone.
func (p *process) kill() {
	p.mu.Lock()
	p.down = true
	ended := p.ended
	p.mu.Unlock()
	p.signal(syscall.SIGKILL)
	<-ended
}

// address is a port that is free.
func address(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// agent is a device that never gives up: it asks any of the servers, keeps what it sent,
// and sends the same again.
type agent struct {
	*device
	clients []*http.Client
	urls    []string
	rng     *rand.Rand

	run   *fleet.Run
	head  fleet.Head
	round *fleet.Round

	accepted map[uint64][]byte

	drew   uint64 // the round of the permit
	permit *fleetv1.SignedSpec
}

// any is a server by chance.
func (a *agent) any() (*http.Client, string) {
	i := a.rng.IntN(len(a.urls))
	return a.clients[i], a.urls[i]
}

// next learns of a round after the last one that it knows.
func (a *agent) next(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	c, url := a.any()
	runs := fleetv1.NewRunServiceClient(c, url)
	if a.run == nil {
		g, err := runs.GetRun(ctx, &fleetv1.GetRunRequest{})
		if err != nil {
			return err
		}
		if a.run, err = fleet.VerifyRun(a.w.root.Public().(ed25519.PublicKey), g.GetSpecs()); err != nil {
			return err
		}
		a.head = a.run.Head()
	}
	g, err := runs.GetRound(ctx, &fleetv1.GetRoundRequest{After: a.head.Round})
	if err != nil {
		return err
	}
	for _, s := range g.GetSpecs() {
		round, err := a.run.VerifyRound(a.head, s)
		if err != nil {
			return fmt.Errorf("FORKED: %w", err)
		}
		a.round, a.head = round, round.Head()
	}
	return nil
}

// takePart takes part in rounds until ctx ends, with two bodies each: the first verdict of
// accepted or duplicate says which one counts.
func (a *agent) takePart(ctx context.Context, t *testing.T) {
	done := uint64(0)
	for ctx.Err() == nil {
		if err := a.next(ctx); err != nil || a.round == nil || a.round.Number == done {
			if errors.Is(err, fleet.ErrFork) || errors.Is(err, fleet.ErrSpec) {
				t.Error(err)
				return
			}
			pause(ctx, 5*time.Millisecond)
			continue
		}
		number := a.round.Number
		body, err := a.body(a.round, vector(a.rng, a.run.Dim))
		if err != nil {
			t.Error(err)
			return
		}
		if v := a.insist(ctx, t, body); v != fleetv1.Verdict_VERDICT_ACCEPTED && v != fleetv1.Verdict_VERDICT_DUPLICATE {
			if ctx.Err() == nil {
				t.Errorf("round %d: the only body is %v", number, v)
			}
			return
		}
		a.accepted[number] = body
		if a.rng.IntN(3) == 0 { // a second body, and the first again
			if v := a.insist(ctx, t, flipped(body)); ctx.Err() == nil && v != fleetv1.Verdict_VERDICT_SPENT {
				t.Errorf("round %d: a second body is %v", number, v)
			}
			if v := a.insist(ctx, t, body); ctx.Err() == nil && v != fleetv1.Verdict_VERDICT_DUPLICATE {
				t.Errorf("round %d: the first body again is %v", number, v)
			}
		}
		done = number
	}
}

// insist sends a body until there is a verdict, or ctx ends.
func (a *agent) insist(ctx context.Context, t *testing.T, body []byte) fleetv1.Verdict {
	if a.drew != a.round.Number {
		a.permit = a.permitted(ctx)
		a.drew = a.round.Number
	}
	r, err := a.sealed(a.run, a.round, body, a.permit)
	if err != nil {
		t.Error(err)
		return 0
	}
	for ctx.Err() == nil {
		one, cancel := context.WithTimeout(ctx, 2*time.Second)
		c, url := a.any()
		answer, err := fleetv1.NewReportServiceClient(c, url).Upload(one, r)
		cancel()
		if err == nil {
			return answer.GetVerdict()
		}
		pause(ctx, 5*time.Millisecond)
	}
	return 0
}

// permitted draws the permit of the round, at any server, until there is an answer or ctx ends.
func (a *agent) permitted(ctx context.Context) *fleetv1.SignedSpec {
	for ctx.Err() == nil {
		one, cancel := context.WithTimeout(ctx, 2*time.Second)
		permit, err := a.draw(one, func() fleetv1.ReportServiceClient {
			c, url := a.any()
			return fleetv1.NewReportServiceClient(c, url)
		}, a.run, a.round)
		cancel()
		if err == nil {
			return permit
		}
		pause(ctx, 5*time.Millisecond)
	}
	return nil
}

// pause waits between tries at a server that may be gone.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// TestKilledAtAnyMoment: servers, whichever of them leads, and the database are killed at
// random moments, and a server is stopped for longer than its lease, while devices take
// part and Prometheus watches: at every fiftieth kill all servers stay away until an alert fires,
// which ends when they are back. No report that was acknowledged is lost, no second body is taken, and the weights are bit
// for bit those of one process that was given each round's reports once.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Run("sqlite", func(t *testing.T) {
		w := newWorld(t)
		chaos(t, w, filepath.Join(w.dir, "fleet.db"), 1, nil)
	})
	t.Run("postgres", func(t *testing.T) {
		p, err := pgtest.Start(pgtest.Memory())
		if errors.Is(err, pgtest.ErrUnavailable) && !pgtest.Required() {
			t.Skipf("NOT TESTED ON POSTGRESQL: %v", err)
		} else if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(p.Stop)
		url, err := p.NewSchema()
		if err != nil {
			t.Fatal(err)
		}
		chaos(t, newWorld(t), url, 2, p)
	})
}

func chaos(t *testing.T, w *world, store string, replicas int, database *pgtest.Postgres) {
	const dim, n = 5, 8
	r := train.Randomizer{Mechanism: train.Laplace, Epsilon: 2, Clip: 2}
	var servers []*process
	var urls []string
	for range replicas {
		p := &process{t: t, w: w, listen: address(t), store: store}
		servers, urls = append(servers, p), append(urls, "https://"+p.listen)
		p.start()
		t.Cleanup(p.kill)
	}
	w.url = urls[0]
	for until := time.Now().Add(time.Minute); ; pause(t.Context(), 20*time.Millisecond) {
		if _, err := dump(w.client(t, nil), w.url+"/readyz"); err == nil {
			break
		} else if time.Now().After(until) {
			t.Fatal(err)
		}
	}
	spec := w.spec(dim, r)
	spec.ReportsPerDevice = 1 << 20
	w.create(t, spec, fmt.Sprintf(`{"rounds":1000000,"train_seconds":0.001,"upload_seconds":86400,"sample_rate":1,"min_reports":%d,"max_reports":%d}`, n, n), 0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var agents []*agent
	var wg sync.WaitGroup
	for i, d := range w.enrol(t, n) {
		d.noise = noise.NewSeeded(uint64(100 + i))
		a := &agent{device: d, urls: urls, rng: rand.New(rand.NewPCG(uint64(i), 7)), accepted: map[uint64][]byte{}}
		for range urls {
			a.clients = append(a.clients, w.client(t, &d.pair))
		}
		agents = append(agents, a)
		wg.Go(func() { a.takePart(ctx, t) })
	}

	pair, err := tls.LoadX509KeyPair(filepath.Join(w.keysDir(), "operator.pem"), filepath.Join(w.keysDir(), "operator.key"))
	if err != nil {
		t.Fatal(err)
	}
	var targets []alerttest.Target
	for _, url := range urls {
		targets = append(targets, alerttest.Target{Job: "fleet", URL: url, Client: w.client(t, &pair)})
	}
	watch := alerttest.Start(t, "../../../examples/fleet-network/alerts.yaml").Watch(15*time.Second, 50*time.Millisecond, func() []alerttest.Target { return targets })
	down := func(firing []string) bool { return slices.Contains(firing, "FleetDown") }

	rng := rand.New(rand.NewPCG(uint64(os.Getpid()), uint64(time.Now().UnixNano())))
	var ofDatabase, frozen atomic.Int64
	begun, stops, longest := time.Now(), 0, 0
	for killed := 0; killed < *kills && !t.Failed(); killed++ {
		if killed%50 == 49 || killed == *kills/2 {
			for _, s := range servers {
				s.kill()
			}
			stops++
			longest = max(longest, watch.Until("without servers", time.Minute, down))
			for _, s := range servers {
				s.start()
			}
			watch.Until("with servers", time.Minute, func(firing []string) bool { return !down(firing) })
		}
		pause(ctx, time.Duration(rng.IntN(400))*time.Millisecond)
		if database != nil && rng.IntN(6) == 0 {
			if err := database.Kill(); err != nil {
				t.Fatal(err)
			}
			if err := database.Restart(); err != nil {
				t.Fatal(err)
			}
			ofDatabase.Add(1)
			continue
		}
		s := servers[rng.IntN(len(servers))]
		if replicas > 1 && (killed == *kills/2 || rng.IntN(50) == 0) {
			before := reached(t, w, urls)
			s.signal(syscall.SIGSTOP)
			others := slices.DeleteFunc(slices.Clone(urls), func(u string) bool { return u == "https://"+s.listen })
			if after := waitFor(t, w, others, before+2); after < before+2 {
				t.Errorf("with a server stopped no round was applied after round %d", after)
			}
			s.signal(syscall.SIGCONT)
			frozen.Add(1)
		}
		s.kill()
		s.start()
	}
	// Who reports in one round has a verdict of the one before it.
	last := waitFor(t, w, urls, reached(t, w, urls)+2) - 1
	cancel()
	wg.Wait()
	if t.Failed() {
		text, _ := os.ReadFile(filepath.Join(w.dir, "server.log"))
		t.Fatalf("the servers say %s", text[max(0, len(text)-4000):])
	}

	// What one process makes of the same reports.
	one := newOracle(t, dim, n, r)
	for number := uint64(1); number <= last; number++ {
		var all []sent
		for _, a := range agents {
			body, ok := a.accepted[number]
			if !ok {
				t.Fatalf("round %d was applied, and a device has no verdict of it", number)
			}
			all = append(all, sent{fleet.Nullifier(a.pseudonym, runID, number), body})
		}
		want := one.round(all)
		p, err := askAny(t, w, urls, func(c fleetv1.OperatorServiceClient) (*fleetv1.GetPolicyResponse, error) {
			return c.GetPolicy(t.Context(), &fleetv1.GetPolicyRequest{Version: number})
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := fleet.DecodeWeights(p.GetWeights())
		if err != nil || p.GetRound() != number || !slices.Equal(got, want) {
			t.Fatalf("version %d, of round %d, is\n%v; one process has\n%v", number, p.GetRound(), got, want)
		}
	}
	scrapes, began := watch.Began()
	t.Logf("%d kills (%d of the database), %d times stopped, %d rounds of %d reports in %v; %d scrapes, all servers away %d times, each with an alert after at most %d scrapes, alerts %v",
		*kills, ofDatabase.Load(), frozen.Load(), last, n, time.Since(begun).Round(time.Second), scrapes, stops, longest, began)
}

// askAny asks the servers in turn until one answers.
func askAny[T any](t *testing.T, w *world, urls []string, ask func(fleetv1.OperatorServiceClient) (T, error)) (out T, err error) {
	pair, err := tls.LoadX509KeyPair(filepath.Join(w.keysDir(), "operator.pem"), filepath.Join(w.keysDir(), "operator.key"))
	if err != nil {
		return out, err
	}
	c := w.client(t, &pair)
	c.Timeout = 3 * time.Second
	defer c.CloseIdleConnections()
	for until := time.Now().Add(time.Minute); time.Now().Before(until); pause(t.Context(), 10*time.Millisecond) {
		for _, url := range urls {
			if out, err = ask(fleetv1.NewOperatorServiceClient(c, url)); err == nil {
				return out, nil
			}
		}
	}
	return out, err
}

// reached is the version of the weights, which is the number of rounds that were applied.
func reached(t *testing.T, w *world, urls []string) uint64 {
	t.Helper()
	s, err := askAny(t, w, urls, func(c fleetv1.OperatorServiceClient) (*fleetv1.StatusResponse, error) {
		return c.Status(t.Context(), &fleetv1.StatusRequest{})
	})
	if err != nil {
		t.Fatal(err)
	}
	return s.GetVersion()
}

// waitFor waits until the version is that, and no longer than a minute.
func waitFor(t *testing.T, w *world, urls []string, version uint64) uint64 {
	t.Helper()
	for until := time.Now().Add(time.Minute); ; pause(t.Context(), 20*time.Millisecond) {
		if v := reached(t, w, urls); v >= version || time.Now().After(until) || t.Failed() {
			return v
		}
	}
}
