package train_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"github.com/discreet-rl/discreet/dp/noise"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/local"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/train"
)

func TestRetrySendsTheSameBytes(t *testing.T) {
	terms := small(train.PrivUnit)
	agg := aggregator(t, terms, train.Options{})
	a := agent(t, terms.Randomizer, 1e3, 1)
	task := agg.Issue(0)
	first := answer(t, a, task)
	for range 3 {
		if again := answer(t, a, task); !bytes.Equal(again, first) {
			t.Fatal("a retry sent other bytes: two reports on one slot for the price of one")
		}
	}
	if b := must(a.Wallet.Spent(context.Background()))(t); b.Epsilon != 2 {
		t.Errorf("epsilon %v spent on one report of 2", b.Epsilon)
	}
	if bytes.Equal(answer(t, a, agg.Issue(0))[41:], first[41:]) {
		t.Error("another slot got the same body: noise was not drawn afresh")
	}
}

func TestBudgetEndsAnAgentsReports(t *testing.T) {
	for _, reports := range []int{1, 2, 3, 7, 10, 1000} {
		const total = 1.7
		terms := small(train.SignPRS)
		terms.Randomizer.Epsilon = train.Share(total, reports)
		agg := aggregator(t, terms, train.Options{})
		a := agent(t, terms.Randomizer, total, 1)
		made := 0
		for {
			task := agg.Issue(0)
			_, err := try(a, task)
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
	terms := small(train.SignPRS)
	agg := aggregator(t, terms, train.Options{})
	a := agent(t, terms.Randomizer, 1e3, 1)
	wallet := a.Wallet
	task := agg.Issue(0)
	a.Wallet = crash{wallet}
	if _, err := try(a, task); !errors.Is(err, errCrash) {
		t.Fatalf("%v; want the crash", err)
	}
	a.Wallet = wallet
	if _, err := try(a, task); !errors.Is(err, train.ErrForfeited) {
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
		terms := small(m)
		if m != train.SignPRS && m != train.PrivUnit {
			terms.Randomizer.Clip = 1
		}
		agg := aggregator(t, terms, train.Options{})
		a := agent(t, terms.Randomizer, 2, 1)
		w := &recorder{Wallet: a.Wallet}
		a.Wallet = w
		report := answer(t, a, agg.Issue(0))
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
	terms := small(train.SignPRS)
	agg := aggregator(t, terms, train.Options{})
	a := agent(t, terms.Randomizer, 1e6, 1)
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
		if _, err := try(a, task); !errors.Is(err, train.ErrTask) {
			t.Errorf("%s: %v; want ErrTask", name, err)
		}
	}
	if b := must(a.Wallet.Spent(context.Background()))(t); b.Epsilon != 0 {
		t.Errorf("refused tasks cost epsilon %v", b.Epsilon)
	}
	task := agg.Issue(0)
	a.Wallet = nil
	if _, err := try(a, task); !errors.Is(err, train.ErrTask) {
		t.Errorf("no wallet: %v; want ErrTask", err)
	}
}

// TestAgentRefusesOtherWeights than those that the task names, before it trains and
// without a debit.
func TestAgentRefusesOtherWeights(t *testing.T) {
	terms := small(train.SignPRS)
	agg := aggregator(t, terms, train.Options{})
	a := agent(t, terms.Randomizer, 1e6, 1)
	theta := make([]float64, 8)
	agg.Theta(theta)
	task := agg.Issue(0)
	if err := a.Accept(&task, theta); err != nil {
		t.Fatal(err)
	}
	spoilt := slices.Clone(theta)
	spoilt[7] = math.Copysign(0, -1) // equal as a number
	for name, given := range map[string][]float64{"another weight": spoilt, "fewer": theta[:7], "more": append(slices.Clone(theta), 0), "none": nil} {
		if err := a.Accept(&task, given); !errors.Is(err, train.ErrTask) {
			t.Errorf("%s: %v; want ErrTask", name, err)
		}
	}
	other := task
	other.Weights[31] ^= 1
	if err := a.Accept(&other, theta); !errors.Is(err, train.ErrTask) {
		t.Errorf("another hash: %v; want ErrTask", err)
	}
	if b := must(a.Wallet.Spent(context.Background()))(t); b.Epsilon != 0 {
		t.Errorf("refused tasks cost epsilon %v", b.Epsilon)
	}
}

// TestWeightsHaveOneHash of the bytes that the documentation says.
func TestWeightsHaveOneHash(t *testing.T) {
	want := sha256.Sum256([]byte("discreet weights 1\x00\x00\x00\x00\x00\x00\x00\xf0\x3f\x00\x00\x00\x00\x00\x00\x00\xc0"))
	if got := train.HashWeights([]float64{1, -2}); got != want {
		t.Errorf("%x; want %x", got, want)
	}
}

// TestTasksNameTheWeightsOfTheirVersion, also those that are issued again.
func TestTasksNameTheWeightsOfTheirVersion(t *testing.T) {
	terms := small(train.SignPRS)
	agg := aggregator(t, terms, train.Options{})
	a := agent(t, terms.Randomizer, 1e6, 1)
	theta := make([]float64, 8)
	for range 10 {
		agg.Theta(theta)
		task := agg.Issue(77)
		if task.Weights != train.HashWeights(theta) {
			t.Fatalf("version %d: not the hash of its weights", task.Version)
		}
		if again := agg.Reissue(task.Slot, task.Version, 77, theta); again != task {
			t.Fatalf("issued again: %+v; want %+v", again, task)
		}
		task.Deadline, task.Token = 0, agg.Reissue(task.Slot, task.Version, 0, theta).Token
		submit(t, agg, answer(t, a, task), train.Accepted)
		restored := must(train.RestoreAggregator(must(agg.Snapshot())(t), train.Options{KnowsTasks: true}))(t)
		if next, should := restored.Issue(0), agg.Reissue(task.Slot+1, agg.Status().Version, 0, weights(agg)); next != should {
			t.Fatalf("after a restore: %+v; want %+v", next, should)
		}
	}
}

func weights(a *train.Aggregator) []float64 {
	theta := make([]float64, a.Terms().Dim)
	a.Theta(theta)
	return theta
}

// TestCodecWantsToBePaid for each body, once.
func TestCodecWantsToBePaid(t *testing.T) {
	c := must(train.NewCodec(train.Randomizer{Mechanism: train.SignPRS, Epsilon: 2}, 8))(t)
	x, src, paid := learned(c), noise.NewSeeded(1), receipt.None()
	if _, err := c.Encode(nil, x, local.Seed{}, nil, src); !errors.Is(err, receipt.ErrInvalid) {
		t.Errorf("no receipt: %v; want ErrInvalid", err)
	}
	if body, err := c.Encode(nil, x, local.Seed{}, paid, src); err != nil || len(body) != c.Size() {
		t.Errorf("%d bytes, %v; want %d", len(body), err, c.Size())
	}
	if _, err := c.Encode(nil, x, local.Seed{}, paid, src); !errors.Is(err, receipt.ErrInvalid) {
		t.Errorf("a receipt used twice: %v; want ErrInvalid", err)
	}
}

// TestVectorsOfAnotherLengthCostNothing: they are a mistake of the caller.
func TestVectorsOfAnotherLengthCostNothing(t *testing.T) {
	terms := small(train.SignPRS)
	a := agent(t, terms.Randomizer, 1e6, 1)
	task := aggregator(t, terms, train.Options{}).Issue(0)
	for _, n := range []int{0, 1, 7, 9} {
		if _, err := a.Report(context.Background(), &task, make([]float64, n)); !errors.Is(err, train.ErrTask) {
			t.Errorf("%d numbers: %v; want ErrTask", n, err)
		}
	}
	if b := must(a.Wallet.Spent(context.Background()))(t); b.Epsilon != 0 {
		t.Errorf("refused vectors cost epsilon %v", b.Epsilon)
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
		copy(task.Weights[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(r, "weights"))
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
	terms := small(train.SignPRS)
	task := aggregator(t, terms, train.Options{}).Issue(77)
	data := must(task.AppendBinary(nil))(t)
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
