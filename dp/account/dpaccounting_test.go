package account_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

// pythonEvents is testdata/dp_accounting.json, made by the Python package dp-accounting itself.
type pythonEvents struct {
	Delta  float64
	Events []struct {
		Event                json.RawMessage
		Relation, Accountant string
		Epsilon              float64
	}
	Refused []json.RawMessage
}

func readPythonEvents(t *testing.T) (all pythonEvents) {
	t.Helper()
	text, err := os.ReadFile("testdata/dp_accounting.json")
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil || len(all.Events) < 14 || len(all.Refused) < 6 {
		t.Fatal(err, len(all.Events), len(all.Refused))
	}
	return all
}

// TestEventsOfDPAccountingMeanTheSameHere: an event that dp-accounting wrote costs here what that package says, by
// the same kind of accountant. A multiplier, an adjacency or a parameter read otherwise would be off by far more.
func TestEventsOfDPAccountingMeanTheSameHere(t *testing.T) {
	all := readPythonEvents(t)
	for _, x := range all.Events {
		e, err := dp.FromDPAccounting(x.Event)
		if err != nil {
			t.Errorf("%s: %v", x.Event, err)
			continue
		}
		adj := dp.AddRemoveOne
		if x.Relation == "REPLACE_ONE" {
			adj = dp.ReplaceOne
		}
		var a account.Accountant = account.New(adj)
		least, most := .998, 1.001                                                             // dp-accounting rounds losses up to multiples of 1e-4
		if x.Accountant == "rdp" && !strings.Contains(string(x.Event), "WithoutReplacement") { // of that the two have different bounds, and a loss distribution says more
			a = account.NewRDP(adj)
			least, most = .97, 1.01 // it has few orders
			if strings.Contains(string(x.Event), `"inf"`) {
				least = .83 // of Gaussian noise a Poisson number of times it converts delta, which is known
			}
		}
		compose(t, a, e, 1)
		b, err := a.Epsilon(t.Context(), all.Delta)
		if err != nil || !(b.Upper >= x.Epsilon*least && b.Upper <= x.Epsilon*most) && !(b.Lower > 0 && b.Lower <= x.Epsilon*1.001 && b.Upper >= x.Epsilon && b.Upper < b.Lower*1.1) {
			t.Errorf("%s under %s: %v, %v; dp-accounting has %v", x.Event, x.Relation, b, err, x.Epsilon)
		}
	}
}

// TestEventsOfDPAccountingComeBackAsTheyWere, but for trees of several sizes, which become trees of the largest, and
// for numbers that are inverted twice.
func TestEventsOfDPAccountingComeBackAsTheyWere(t *testing.T) {
	near := cmp.Comparer(func(a, b float64) bool { return a == b || a > b*(1-1e-12) && a < b*(1+1e-12) })
	for _, x := range readPythonEvents(t).Events {
		e, err := dp.FromDPAccounting(x.Event)
		if err != nil {
			t.Fatal(err)
		}
		back, err := dp.ToDPAccounting(e)
		if err != nil {
			t.Errorf("%s: %v", x.Event, err)
			continue
		}
		want := strings.ReplaceAll(string(x.Event), `"module_name": "dp_accounting.dp_event",`, "")
		want = strings.Replace(want, "30,", "1000,", 1)
		var a, b any
		if json.Unmarshal([]byte(want), &a) != nil || json.Unmarshal(back, &b) != nil {
			t.Fatalf("not JSON: %s or %s", want, back)
		}
		if d := cmp.Diff(a, b, near); d != "" {
			t.Errorf("%s: (-want +got)\n%s", x.Event, d)
		}
	}
}

// TestWhatHasNoCounterpartIsRefusedByName, in both directions, and so is what is not of the written form.
func TestWhatHasNoCounterpartIsRefusedByName(t *testing.T) {
	for _, raw := range readPythonEvents(t).Refused {
		var head struct {
			Class string `json:"class_name"`
		}
		if err := json.Unmarshal(raw, &head); err != nil {
			t.Fatal(err)
		}
		_, err := dp.FromDPAccounting(raw)
		if !errors.Is(err, dp.ErrEvent) || !strings.Contains(err.Error(), head.Class+" has no counterpart") {
			t.Errorf("%s: %v", raw, err)
		}
	}
	for text, want := range map[string]string{
		`{"class_name":"GaussianDpEvent"}`:                                                                           `"noise_multiplier" is missing`,
		`{"class_name":"GaussianDpEvent","noise_multiplier":0}`:                                                      "noise_multiplier is 0",
		`{"class_name":"GaussianDpEvent","noise_multiplier":"inf"}`:                                                  "noise_multiplier is +Inf",
		`{"class_name":"GaussianDpEvent","noise_multiplier":1,"kind":"gaussian"}`:                                    `unknown attribute "kind"`,
		`{"class_name":"GaussianDpEvent","noise_multiplier":1,"noise_multiplier":9}`:                                 "is repeated",
		`{"class_name":"GaussianDpEvent","module_name":"mine","noise_multiplier":1}`:                                 "module_name",
		`{"class_name":"GaussDpEvent","noise_multiplier":1}`:                                                         `unknown class_name "GaussDpEvent"`,
		`{"kind":"gaussian","noise_multiplier":1}`:                                                                   "class_name",
		`{"class_name":"ComposedDpEvent","events":[]}`:                                                               "events is empty",
		`{"class_name":"ComposedDpEvent","events":[3]}`:                                                              "class_name",
		`{"class_name":"SelfComposedDpEvent","count":2.5,"event":{"class_name":"NoOpDpEvent"}}`:                      `"count"`,
		`{"class_name":"SelfComposedDpEvent","count":2,"event":null}`:                                                `"event" is missing`,
		`{"class_name":"SingleEpochTreeAggregationDpEvent","noise_multiplier":1,"step_counts":[]}`:                   "at least one tree",
		`{"class_name":"SingleEpochTreeAggregationDpEvent","noise_multiplier":1,"step_counts":[4,0]}`:                "at least one step",
		`{"class_name":"RepeatAndSelectDpEvent","mean":1,"shape":1,"event":{"class_name":"NoOpDpEvent"}}`:            "mean above 1",
		`{"class_name":"RepeatAndSelectDpEvent","mean":0,"shape":"inf","event":{"class_name":"NoOpDpEvent"}}`:        "mean is 0",
		`{"class_name":"DiscreteLaplaceDpEvent","noise_parameter":0,"sensitivity":1}`:                                "scale is +Inf",
		`{"class_name":"RandomizedResponseDpEvent","noise_parameter":0,"num_buckets":3}`:                             "noise_parameter is 0",
		`{"class_name":"PoissonSampledDpEvent","sampling_probability":2,"event":{"class_name":"NoOpDpEvent"}}`:       "rate is 2",
		strings.Repeat(`{"class_name":"SelfComposedDpEvent","count":1,"event":`, 70) + `3` + strings.Repeat("}", 70): "deeper",
	} {
		if _, err := dp.FromDPAccounting([]byte(text)); !errors.Is(err, dp.ErrEvent) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want it to say %s", text, err, want)
		}
	}
	written := map[string]bool{}
	for _, x := range readPythonEvents(t).Events {
		e, err := dp.FromDPAccounting(x.Event)
		if err != nil {
			t.Fatal(err)
		}
		written[e.Kind()] = true
		if e, ok := e.(dp.SelfComposed); ok {
			written[e.Event.Kind()] = true
		}
	}
	for _, e := range []dp.Event{
		dp.GaussianDP{Mu: 1}, dp.PureDP{Epsilon: 1}, dp.ApproximateDP{Epsilon: 1, Delta: 1e-6}, dp.Exponential{Epsilon: 1}, dp.PermuteAndFlip{Epsilon: 1},
		dp.ReportNoisyMax{Noise: "laplace", Scale: 1, Sensitivity: 1}, dp.RenyiCurve{Orders: []float64{2}, Values: []float64{1}},
		dp.PrivacyLoss{Losses: []float64{0}, Masses: []float64{1}}, dp.SmoothGaussian{Alpha: 1, Beta: 1, Dimension: 1}, dp.DiscreteGaussian{Sigma: 1, Norm: 1},
		dp.Shuffled{Count: 9, LocalEpsilon: 1, UniformSlots: true, OneRandomizer: true},
	} {
		written[e.Kind()] = true
		if _, err := dp.ToDPAccounting(dp.SelfComposed{Count: 2, Event: e}); !errors.Is(err, dp.ErrEvent) || !strings.Contains(err.Error(), e.Kind()+" has no counterpart") {
			t.Errorf("%s: %v", e.Kind(), err)
		}
	}
	for _, kind := range dp.Kinds() {
		if !written[kind] {
			t.Errorf("%s is neither written nor refused", kind)
		}
	}
	for _, e := range []dp.Event{
		dp.TreeAggregation{NoiseMultiplier: 1, Steps: 9, Participations: 2}, dp.DiscreteLaplace{Scale: 1, Norm: .5}, nil,
		dp.TreeAggregation{NoiseMultiplier: 1, Steps: 9, Restarts: 1 << 20, Participations: 1}, dp.Gaussian{},
	} {
		if text, err := dp.ToDPAccounting(e); !errors.Is(err, dp.ErrEvent) {
			t.Errorf("%+v: %s, %v; want it refused", e, text, err)
		}
	}
}
