package train_test

import (
	"bytes"
	"errors"
	"math"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/train"
)

func TestEveryVerdict(t *testing.T) {
	terms := small(train.SignPRS)
	now := time.Unix(1000, 0)
	agg := aggregator(t, terms, train.Options{Now: func() time.Time { return now }})
	a := agent(t, terms.Randomizer, 1000, 1)
	a.Now = func() time.Time { return time.Unix(900, 0) }
	tasks := make([]train.Task, 12)
	for i := range tasks {
		tasks[i] = agg.Issue(0)
	}
	late := agg.Issue(999)
	report := answer(t, a, tasks[0])
	submit(t, agg, report, train.Accepted)
	submit(t, agg, report, train.Duplicate)
	other := bytes.Clone(report)
	other[len(other)-1] ^= 1 // another body of the right form
	submit(t, agg, other, train.Spent)
	submit(t, agg, report[1:], train.Malformed)
	submit(t, agg, nil, train.Malformed)
	broken := answer(t, a, tasks[1])
	broken[len(broken)-1] = 2 // a bit beyond those that a report has
	submit(t, agg, broken, train.Malformed)
	for at := 1; at < 41; at++ { // slot, version, deadline and token are authenticated
		forged := answer(t, a, tasks[1])
		forged[at] ^= 1
		submit(t, agg, forged, train.Forged)
	}
	submit(t, agg, answer(t, a, late), train.Late)
	for _, task := range tasks[1:4] {
		submit(t, agg, answer(t, a, task), train.Accepted)
	}
	if v := agg.Status().Version; v != 1 {
		t.Fatalf("version %d after a full buffer; want 1", v)
	}
	for _, task := range tasks[4:8] { // one version behind is admitted
		submit(t, agg, answer(t, a, task), train.Accepted)
	}
	submit(t, agg, answer(t, a, tasks[8]), train.Stale)
	c := agg.Status().Counts
	if c.Of(train.Forged) != 40 || c.Of(train.Accepted) != 8 || c.Of(train.Malformed) != 3 || c.Rejected() != 46 {
		t.Errorf("counts %v", c)
	}
	for agg.Status().Accepted < terms.Submissions {
		submit(t, agg, answer(t, a, agg.Issue(0)), train.Accepted)
	}
	submit(t, agg, answer(t, a, agg.Issue(0)), train.Closed)
}

// TestRejectedReportsChangeNothing feeds arbitrary bytes, and reports that were
// changed in one place.
func TestRejectedReportsChangeNothing(t *testing.T) {
	terms := small(train.PrivUnit)
	rapid.Check(t, func(r *rapid.T) {
		agg := aggregator(t, terms, train.Options{})
		a := agent(t, terms.Randomizer, 1000, 1)
		good := answer(t, a, agg.Issue(0))
		bad := bytes.Clone(good)
		if rapid.Bool().Draw(r, "arbitrary") {
			bad = rapid.SliceOfN(rapid.Byte(), 0, 2*len(good)).Draw(r, "bytes")
		} else {
			at := rapid.IntRange(0, 41).Draw(r, "at") // up to the first byte of the body
			bad[at] ^= rapid.ByteRange(1, 255).Draw(r, "flip")
		}
		before := make([]float64, 8)
		agg.Theta(before)
		if v, err := agg.Submit(bad); err != nil || v != train.Malformed && v != train.Forged {
			r.Fatalf("%v, %v", v, err)
		}
		submit(t, agg, good, train.Accepted)
		s := agg.Status()
		if s.Accepted != 1 || s.InBuffer != 1 || s.Counts.Rejected() != 1 {
			r.Fatalf("%+v", s)
		}
	})
}

// TestLogRebuildsTheWeights replays the log of accepted reports into an aggregator
// that was begun alike.
func TestLogRebuildsTheWeights(t *testing.T) {
	for _, kind := range []string{"sgd", "momentum", "adam"} {
		terms := small(train.PrivUnit)
		terms.Optimizer.Kind, terms.Growth = kind, .2
		terms.Influence = train.Influence{Norm: 3}
		secret, seed := [32]byte{1}, [32]byte{2}
		var log bytes.Buffer
		agg := aggregator(t, terms, train.Options{Secret: &secret, RunSeed: &seed, Log: &log})
		a := agent(t, terms.Randomizer, 1000, 1)
		theta := make([]float64, 8)
		for range 60 {
			task := agg.Issue(0)
			agg.Theta(theta)
			if err := a.Accept(&task, theta); err != nil {
				t.Fatal(err)
			}
			report := answer(t, a, task)
			submit(t, agg, report, train.Accepted)
			submit(t, agg, report, train.Duplicate) // not logged again
		}
		again := aggregator(t, terms, train.Options{Secret: &secret, RunSeed: &seed})
		for log.Len() > 0 {
			submit(t, again, log.Next(agg.ReportSize()), train.Accepted)
		}
		got := make([]float64, 8)
		if v, w := again.Theta(got), agg.Theta(theta); v != w || v == 0 {
			t.Fatalf("%s: version %d; want %d", kind, v, w)
		}
		for i := range got {
			if math.Float64bits(got[i]) != math.Float64bits(theta[i]) {
				t.Fatalf("%s: weight %d is %v; want %v", kind, i, got[i], theta[i])
			}
		}
	}
}

// TestSnapshotGoesOnBitForBit restores at every report and sends the rest to both.
func TestSnapshotGoesOnBitForBit(t *testing.T) {
	terms := small(train.PrivUnit)
	terms.Optimizer.Kind, terms.Growth, terms.Influence = "adam", .2, train.Influence{Norm: 3}
	agg := aggregator(t, terms, train.Options{})
	a := agent(t, terms.Randomizer, 1000, 1)
	var other *train.Aggregator
	want, got := make([]float64, 8), make([]float64, 8)
	for range 40 {
		other = must(train.RestoreAggregator(must(agg.Snapshot())(t), train.Options{}))(t)
		task := agg.Issue(0)
		if next := other.Issue(0); next.Run != task.Run || next.Slot != task.Slot+1<<16 || next.Version != task.Version || next.Token == task.Token {
			t.Fatalf("the next task is %+v; want another than %+v, 65536 slots later", next, task)
		}
		report := answer(t, a, task)
		submit(t, agg, report, train.Accepted)
		submit(t, other, report, train.Accepted)
		submit(t, agg, report, train.Duplicate)
		submit(t, other, report, train.Duplicate)
		if v, w := other.Theta(got), agg.Theta(want); v != w {
			t.Fatalf("version %d; want %d", v, w)
		}
		for i := range got {
			if math.Float64bits(got[i]) != math.Float64bits(want[i]) {
				t.Fatalf("weight %d is %v; want %v", i, got[i], want[i])
			}
		}
	}
	is, should := other.Status(), agg.Status()
	if should.Issued += 1 << 16; is != should || is.Version == 0 {
		t.Errorf("%+v; want %+v", is, should)
	}
}

func TestSpoiltSnapshotsAreRefused(t *testing.T) {
	terms := small(train.SignPRS)
	data := must(aggregator(t, terms, train.Options{}).Snapshot())(t)
	for name, change := range map[string][2]string{
		"schema": {"aggregator/v1", "aggregator/v2"}, "buffer": {`"buffer":4`, `"buffer":0`},
		"weights": {`"theta":[0,`, `"theta":[`}, "sum": {`"sum":[0,`, `"sum":[`}, "end": {"}}", "}"},
		"accepted": {`"accepted":0`, `"accepted":7`}, "too many": {`"issued":0,"accepted":0`, `"issued":2305843009213693953,"accepted":2305843009213693953`}, "run": {`"run":[`, `"run":[1,`},
	} {
		spoilt := bytes.Replace(data, []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(spoilt, data) {
			t.Fatalf("%s: nothing to spoil in %s", name, data)
		}
		if _, err := train.RestoreAggregator(spoilt, train.Options{}); !errors.Is(err, train.ErrState) {
			t.Errorf("%s: %v; want ErrState", name, err)
		}
	}
}

type fullDisk struct{}

var errFull = errors.New("disk full")

func (fullDisk) Write([]byte) (int, error) { return 0, errFull }

func TestReportThatCannotBeLoggedDoesNotCount(t *testing.T) {
	terms := small(train.SignPRS)
	agg := aggregator(t, terms, train.Options{Log: fullDisk{}})
	report := answer(t, agent(t, terms.Randomizer, 10, 1), agg.Issue(0))
	for range 2 { // and the aggregator stays closed
		if _, err := agg.Submit(report); !errors.Is(err, errFull) {
			t.Fatalf("%v; want the log's error", err)
		}
	}
	if n := agg.Status().Accepted; n != 0 {
		t.Errorf("%d reports count; want none", n)
	}
}

// plain is a report that is not randomised.
func plain(t testing.TB, task train.Task, x []float64) []byte {
	t.Helper()
	body := []byte{0x1f}
	for _, v := range x {
		bits := math.Float64bits(v)
		for k := range 8 {
			body = append(body, byte(bits>>(8*k)))
		}
	}
	r := train.Report{Slot: task.Slot, Version: task.Version, Deadline: task.Deadline, Token: task.Token, Body: body}
	return must(r.AppendBinary(nil))(t)
}

func TestReportsThatAreNotFiniteAreRejected(t *testing.T) {
	terms := train.Terms{Dim: 2, Randomizer: train.Randomizer{Mechanism: train.NotPrivate}, Submissions: 10,
		Optimizer: train.Optimizer{Kind: "sgd", Step: 1}, Buffer: 1, Staleness: -1}
	agg := aggregator(t, terms, train.Options{})
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		submit(t, agg, plain(t, agg.Issue(0), []float64{1, bad}), train.Malformed)
	}
	task := agg.Issue(0)
	if _, err := agg.Submit(plain(t, task, []float64{math.MaxFloat64, 0})); err != nil {
		t.Fatal(err)
	}
	if _, err := agg.Submit(plain(t, agg.Issue(0), []float64{math.MaxFloat64, 0})); !errors.Is(err, train.ErrDiverged) {
		t.Errorf("weights beyond all bounds: %v; want ErrDiverged", err)
	}
}

func TestTermsOutOfRangeAreRefused(t *testing.T) {
	good := small(train.SignPRS)
	for name, spoil := range map[string]func(*train.Terms){
		"no weights":    func(t *train.Terms) { t.Dim = 0 },
		"no reports":    func(t *train.Terms) { t.Submissions = 0 },
		"no buffer":     func(t *train.Terms) { t.Buffer = 0 },
		"growth":        func(t *train.Terms) { t.Growth = math.NaN() },
		"step":          func(t *train.Terms) { t.Optimizer.Step = math.Inf(1) },
		"optimizer":     func(t *train.Terms) { t.Optimizer.Kind = "newton" },
		"momentum":      func(t *train.Terms) { t.Optimizer.Momentum = 1 },
		"mechanism":     func(t *train.Terms) { t.Randomizer.Mechanism = "hope" },
		"epsilon":       func(t *train.Terms) { t.Randomizer.Epsilon = 0 },
		"clip":          func(t *train.Terms) { t.Randomizer = train.Randomizer{Mechanism: train.Laplace, Epsilon: 1} },
		"influence":     func(t *train.Terms) { t.Influence.Norm = -1 },
		"printed scale": func(t *train.Terms) { t.Printed = true },
	} {
		terms := good
		spoil(&terms)
		if _, err := train.NewAggregator(terms, make([]float64, terms.Dim), train.Options{}); !errors.Is(err, train.ErrConfig) {
			t.Errorf("%s: %v; want ErrConfig", name, err)
		}
	}
	if _, err := train.NewAggregator(good, []float64{1, 2, 3, 4, 5, 6, 7, math.NaN()}, train.Options{}); !errors.Is(err, train.ErrConfig) {
		t.Errorf("weights that are not finite: %v; want ErrConfig", err)
	}
}

// BenchmarkIngest reads sign-PRS reports of the paper's 112 weights.
func BenchmarkIngest(b *testing.B) {
	for _, m := range []train.Mechanism{train.SignPRS, train.PrivUnit, train.Laplace} {
		b.Run(string(m), func(b *testing.B) {
			terms := train.Terms{Dim: 112, Randomizer: train.Randomizer{Mechanism: m, Epsilon: 1}, Submissions: math.MaxUint64,
				Optimizer: train.Optimizer{Kind: "momentum", Step: .3}, Buffer: 50, Staleness: 1000}
			if m == train.Laplace {
				terms.Randomizer.Clip = .01
			}
			agg := aggregator(b, terms, train.Options{})
			a := &train.Agent{Codec: must(train.NewCodec(terms.Randomizer, 112))(b), Noise: noise.NewSeeded(1)}
			a.Wallet = must(train.NewMemoryWallet(dp.Budget{Epsilon: 1}))(b)
			report, err := try(a, agg.Issue(0))
			if err != nil {
				b.Fatal(err)
			}
			body := bytes.Clone(report[41:])
			data := make([]byte, 0, len(report))
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				t := agg.Issue(0) // a fresh token; its cost is part of the figure
				r := train.Report{Slot: t.Slot, Version: t.Version, Deadline: t.Deadline, Token: t.Token, Body: body}
				if data, err = r.AppendBinary(data[:0]); err != nil {
					b.Fatal(err)
				}
				if v, err := agg.Submit(data); v != train.Accepted || err != nil {
					b.Fatal(v, err)
				}
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "reports/s")
		})
	}
}
