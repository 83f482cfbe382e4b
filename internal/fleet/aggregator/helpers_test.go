package aggregator_test

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/service/servicetest"
	"github.com/discreet-rl/discreet/internal/signature"
	"github.com/discreet-rl/discreet/train"
)

// world is a directory of keys, and the aggregators that use it.
type world struct {
	dir  string
	keys *aggregator.Keys
	root ed25519.PrivateKey
	log  *servicetest.Log
	url  string // of the last aggregator that was started
	page string // of its page on loopback
	stop func() error
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{dir: t.TempDir(), log: &servicetest.Log{}}
	if err := aggregator.CreateKeys(w.keysDir(), []string{"127.0.0.1"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	w.open(t)
	return w
}

func (w *world) keysDir() string { return filepath.Join(w.dir, "keys") }

func (w *world) open(t testing.TB) {
	t.Helper()
	var err error
	if w.keys, err = aggregator.OpenKeys(w.keysDir()); err != nil {
		t.Fatal(err)
	}
	if w.root, err = signature.LoadPrivate(filepath.Join(w.keysDir(), "root.key")); err != nil {
		t.Fatal(err)
	}
}

// config is of an aggregator that is as quick as a test needs.
func (w *world) config() aggregator.Config {
	return aggregator.Config{
		Listen: "127.0.0.1:0", Store: filepath.Join(w.dir, "fleet.db"), Keys: w.keys, Tick: 5 * time.Millisecond, Grace: time.Millisecond,
		PerDevice: service.Rate{Every: time.Microsecond, Burst: 1000}, PerAddress: service.Rate{Every: time.Microsecond, Burst: 1000}, Metrics: service.NewMetrics("fleet"), Log: service.NewLog(w.log, slog.LevelInfo, aggregator.LogKeys()),
	}
}

// serve runs an aggregator until the test ends or stop is called.
func (w *world) serve(t testing.TB, c aggregator.Config) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	a, err := aggregator.New(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	addr, err := a.Listen(ctx)
	if err != nil {
		t.Fatal(err)
	}
	page, err := a.ListenPage(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if page != nil {
		w.page = "http://" + page.String()
	}
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	w.url = "https://" + addr.String()
	w.stop = sync.OnceValue(func() error { cancel(); return <-ended })
	stop := w.stop
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
}

// client speaks TLS with the certificate of the files, or with none.
func (w *world) client(t testing.TB, pair *tls.Certificate) *http.Client {
	t.Helper()
	return servicetest.Client(t, servicetest.Roots(t, filepath.Join(w.keysDir(), "ca.pem")), pair)
}

// asOperator speaks TLS with the operator's certificate.
func (w *world) asOperator(t testing.TB) *http.Client {
	t.Helper()
	return w.client(t, servicetest.Pair(t, filepath.Join(w.keysDir(), "operator.pem"), filepath.Join(w.keysDir(), "operator.key")))
}

func (w *world) operator(t testing.TB) fleetv1.OperatorServiceClient {
	t.Helper()
	return fleetv1.NewOperatorServiceClient(w.asOperator(t), w.url)
}

var runID = train.RunID{0: 'r', 15: 1}

// spec is a run of dim weights.
func (w *world) spec(dim int, r train.Randomizer) *fleetv1.RunSpec {
	now := time.Now()
	return &fleetv1.RunSpec{
		Run: runID[:], Schema: 1, Purpose: "test", LocalJson: []byte(`{}`), Randomizer: fleet.RandomizerMessage(r), EpsilonReport: r.Epsilon,
		ReportsPerDevice: 100, Dim: uint32(dim), ReportBytes: 256, Mode: fleetv1.Mode_MODE_LINKED,
		Keys: w.keys.Public(nil, now.Add(-time.Hour), now.Add(time.Hour)), MinClient: fleet.PermitClient,
	}
}

var optimizer = []byte(`{"kind":"adam","step":0.1}`)

// create makes the run on the server, whose first weights are all 1.
func (w *world) create(t testing.TB, spec *fleetv1.RunSpec, schedule string, evaluations uint32) {
	t.Helper()
	signed, err := fleet.SignRun(w.root, spec)
	if err != nil {
		t.Fatal(err)
	}
	theta := make([]float64, spec.GetDim())
	for i := range theta {
		theta[i] = 1
	}
	_, err = w.operator(t).CreateRun(t.Context(), &fleetv1.CreateRunRequest{Spec: signed, Weights: fleet.EncodeWeights(theta), OptimizerJson: optimizer, ScheduleJson: []byte(schedule), Evaluations: evaluations})
	if err != nil {
		t.Fatal(err)
	}
}

// device is one that was enrolled, as little of it as a test needs.
type device struct {
	w         *world
	pair      tls.Certificate
	cert      *x509.Certificate
	pseudonym [32]byte
	runs      fleetv1.RunServiceClient
	reports   fleetv1.ReportServiceClient
	enrol     fleetv1.EnrolServiceClient
	noise     *noise.Source
}

// enrol makes n devices.
func (w *world) enrol(t testing.TB, n int) []*device {
	t.Helper()
	codes, err := w.operator(t).CreateCodes(t.Context(), &fleetv1.CreateCodesRequest{Count: uint32(n), ValidFor: 60_000})
	if err != nil {
		t.Fatal(err)
	}
	out := make([]*device, n)
	for i, code := range codes.GetCodes() {
		key, csr := servicetest.Request(t)
		c := w.client(t, nil)
		answer, err := fleetv1.NewEnrolServiceClient(c, w.url).Enrol(t.Context(), &fleetv1.EnrolRequest{Csr: csr, Code: code})
		if err != nil {
			t.Fatal(err)
		}
		c.CloseIdleConnections()
		d := &device{w: w, pair: tls.Certificate{Certificate: answer.GetChain(), PrivateKey: key}, noise: noise.NewSeeded(uint64(i))}
		copy(d.pseudonym[:], answer.GetPseudonymKey())
		if d.cert, err = x509.ParseCertificate(answer.GetChain()[0]); err != nil {
			t.Fatal(err)
		}
		d.dial(t)
		out[i] = d
	}
	return out
}

// dial makes the clients of a device's certificate.
func (d *device) dial(t testing.TB) {
	c := d.w.client(t, &d.pair)
	d.runs, d.reports, d.enrol = fleetv1.NewRunServiceClient(c, d.w.url), fleetv1.NewReportServiceClient(c, d.w.url), fleetv1.NewEnrolServiceClient(c, d.w.url)
}

// follow verifies the run and all its rounds as a device does, and returns the last
// one with its weights.
func (d *device) follow(ctx context.Context) (run *fleet.Run, last *fleet.Round, theta []float64, err error) {
	g, err := d.runs.GetRun(ctx, &fleetv1.GetRunRequest{})
	if err != nil {
		return nil, nil, nil, err
	}
	run, err = fleet.VerifyRun(d.w.root.Public().(ed25519.PublicKey), g.GetSpecs())
	if err != nil {
		return nil, nil, nil, err
	}
	answer, err := d.runs.GetRound(ctx, &fleetv1.GetRoundRequest{Weights: true})
	if err != nil || len(answer.GetSpecs()) == 0 {
		return run, nil, nil, err
	}
	head := run.Head()
	for _, s := range answer.GetSpecs() {
		if last, err = run.VerifyRound(head, s); err != nil {
			return nil, nil, nil, err
		}
		head = last.Head()
	}
	theta, err = last.Weights(answer.GetWeights())
	return run, last, theta, err
}

// body makes a report's body of a vector, or of yes or no in an evaluation.
func (d *device) body(round *fleet.Round, x []float64) ([]byte, error) {
	return round.Codec().Encode(nil, x, round.Seed(fleet.Nullifier(d.pseudonym, runID, round.Number)), receipt.None(), d.noise)
}

// draw asks for the round's permit, by a nonce of the device's own, until there is an answer.
func (d *device) draw(ctx context.Context, reports func() fleetv1.ReportServiceClient, run *fleet.Run, round *fleet.Round) (*fleetv1.SignedSpec, error) {
	for {
		answer, err := reports().Draw(ctx, &fleetv1.DrawRequest{Run: run.ID[:], Round: round.Number, Nonce: d.pseudonym[:]})
		switch code := connect.CodeOf(err); {
		case err == nil:
			return answer.GetPermit(), nil
		case ctx.Err() != nil, code != connect.CodeResourceExhausted && code != connect.CodeUnavailable:
			return nil, err
		}
	}
}

// request draws a permit, and seals a body.
func (d *device) request(run *fleet.Run, round *fleet.Round, body []byte) (*fleetv1.UploadRequest, error) {
	permit, err := d.draw(context.Background(), func() fleetv1.ReportServiceClient { return d.reports }, run, round)
	if err != nil {
		return nil, err
	}
	return d.sealed(run, round, body, permit)
}

// sealed is a body under a permit.
func (d *device) sealed(run *fleet.Run, round *fleet.Round, body []byte, permit *fleetv1.SignedSpec) (*fleetv1.UploadRequest, error) {
	key, err := run.SealKey(time.Now())
	if err != nil {
		return nil, err
	}
	sealed, err := round.Seal(body, key)
	if err != nil {
		return nil, err
	}
	return round.Request(sealed, key, permit), nil
}

// send uploads until there is a verdict.
func (d *device) send(ctx context.Context, r *fleetv1.UploadRequest) (fleetv1.Verdict, error) {
	for {
		answer, err := d.reports.Upload(ctx, r)
		switch code := connect.CodeOf(err); {
		case err == nil:
			return answer.GetVerdict(), nil
		case ctx.Err() != nil, code != connect.CodeResourceExhausted && code != connect.CodeUnavailable:
			return 0, err
		}
	}
}

// report is body, request and send.
func (d *device) report(t testing.TB, run *fleet.Run, round *fleet.Round, x []float64) []byte {
	t.Helper()
	body, err := d.body(round, x)
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.request(run, round, body)
	if err != nil {
		t.Fatal(err)
	}
	if v, err := d.send(t.Context(), r); err != nil || v != fleetv1.Verdict_VERDICT_ACCEPTED {
		t.Fatalf("verdict %v, %v", v, err)
	}
	return body
}

// uploading waits until a round above after takes reports.
func (d *device) uploading(t testing.TB, after uint64) (*fleet.Run, *fleet.Round, []float64) {
	t.Helper()
	for t.Context().Err() == nil {
		run, round, theta, err := d.follow(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if round != nil && round.Number > after {
			return run, round, theta
		}
	}
	t.Fatal("no round was opened in time")
	return nil, nil, nil
}

// await is the status of a round when it has ended.
func (w *world) await(t testing.TB, o fleetv1.OperatorServiceClient, number uint64) *fleetv1.RoundStatus {
	t.Helper()
	for {
		s, err := o.Status(t.Context(), &fleetv1.StatusRequest{Rounds: 1000})
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range s.GetRounds() {
			if r.GetRound() == number && r.GetState() >= fleetv1.RoundState_ROUND_STATE_APPLIED {
				return r
			}
		}
	}
}

func vector(rng *rand.Rand, dim int) []float64 {
	x := make([]float64, dim)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// latest is the newest policy.
func latest(t testing.TB, o fleetv1.OperatorServiceClient) (uint64, []float64) {
	t.Helper()
	p, err := o.GetPolicy(t.Context(), &fleetv1.GetPolicyRequest{Latest: true})
	if err != nil {
		t.Fatal(err)
	}
	theta, err := fleet.DecodeWeights(p.GetWeights())
	if err != nil {
		t.Fatal(err)
	}
	return p.GetVersion(), theta
}

func dump(c *http.Client, url string) (string, error) {
	r, err := c.Get(url)
	if err != nil {
		return "", err
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if r.StatusCode != http.StatusOK {
		err = errors.Join(err, fmt.Errorf("status %d", r.StatusCode))
	}
	return string(text), err
}

// signKey is a key that signs rounds.
func (w *world) signKey(t testing.TB, id int) ed25519.PrivateKey {
	t.Helper()
	key, err := signature.LoadPrivate(filepath.Join(w.keysDir(), fmt.Sprintf("sign-%d.key", id)))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// oneOpenRound is a world with a server, a run of three weights, so many devices and a
// round that is open.
func oneOpenRound(t *testing.T, c func(*aggregator.Config), devices int) (*world, fleetv1.OperatorServiceClient, []*device) {
	t.Helper()
	w := newWorld(t)
	cfg := w.config()
	if c != nil {
		c(&cfg)
	}
	w.serve(t, cfg)
	o := w.operator(t)
	w.create(t, w.spec(3, train.Randomizer{Mechanism: train.SignPRS, Epsilon: 1}), "", 0)
	openRound(t, o, nil)
	return w, o, w.enrol(t, devices)
}
