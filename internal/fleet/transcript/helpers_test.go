package transcript_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/internal/fleet/transcript"
	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/service/servicetest"
	"github.com/discreet-rl/discreet/internal/signature"
	"github.com/discreet-rl/discreet/train"
)

const (
	dim     = 3
	devices = 4
	keeps   = 3 // rounds whose reports are kept
)

// world is a server with its operator, and devices of a run.
type world struct {
	t        *testing.T
	dir      string
	root     ed25519.PrivateKey
	operator fleetv1.OperatorServiceClient
	runs     fleetv1.RunServiceClient
	run      *fleet.Run
	head     fleet.Head
	members  []member
}

type member struct {
	pseudonym [32]byte
	reports   fleetv1.ReportServiceClient
}

func (w *world) check(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func newWorld(t *testing.T, r train.Randomizer) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir()}
	keys := filepath.Join(w.dir, "keys")
	w.check(aggregator.CreateKeys(keys, []string{"127.0.0.1"}, time.Now()))
	k, err := aggregator.OpenKeys(keys)
	w.check(err)
	w.root, err = signature.LoadPrivate(filepath.Join(keys, "root.key"))
	w.check(err)
	quick := service.Rate{Every: time.Microsecond, Burst: 1000}
	ctx, cancel := context.WithCancel(context.Background())
	a, err := aggregator.New(ctx, aggregator.Config{
		Listen: "127.0.0.1:0", Store: filepath.Join(w.dir, "fleet.db"), Keys: k, Keep: keeps, Tick: time.Hour, Grace: time.Millisecond, PerDevice: quick, PerAddress: quick,
		Metrics: service.NewMetrics("fleet"), Log: service.NewLog(&servicetest.Log{}, slog.LevelInfo, aggregator.LogKeys()),
	})
	w.check(err)
	address, err := a.Listen(ctx)
	w.check(err)
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	t.Cleanup(func() { cancel(); w.check(<-ended) })
	url, roots := "https://"+address.String(), servicetest.Roots(t, filepath.Join(keys, "ca.pem"))
	c := servicetest.Client(t, roots, servicetest.Pair(t, filepath.Join(keys, "operator.pem"), filepath.Join(keys, "operator.key")))
	w.operator, w.runs = fleetv1.NewOperatorServiceClient(c, url), fleetv1.NewRunServiceClient(c, url)
	signed, err := fleet.SignRun(w.root, &fleetv1.RunSpec{
		Run: bytes.Repeat([]byte{7}, 16), Schema: 1, Purpose: "test", LocalJson: []byte(`{}`), Randomizer: fleet.RandomizerMessage(r), EpsilonReport: r.Epsilon,
		ReportsPerDevice: 5, Dim: dim, ReportBytes: 64, Mode: fleetv1.Mode_MODE_LINKED, MinClient: fleet.PermitClient, Keys: k.Public(nil, time.Now().Add(-time.Hour), time.Now().Add(time.Hour)),
	})
	w.check(err)
	_, err = w.operator.CreateRun(t.Context(), &fleetv1.CreateRunRequest{Spec: signed, Weights: fleet.EncodeWeights([]float64{1, 2, 3}), OptimizerJson: []byte(`{"kind":"adam","step":0.1}`), Evaluations: 1})
	w.check(err)
	w.run, err = fleet.VerifyRun(w.root.Public().(ed25519.PublicKey), []*fleetv1.SignedSpec{signed})
	w.check(err)
	w.head = w.run.Head()
	codes, err := w.operator.CreateCodes(t.Context(), &fleetv1.CreateCodesRequest{Count: devices, ValidFor: 60_000})
	w.check(err)
	for _, code := range codes.GetCodes() {
		key, csr := servicetest.Request(t)
		answer, err := fleetv1.NewEnrolServiceClient(servicetest.Client(t, roots, nil), url).Enrol(t.Context(), &fleetv1.EnrolRequest{Csr: csr, Code: code})
		w.check(err)
		m := member{reports: fleetv1.NewReportServiceClient(servicetest.Client(t, roots, &tls.Certificate{Certificate: answer.GetChain(), PrivateKey: key}), url)}
		copy(m.pseudonym[:], answer.GetPseudonymKey())
		w.members = append(w.members, m)
	}
	return w
}

// report is one that was sent.
type sentReport struct{ nullifier, body []byte }

// round is opened, the first n devices report, and it is closed and applied.
func (w *world) round(kind fleetv1.Kind, n int) (out []sentReport) {
	w.t.Helper()
	opened, err := w.operator.OpenRound(w.t.Context(), &fleetv1.OpenRoundRequest{Kind: kind, SampleRate: 1, UploadFor: 600_000, MinReports: 2, MaxReports: 100})
	w.check(err)
	round, err := w.run.VerifyRound(w.head, opened.GetSpec())
	w.check(err)
	w.head = round.Head()
	key, err := w.run.SealKey(time.Now())
	w.check(err)
	for i, m := range w.members[:n] {
		permit, err := m.reports.Draw(w.t.Context(), &fleetv1.DrawRequest{Run: w.run.ID[:], Round: round.Number, Nonce: bytes.Repeat([]byte{byte(i)}, 32)})
		w.check(err)
		x := []float64{1, -2, float64(i)}[:round.Codec().Len()]
		nullifier := fleet.Nullifier(m.pseudonym, w.run.ID, round.Number)
		body, err := round.Codec().Encode(nil, x, round.Seed(nullifier), receipt.None(), noise.NewSeeded(round.Number<<8|uint64(i)))
		w.check(err)
		sealed, err := round.Seal(body, key)
		w.check(err)
		answer, err := m.reports.Upload(w.t.Context(), round.Request(sealed, key, permit.GetPermit()))
		if w.check(err); answer.GetVerdict() != fleetv1.Verdict_VERDICT_ACCEPTED {
			w.t.Fatal(answer)
		}
		out = append(out, sentReport{nullifier[:], body})
	}
	closed, err := w.operator.CloseRound(w.t.Context(), &fleetv1.CloseRoundRequest{Round: round.Number})
	if w.check(err); closed.GetRound().GetState() < fleetv1.RoundState_ROUND_STATE_APPLIED {
		w.t.Fatal(closed)
	}
	return out
}

// write is the transcript as it is now.
func (w *world) write(reports bool) []byte {
	w.t.Helper()
	specs, err := w.runs.GetRun(w.t.Context(), &fleetv1.GetRunRequest{})
	w.check(err)
	var b bytes.Buffer
	_, _, err = transcript.Write(w.t.Context(), &b, w.operator, specs.GetSpecs(), nil, reports)
	w.check(err)
	return b.Bytes()
}

// verify checks a transcript.
func (w *world) verify(text []byte) (transcript.Found, []transcript.Version, error) {
	var all []transcript.Version
	found, err := transcript.Verify(bytes.NewReader(text), w.root.Public().(ed25519.PublicKey), func(v transcript.Version) error {
		all = append(all, v)
		return nil
	})
	return found, all, err
}
