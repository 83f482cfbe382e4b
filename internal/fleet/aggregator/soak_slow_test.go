//go:build slow && linux

package aggregator_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/service/servicetest"
	"github.com/discreet-rl/discreet/train"
)

var minutes = flag.Int("minutes", 0, "how long TestSoak goes on, with 20,000 devices; if 0 it is a short look with 200")

// soak is a server that is a process of its own, with the limits that it has by default, and all devices
// in this one: each comes by a connection of its own, from one of 200 addresses of loopback.
type soak struct {
	t       *testing.T
	w       *world
	store   string
	roots   *x509.CertPool
	o       fleetv1.OperatorServiceClient
	metrics *http.Client
	members []*device
	// follower looks at the rounds, as each device would, and does not report.
	follower *device
	begun    time.Time
	took     sync.Map // minute to *times
}

// times are how long uploads took.
type times struct {
	mu  sync.Mutex
	all []time.Duration
}

// state is what the server holds at a moment.
type state struct {
	at                                time.Duration
	resident, heap, goroutines, files float64
	connections, wal, database        float64
}

// state is the server's now.
func (s *soak) state() state {
	s.t.Helper()
	text, err := dump(s.metrics, s.w.url+"/metrics")
	if err != nil {
		s.t.Fatal(err)
	}
	out := state{at: time.Since(s.begun)}
	wanted := map[string]*float64{
		"process_resident_memory_bytes": &out.resident, "go_memstats_heap_inuse_bytes": &out.heap, "go_goroutines": &out.goroutines,
		"process_open_fds": &out.files, "fleet_connections": &out.connections,
	}
	for lines := bufio.NewScanner(strings.NewReader(text)); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), " ")
		if into := wanted[name]; into != nil {
			if _, err := fmt.Sscan(value, into); err != nil {
				s.t.Fatal(err)
			}
			delete(wanted, name)
		}
	}
	if len(wanted) > 0 {
		s.t.Fatalf("the metrics lack %v", wanted)
	}
	for name, into := range map[string]*float64{s.store: &out.database, s.store + "-wal": &out.wal} {
		if info, err := os.Stat(name); err == nil {
			*into = float64(info.Size())
		}
	}
	return out
}

const mib = 1 << 20

func (x state) String() string {
	return fmt.Sprintf("%4.1f min: %.1f MiB resident, %.1f MiB of the heap, %.0f goroutines, %.0f files, %.0f connections, log %.1f MiB, database %.1f MiB",
		x.at.Minutes(), x.resident/mib, x.heap/mib, x.goroutines, x.files, x.connections, x.wal/mib, x.database/mib)
}

// client is a device's, or nobody's, from an address of its own.
func (s *soak) client(i int, pair *tls.Certificate) *http.Client {
	c := &tls.Config{RootCAs: s.roots, MinVersion: tls.VersionTLS13}
	if pair != nil {
		c.Certificates = []tls.Certificate{*pair}
	}
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 1, byte(1+i%200))}}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: c, DialContext: from.DialContext}, Timeout: 30 * time.Second}
}

// each has 64 workers do something for every number below n, at no more than so many a second, until ctx ends.
func (s *soak) each(ctx context.Context, n int, perSecond float64, do func(int)) {
	work := make(chan int)
	var wg sync.WaitGroup
	for range 64 {
		wg.Go(func() {
			for i := range work {
				do(i)
			}
		})
	}
	begun := time.Now()
	for i := 0; i < n && ctx.Err() == nil && !s.t.Failed(); i++ {
		pause(ctx, time.Until(begun.Add(time.Duration(float64(i)/perSecond*float64(time.Second)))))
		work <- i
	}
	close(work)
	wg.Wait()
}

// insist asks until there is an answer: a busy machine makes a request late, which is no fault here.
func insist[T any](ctx context.Context, ask func() (T, error)) (out T, err error) {
	for range 100 {
		if out, err = ask(); err == nil || ctx.Err() != nil {
			return out, err
		}
		pause(ctx, 100*time.Millisecond)
	}
	return out, err
}

// enrol makes the devices by codes, as any are made.
func (s *soak) enrol(n int) {
	t := s.t
	var codes []string
	for len(codes) < n {
		answer, err := s.o.CreateCodes(t.Context(), &fleetv1.CreateCodesRequest{Count: uint32(min(1000, n-len(codes))), ValidFor: 3_600_000})
		if err != nil {
			t.Fatal(err)
		}
		codes = append(codes, answer.GetCodes()...)
	}
	s.members = make([]*device, n)
	s.each(t.Context(), n, 1e6, func(i int) {
		key, csr := servicetest.Request(t)
		c := s.client(i, nil)
		defer c.CloseIdleConnections()
		answer, err := insist(t.Context(), func() (*fleetv1.EnrolResponse, error) {
			return fleetv1.NewEnrolServiceClient(c, s.w.url).Enrol(t.Context(), &fleetv1.EnrolRequest{Csr: csr, Code: codes[i]})
		})
		if err != nil {
			t.Error(err)
			return
		}
		s.members[i] = &device{w: s.w, pair: tls.Certificate{Certificate: answer.GetChain(), PrivateKey: key}, noise: noise.NewSeeded(uint64(i)), pseudonym: [32]byte(answer.GetPseudonymKey())}
	})
}

// visit is a device that comes, asks for the round and reports. One in 50 sends the report again, and another one.
func (s *soak) visit(ctx context.Context, i int, run *fleet.Run, round *fleet.Round, spec []byte) (acknowledged bool) {
	t, d := s.t, s.members[i]
	c := s.client(i, &d.pair)
	defer c.CloseIdleConnections()
	g, err := insist(ctx, func() (*fleetv1.GetRoundResponse, error) {
		return fleetv1.NewRunServiceClient(c, s.w.url).GetRound(ctx, &fleetv1.GetRoundRequest{After: round.Number - 1, Weights: true})
	})
	if err != nil || len(g.GetSpecs()) != 1 || string(g.GetSpecs()[0].GetSpec()) != string(spec) {
		t.Errorf("device %d is shown %d rounds, or another one: %v", i, len(g.GetSpecs()), err)
		return false
	}
	body, err := d.body(round, vector(rand.New(rand.NewPCG(uint64(i), round.Number)), run.Dim))
	if err != nil {
		t.Error(err)
		return false
	}
	drawn, err := insist(ctx, func() (*fleetv1.DrawResponse, error) {
		return fleetv1.NewReportServiceClient(c, s.w.url).Draw(ctx, &fleetv1.DrawRequest{Run: run.ID[:], Round: round.Number, Nonce: d.pseudonym[:]})
	})
	if err != nil {
		t.Error(err)
		return false
	}
	send := func(body []byte) fleetv1.Verdict {
		r, err := d.sealed(run, round, body, drawn.GetPermit())
		if err != nil {
			t.Error(err)
			return 0
		}
		begun := time.Now()
		answer, err := insist(ctx, func() (*fleetv1.UploadResponse, error) {
			return fleetv1.NewReportServiceClient(c, s.w.url).Upload(ctx, r)
		})
		if err != nil {
			t.Error(err)
		}
		of, _ := s.took.LoadOrStore(int(time.Since(s.begun).Minutes()), &times{})
		all := of.(*times)
		all.mu.Lock()
		defer all.mu.Unlock()
		all.all = append(all.all, time.Since(begun))
		return answer.GetVerdict()
	}
	// A duplicate is one whose first answer came too late.
	if v := send(body); v != fleetv1.Verdict_VERDICT_ACCEPTED && v != fleetv1.Verdict_VERDICT_DUPLICATE {
		t.Errorf("device %d: the first body is %v", i, v)
		return false
	}
	if i%50 == 0 {
		if v := send(body); v != fleetv1.Verdict_VERDICT_DUPLICATE {
			t.Errorf("device %d: the same body again is %v", i, v)
		}
		if v := send(flipped(body)); v != fleetv1.Verdict_VERDICT_SPENT {
			t.Errorf("device %d: another body is %v", i, v)
		}
	}
	return true
}

// round has every device report, until ctx ends, and holds what the server counts against what it acknowledged.
func (s *soak) round(ctx context.Context, number uint64, perSecond float64) {
	t := s.t
	openRound(t, s.o, func(r *fleetv1.OpenRoundRequest) { r.UploadFor, r.MaxReports = 3_600_000, 1<<20 })
	var run *fleet.Run
	round, err := insist(t.Context(), func() (round *fleet.Round, err error) {
		run, round, _, err = s.follower.follow(t.Context())
		return round, err
	})
	if err != nil || round.Number != number {
		t.Fatalf("round %v, %v", round, err)
	}
	g, err := insist(t.Context(), func() (*fleetv1.GetRoundResponse, error) {
		return s.follower.runs.GetRound(t.Context(), &fleetv1.GetRoundRequest{After: number - 1})
	})
	if err != nil || len(g.GetSpecs()) != 1 {
		t.Fatal(err)
	}
	var acknowledged atomic.Int64
	s.each(ctx, len(s.members), perSecond, func(i int) {
		if s.visit(t.Context(), i, run, round, g.GetSpecs()[0].GetSpec()) {
			acknowledged.Add(1)
		}
	})
	closed := time.Now()
	if _, err := s.o.CloseRound(t.Context(), &fleetv1.CloseRoundRequest{Round: number}); err != nil {
		t.Fatal(err)
	}
	got := s.w.await(t, s.o, number)
	if int64(got.GetAccepted()) != acknowledged.Load() {
		t.Errorf("round %d counts %d reports; %d were acknowledged", number, got.GetAccepted(), acknowledged.Load())
	}
	t.Logf("round %d: %d reports acknowledged and counted, %v from closing to applied", number, got.GetAccepted(), time.Since(closed).Round(time.Millisecond))
}

// TestSoak: for half an hour devices come, report and go. What the server holds does not grow after the first third of the time: in the
// last third its resident memory is at most a tenth and 8 MiB above that of the second, goroutines and open files in the median a quarter
// and 20 above, the write-ahead log a quarter and 1 MiB. Every report that was acknowledged counts, and none twice. When all have gone,
// goroutines, files and connections are those of the beginning.
func TestSoak(t *testing.T) {
	n, perSecond, length, sampled := 200, 1e6, time.Duration(0), 100*time.Millisecond
	if *minutes > 0 {
		n, perSecond, length, sampled = 20_000, 80, time.Duration(*minutes)*time.Minute, 10*time.Second
	}
	w := newWorld(t)
	s := &soak{t: t, w: w, store: filepath.Join(w.dir, "fleet.db"), roots: servicetest.Roots(t, filepath.Join(w.keysDir(), "ca.pem")), begun: time.Now()}
	t.Setenv(plainVariable, "1")
	p := &process{t: t, w: w, listen: address(t), store: s.store}
	p.start()
	t.Cleanup(p.kill)
	w.url = "https://" + p.listen
	for until := time.Now().Add(time.Minute); ; pause(t.Context(), 20*time.Millisecond) {
		if _, err := dump(w.client(t, nil), w.url+"/readyz"); err == nil {
			break
		} else if time.Now().After(until) {
			t.Fatal(err)
		}
	}
	s.o, s.metrics = w.operator(t), w.asOperator(t)
	s.o.Status(t.Context(), &fleetv1.StatusRequest{}) // there is no run yet; the connection stays
	first := s.state()
	w.create(t, w.spec(112, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}), "", 0)
	s.enrol(n + 1)
	if t.Failed() {
		return
	}
	s.members, s.follower = s.members[:n], s.members[n]
	s.follower.dial(t)
	t.Logf("%d devices enrolled in %v", n, time.Since(s.begun).Round(time.Second))

	s.begun, s.took = time.Now(), sync.Map{}
	ctx, cancel := context.WithTimeout(t.Context(), max(length, time.Minute))
	defer cancel()
	var samples []state
	over, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(sampled)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-tick.C:
				samples = append(samples, s.state())
			}
		}
	}()
	for number := uint64(1); number <= 3 || time.Since(s.begun) < length && !t.Failed(); number++ {
		s.round(ctx, number, perSecond)
	}
	close(over)
	<-ended
	s.report(samples)
	if length > 0 {
		s.flat(samples, length)
	}
	s.empty(first)
}
