package train_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"math"
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/local"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
)

func TestRetrySendsTheSameBytes(t *testing.T) {
	terms, l := linear(train.PrivUnit)
	agg := aggregator(t, terms, train.Options{})
	a := agent(t, l, terms.Randomizer, 1e3, 1)
	task := agg.Issue(0)
	first := answer(t, a, task, 8)
	for range 3 {
		if again := answer(t, a, task, 8); !bytes.Equal(again, first) {
			t.Fatal("a retry sent other bytes: two reports on one slot for the price of one")
		}
	}
	if b := must2(a.Wallet.Spent(context.Background()))(t); b.Epsilon != 2 {
		t.Errorf("epsilon %v spent on one report of 2", b.Epsilon)
	}
	if bytes.Equal(answer(t, a, agg.Issue(0), 8)[41:], first[41:]) {
		t.Error("another slot got the same body: noise was not drawn afresh")
	}
}

func TestBudgetEndsAnAgentsReports(t *testing.T) {
	for _, reports := range []int{1, 2, 3, 7, 10, 1000} {
		const total = 1.7
		terms, l := linear(train.SignPRS)
		terms.Randomizer.Epsilon = train.Share(total, reports)
		agg := aggregator(t, terms, train.Options{})
		a := agent(t, l, terms.Randomizer, total, 1)
		made := 0
		for {
			task := agg.Issue(0)
			_, _, err := a.Answer(context.Background(), &task, make([]float64, 8))
			if errors.Is(err, train.ErrBudget) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			made++
		}
		if made != reports {
			t.Errorf("%d reports at epsilon %v of %v; want %d", made, terms.Randomizer.Epsilon, total, reports)
		}
		if waste := 1 - float64(reports)*terms.Randomizer.Epsilon/total; waste < 0 || waste > 1e-11 {
			t.Errorf("%d shares leave %v of the total unused; want next to none", reports, waste)
		}
	}
}

// crash is a wallet whose process ends before a report is kept.
type crash struct{ train.Wallet }

var errCrash = errors.New("power cut")

func (crash) Keep(context.Context, uint64, *receipt.Receipt, []byte) error { return errCrash }

func TestPaidSlotIsForfeitedByACrash(t *testing.T) {
	terms, l := linear(train.SignPRS)
	agg := aggregator(t, terms, train.Options{})
	a := agent(t, l, terms.Randomizer, 1e3, 1)
	wallet := a.Wallet
	task := agg.Issue(0)
	a.Wallet = crash{wallet}
	if _, _, err := a.Answer(context.Background(), &task, make([]float64, 8)); !errors.Is(err, errCrash) {
		t.Fatalf("%v; want the crash", err)
	}
	a.Wallet = wallet
	if _, _, err := a.Answer(context.Background(), &task, make([]float64, 8)); !errors.Is(err, train.ErrForfeited) {
		t.Errorf("%v; want ErrForfeited: noise must not be drawn twice under one debit", err)
	}
}

// recorder notes the order in which a wallet is used.
type recorder struct {
	train.Wallet
	calls []string
	kept  []byte
}

func (w *recorder) Debit(ctx context.Context, slot uint64, e dp.Event) (*receipt.Receipt, []byte, error) {
	w.calls = append(w.calls, "debit")
	if e != (dp.ApproximateDP{Epsilon: 2}) {
		w.calls = append(w.calls, "of another event")
	}
	return w.Wallet.Debit(ctx, slot, e)
}

func (w *recorder) Keep(ctx context.Context, slot uint64, r *receipt.Receipt, report []byte) error {
	w.calls = append(w.calls, "keep")
	w.kept = bytes.Clone(report)
	if r.Redeem(dp.ReplaceOne, dp.ApproximateDP{Epsilon: 2}) == nil {
		w.calls = append(w.calls, "before the receipt was redeemed")
	}
	return w.Wallet.Keep(ctx, slot, r, report)
}

func TestReportIsPaidForAndKeptBeforeItLeaves(t *testing.T) {
	for _, m := range []train.Mechanism{train.Laplace, train.PRS, train.SignPRS, train.PrivUnit, train.Ball, train.Piecewise, train.Hybrid} {
		terms, l := linear(m)
		if m != train.SignPRS && m != train.PrivUnit {
			terms.Randomizer.Clip = 1
		}
		agg := aggregator(t, terms, train.Options{})
		a := agent(t, l, terms.Randomizer, 2, 1)
		w := &recorder{Wallet: a.Wallet}
		a.Wallet = w
		report := answer(t, a, agg.Issue(0), 8)
		if len(w.calls) != 2 || w.calls[0] != "debit" || w.calls[1] != "keep" || !bytes.Equal(w.kept, report) {
			t.Errorf("%s: %q, kept what was sent: %v", m, w.calls, bytes.Equal(w.kept, report))
		}
		if len(report) != agg.ReportSize() {
			t.Errorf("%s: %d bytes; want %d", m, len(report), agg.ReportSize())
		}
		submit(t, agg, report, train.Accepted)
	}
}

func TestAgentRefusesWhatItDidNotAgreeTo(t *testing.T) {
	terms, l := linear(train.SignPRS)
	agg := aggregator(t, terms, train.Options{})
	a := agent(t, l, terms.Randomizer, 1e6, 1)
	for name, spoil := range map[string]func(*train.Task){
		"more epsilon":         func(t *train.Task) { t.Randomizer.Epsilon = 60 },
		"no protection":        func(t *train.Task) { t.Randomizer.Mechanism = train.NotPrivate },
		"another randomiser":   func(t *train.Task) { t.Randomizer.Mechanism = train.PrivUnit },
		"a clip":               func(t *train.Task) { t.Randomizer.Clip = 1 },
		"more rows":            func(t *train.Task) { t.Randomizer.Rows = 8 },
		"another dimension":    func(t *train.Task) { t.Dim = 9 },
		"epsilon not a number": func(t *train.Task) { t.Randomizer.Epsilon = math.NaN() },
	} {
		task := agg.Issue(0)
		spoil(&task)
		if _, _, err := a.Answer(context.Background(), &task, make([]float64, 8)); !errors.Is(err, train.ErrTask) {
			t.Errorf("%s: %v; want ErrTask", name, err)
		}
	}
	if b := must2(a.Wallet.Spent(context.Background()))(t); b.Epsilon != 0 {
		t.Errorf("refused tasks cost epsilon %v", b.Epsilon)
	}
	task := agg.Issue(0)
	a.Wallet = nil
	if _, _, err := a.Answer(context.Background(), &task, make([]float64, 8)); !errors.Is(err, train.ErrTask) {
		t.Errorf("no wallet: %v; want ErrTask", err)
	}
}

// TestOverflowingWeightsGiveAUniformReport: values at weights that overflow are not
// numbers, and so are gradients; a report on them must be one on zero, or its bits
// would not be random.
func TestOverflowingWeightsGiveAUniformReport(t *testing.T) {
	terms, l := linear(train.SignPRS)
	l.Method, l.Network.Value, terms.Dim = train.ActorCritic, true, 12
	l.ActorCritic = learn.ActorCritic{Gamma: .95, ValueWeight: .5}
	terms.Randomizer.Epsilon = 20 // eight bits: a truth that is heard
	for name, weight := range map[string]float64{"NaN": math.NaN(), "infinite": math.Inf(1), "none": 0} {
		agg := aggregator(t, terms, train.Options{})
		a := agent(t, l, terms.Randomizer, 1e6, 7)
		theta := make([]float64, 12)
		for i := range theta {
			theta[i] = weight
		}
		ones, seen := 0, map[byte]bool{}
		for range 500 {
			task := agg.Issue(0)
			task.Seed = local.Seed{1} // the same projection every time
			report, _, err := a.Answer(context.Background(), &task, theta)
			if err != nil {
				t.Fatal(err)
			}
			b := report[len(report)-1]
			seen[b] = true
			ones += bits.OnesCount8(b)
		}
		// 4000 fair coins: six standard deviations are 190. Of 256 bodies 500 draws
		// miss 36 on average; more than 100 with probability below 1e-20.
		fair := math.Abs(float64(ones)-2000) < 190 && len(seen) > 156
		if fair != (name != "none") {
			t.Errorf("weights %s: %d of 4000 bits are set, %d bodies; fair coins are wanted where weights overflow, and only there", name, ones, len(seen))
		}
	}
}

func TestTaskEncodingIsTheOnlyOne(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		task := train.Task{
			Slot: rapid.Uint64().Draw(r, "slot"), Version: rapid.Uint64().Draw(r, "version"), Deadline: rapid.Int64().Draw(r, "deadline"),
			Dim: rapid.IntRange(0, math.MaxInt32).Draw(r, "dim"),
			Randomizer: train.Randomizer{
				Mechanism: rapid.SampledFrom([]train.Mechanism{train.Laplace, train.PRS, train.SignPRS, train.PrivUnit, train.OneBit, train.NotPrivate}).Draw(r, "mechanism"),
				Epsilon:   rapid.Float64().Draw(r, "epsilon"), Clip: rapid.Float64().Draw(r, "clip"), Rows: rapid.IntRange(0, math.MaxInt32).Draw(r, "rows"),
			},
		}
		copy(task.Seed[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(r, "seed"))
		copy(task.Token[:], rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(r, "token"))
		data, err := task.AppendBinary(nil)
		if err != nil {
			r.Fatal(err)
		}
		back, err := train.ParseTask(data)
		if err != nil || back != task {
			r.Fatalf("%+v, %v; want %+v", back, err, task)
		}
		at := rapid.IntRange(0, len(data)-1).Draw(r, "at")
		data[at] ^= rapid.ByteRange(1, 255).Draw(r, "flip")
		if changed, err := train.ParseTask(data); err == nil && changed == task {
			r.Fatalf("byte %d says nothing", at)
		}
	})
}

func TestOnlySignedTasksAreRead(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	terms, _ := linear(train.SignPRS)
	task := aggregator(t, terms, train.Options{}).Issue(77)
	data := must2(task.AppendBinary(nil))(t)
	signature := train.SignTask(private, data)
	if got, err := train.VerifyTask(public, data, signature); err != nil || got != task {
		t.Fatalf("%+v, %v; want %+v", got, err, task)
	}
	for at := range data {
		data[at] ^= 1
		if _, err := train.VerifyTask(public, data, signature); !errors.Is(err, train.ErrTask) {
			t.Fatalf("byte %d changed: %v; want ErrTask", at, err)
		}
		data[at] ^= 1
	}
	if _, err := train.VerifyTask(public, data, ed25519.Sign(private, data)); !errors.Is(err, train.ErrTask) {
		t.Errorf("a signature made for another purpose: %v; want ErrTask", err)
	}
	if _, err := train.VerifyTask(nil, data, signature); !errors.Is(err, train.ErrTask) {
		t.Errorf("no key: %v; want ErrTask", err)
	}
}
