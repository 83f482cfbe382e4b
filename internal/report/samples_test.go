package report_test

import (
	"bytes"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/dp/ledger/chain"
	"github.com/discreet-rl/discreet/internal/report"
)

// The releases here are made by hand: package report must render any release
// that its JSON form can hold, not only those that today's estimators make.

func statement() *evaluate.Statement {
	return &evaluate.Statement{
		Unit: "person", Adjacency: dp.ReplaceOne, Epsilon: 1, Delta: 1e-5,
		Accountant: "gaussian", Accounted: account.Bracket{Lower: 0.9999, Upper: 1},
		Event: dp.Gaussian{NoiseMultiplier: 7.5}, Noise: "exact", Charged: true,
	}
}

func ledgerEntry() *evaluate.LedgerEntry {
	return &evaluate.LedgerEntry{
		Stamp: receipt.Stamp{
			Ledger: strings.Repeat("0e", 16), Dataset: "trial", Seq: 7, Entry: chain.Hash(bytes.Repeat([]byte{10}, 32)),
			Head: chain.Head{Seq: 7, Hash: chain.Hash(bytes.Repeat([]byte{11}, 32))},
		},
		Time: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), Key: "k-1", Analyst: "ada", Purpose: "first look",
		Rule: "gaussian", Budget: dp.Budget{Epsilon: 3, Delta: 1e-5}, Spent: dp.Budget{Epsilon: 1.234567, Delta: 1e-5},
		Shares: evaluate.Shares{Part: "rule", Before: 0.125, This: 0.25, Left: 0.625},
	}
}

func scalarRelease() *evaluate.Release {
	return &evaluate.Release{
		Ledger: ledgerEntry(),
		Schema: evaluate.ReleaseSchema,
		Method: "dp-is",
		Answers: []evaluate.PolicyAnswer{{Name: "value", Kind: evaluate.OfPolicy, Estimate: &evaluate.Estimate{
			Value: 0.51237, Interval: [2]float64{0.41441, 0.61033}, Confidence: 0.95,
			StdSampling: 0.04, Sampling: evaluate.Paid, StdPrivacy: 0.03,
		}}},
		Privacy: statement(),
		Public: map[string]any{
			"gamma": 0.99, "persons": int64(1312), "horizon": int64(200),
			"return": evaluate.Range{Min: 0, Max: 2}, "clip": evaluate.Range{Min: -3, Max: 20},
		},
		Expected: evaluate.Expected{StdPrivacy: 0.031, StdSampling: 0.0873, HalfWidth: 0.1817, Constant: 1},
		Notes:    []string{"A note of the method."},
	}
}

func functionRelease(states int) *evaluate.Release {
	r := scalarRelease()
	r.Method, r.Answers = "dp-lsw", nil
	r.Privacy.Event = dp.SmoothGaussian{Alpha: 24.7, Beta: 0.0078, Dimension: states}
	r.Expected = evaluate.Expected{RMSE: 0.041, Constant: 1}
	r.Values = make([]float64, states)
	for i := range r.Values {
		r.Values[i] = 1 + math.Sin(float64(i))
	}
	r.Theta = r.Values
	return r
}

func constantRelease() *evaluate.Release {
	r := scalarRelease()
	r.Method = "constant"
	r.Answers[0].Estimate = &evaluate.Estimate{Value: 1, Interval: [2]float64{0, 2}, Confidence: 1, Sampling: evaluate.NoSampling}
	r.Privacy.Event, r.Privacy.Accounted = dp.ApproximateDP{}, account.Bracket{}
	r.Expected = evaluate.Expected{Constant: 1}
	return r
}

func referenceRelease() *evaluate.Release {
	r := scalarRelease()
	r.Method, r.Privacy, r.Ledger, r.Expected, r.Notes = "is", nil, nil, evaluate.Expected{}, nil
	r.Answers[0].Estimate.Sampling, r.Answers[0].Estimate.StdPrivacy = evaluate.NotPrivate, 0
	r.Public = map[string]any{"gamma": 1.0}
	return r
}

func emptyRelease() *evaluate.Release {
	return &evaluate.Release{Schema: evaluate.ReleaseSchema, Method: "is"}
}

func thetaRelease() *evaluate.Release {
	r := functionRelease(7)
	r.Method, r.Values = "gpope", nil
	return r
}

func disclosure() *evaluate.Disclosure {
	return &evaluate.Disclosure{
		Definition: "definition-words", Model: "model-words", DataDomain: "domain-words", Unit: "unit-words", Unprotected: []string{"first gap", "second gap"},
		Mechanisms:  []evaluate.MechanismUse{{Kind: "gaussian", Runs: 1}, {Kind: "laplace", Runs: 40}},
		Composition: "composition-words", PostProcessing: "post-words", Preparation: "preparation-words", Tuning: "tuning-words",
		FloatingPoint: "floating-words", Randomness: "randomness-words", Timing: "timing-words", Actors: "actors-words", Series: "series-words", Security: "security-words",
		Justification: "justification-words", CodeVersion: "v-words", ConfigHash: strings.Repeat("0d", 32),
	}
}

// samples are releases of every shape.
func samples() map[string]*evaluate.Release {
	diagnostics := scalarRelease()
	diagnostics.Answers[0].Diagnostics = map[string]any{"effective_persons": 801.25, "share": map[string]any{"kind": "paid", "of": []int{1, 2, 3}}}
	addRemove := scalarRelease()
	addRemove.Privacy.Adjacency, addRemove.Privacy.Seeded, addRemove.Privacy.Noise = dp.AddRemoveOne, true, "fast"
	pure := scalarRelease()
	pure.Privacy.Delta, pure.Privacy.Event = 0, dp.Laplace{NoiseMultiplier: 2}
	deep := scalarRelease()
	deep.Privacy.Event = dp.SelfComposed{Count: 3, Event: dp.PoissonSampled{Rate: 0.01, Event: dp.Composed{Events: []dp.Event{
		dp.Gaussian{NoiseMultiplier: 1}, dp.Gaussian{NoiseMultiplier: 1}, dp.RandomizedResponse{Buckets: 4, NoiseParameter: 0.5},
	}}}}
	uncharged := scalarRelease()
	uncharged.Privacy.Charged, uncharged.Ledger = false, nil
	reviewed := scalarRelease()
	reviewed.Disclosure = disclosure()
	reviewed.Signature = &evaluate.Signature{Algorithm: "ed25519", KeyID: "sha256:" + strings.Repeat("0c", 32), Value: strings.Repeat("A", 86) + "=="}
	out := map[string]*evaluate.Release{
		"uncharged": uncharged, "reviewed": reviewed,
		"scalar": scalarRelease(), "function": functionRelease(40), "one state": functionRelease(1),
		"many states": functionRelease(5000), "theta": thetaRelease(), "constant": constantRelease(),
		"reference": referenceRelease(), "empty": emptyRelease(), "diagnostics": diagnostics,
		"add-remove": addRemove, "pure": pure, "deep": deep,
	}
	maps.Copy(out, survivals())
	return out
}

func render(t testing.TB, r *evaluate.Release) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
