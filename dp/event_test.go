package dp_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/google/go-cmp/cmp"
)

// everyKind holds one event of each kind, with its JSON as the design gives it.
var everyKind = map[string]dp.Event{
	`{"kind":"gaussian","noise_multiplier":1.1}`:                       dp.Gaussian{NoiseMultiplier: 1.1},
	`{"kind":"laplace","noise_multiplier":2}`:                          dp.Laplace{NoiseMultiplier: 2},
	`{"kind":"discrete_gaussian","sigma":2,"norm":1}`:                  dp.DiscreteGaussian{Sigma: 2, Norm: 1},
	`{"kind":"discrete_gaussian","sigma":2,"norm":3,"dimension":4}`:    dp.DiscreteGaussian{Sigma: 2, Norm: 3, Dimension: 4},
	`{"kind":"discrete_laplace","scale":1,"norm":1}`:                   dp.DiscreteLaplace{Scale: 1, Norm: 1},
	`{"kind":"randomized_response","buckets":2,"noise_parameter":0.5}`: dp.RandomizedResponse{Buckets: 2, NoiseParameter: 0.5},
	`{"kind":"smooth_gaussian","alpha":24.7,"beta":0.0078,"dimension":20}`: dp.SmoothGaussian{
		Alpha: 24.7, Beta: 0.0078, Dimension: 20},
	`{"kind":"shuffled","count":90000,"local_epsilon":1,"uniform_slots":true}`: dp.Shuffled{
		Count: 90000, LocalEpsilon: 1, UniformSlots: true},
	`{"kind":"shuffled","count":90000,"local_epsilon":1,"uniform_slots":true,"one_randomizer":true}`: dp.Shuffled{
		Count: 90000, LocalEpsilon: 1, UniformSlots: true, OneRandomizer: true},
	`{"kind":"gdp","mu":0.5}`: dp.GaussianDP{Mu: .5},
	`{"kind":"tree_aggregation","noise_multiplier":3,"steps":100,"restarts":2,"participations":1}`: dp.TreeAggregation{NoiseMultiplier: 3, Steps: 100, Restarts: 2, Participations: 1},
	`{"kind":"zcdp","rho":0.5}`:                               dp.ZeroConcentratedDP{Rho: .5},
	`{"kind":"pure_dp","epsilon":0.5}`:                        dp.PureDP{Epsilon: .5},
	`{"kind":"rdp_curve","orders":[1.5,8],"values":[0,0.25]}`: dp.RenyiCurve{Orders: []float64{1.5, 8}, Values: []float64{0, .25}},
	`{"kind":"privacy_loss","losses":[-0.5,1],"masses":[0.25,0.5],"infinity":0.25}`: dp.PrivacyLoss{
		Losses: []float64{-.5, 1}, Masses: []float64{.25, .5}, Infinity: .25},
	`{"kind":"select_best","runs":"geometric","gamma":0.25,"event":{"kind":"pure_dp","epsilon":1}}`: dp.SelectBest{
		Runs: "geometric", Gamma: .25, Event: dp.PureDP{Epsilon: 1}},
	`{"kind":"select_best","runs":"poisson","mean":9,"event":{"kind":"gdp","mu":1}}`: dp.SelectBest{
		Runs: "poisson", Mean: 9, Event: dp.GaussianDP{Mu: 1}},
	`{"kind":"exponential","epsilon":0.5}`:      dp.Exponential{Epsilon: .5},
	`{"kind":"permute_and_flip","epsilon":0.5}`: dp.PermuteAndFlip{Epsilon: .5},
	`{"kind":"report_noisy_max","noise":"laplace","scale":4,"sensitivity":1,"monotone":true}`: dp.ReportNoisyMax{
		Noise: "laplace", Scale: 4, Sensitivity: 1, Monotone: true},
	`{"kind":"approximate_dp","epsilon":1,"delta":1e-6}`: dp.ApproximateDP{Epsilon: 1, Delta: 1e-6},
	`{"kind":"truncated_poisson_sampled","population":9,"rate":0.5,"batch":4,"event":{"kind":"gaussian","noise_multiplier":1}}`: dp.TruncatedPoissonSampled{
		Population: 9, Rate: 0.5, Batch: 4, Event: dp.Gaussian{NoiseMultiplier: 1},
	},
	`{"kind":"poisson_sampled","rate":0.01,"event":{"kind":"gaussian","noise_multiplier":1}}`: dp.PoissonSampled{
		Rate: 0.01, Event: dp.Gaussian{NoiseMultiplier: 1}},
	`{"kind":"sampled_without_replacement","population":10000,"sample":1,"event":{"kind":"gaussian","noise_multiplier":1}}`: dp.SampledWithoutReplacement{
		Population: 10000, Sample: 1, Event: dp.Gaussian{NoiseMultiplier: 1}},
	`{"kind":"self_composed","count":1000,"event":{"kind":"laplace","noise_multiplier":1}}`: dp.SelfComposed{
		Count: 1000, Event: dp.Laplace{NoiseMultiplier: 1}},
	`{"kind":"composed","events":[{"kind":"gaussian","noise_multiplier":1},{"kind":"approximate_dp","epsilon":0,"delta":0}]}`: dp.Composed{
		Events: []dp.Event{dp.Gaussian{NoiseMultiplier: 1}, dp.ApproximateDP{}}},
}

func TestEveryKindReadsAndWritesItsJSON(t *testing.T) {
	for text, want := range everyKind {
		got, err := dp.ParseEvent([]byte(text))
		if err != nil {
			t.Errorf("ParseEvent(%s): %v", text, err)
			continue
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("ParseEvent(%s): (-want +got)\n%s", text, d)
		}
		out, err := dp.MarshalEvent(want)
		if err != nil {
			t.Fatal(err)
		}
		var a, b any
		if json.Unmarshal([]byte(text), &a) != nil || json.Unmarshal(out, &b) != nil {
			t.Fatalf("not JSON: %s", out)
		}
		if d := cmp.Diff(a, b); d != "" {
			t.Errorf("MarshalEvent(%#v): (-want +got)\n%s", want, d)
		}
		if !strings.HasPrefix(string(out), `{"kind":"`) {
			t.Errorf("MarshalEvent(%#v) = %s: kind is not first", want, out)
		}
	}
}

// TestAnUnknownKindIsToldAllThatThereAre: those that read and write their JSON above, and no other.
func TestAnUnknownKindIsToldAllThatThereAre(t *testing.T) {
	want := map[string]bool{}
	for _, e := range everyKind {
		want[e.Kind()] = true
	}
	got := map[string]bool{}
	for _, kind := range dp.Kinds() {
		got[kind] = true
	}
	if d := cmp.Diff(want, got); d != "" || len(dp.Kinds()) != len(want) {
		t.Errorf("Kinds: (-want +got)\n%s", d)
	}
	_, err := dp.ParseEvent([]byte(`{"kind":"gauss","noise_multiplier":1}`))
	for kind := range want {
		if err == nil || !strings.Contains(err.Error(), kind) || !strings.Contains(err.Error(), "docs/accounting.md") {
			t.Errorf("error %v; want it to list %s and to name the guide", err, kind)
		}
	}
}

func TestMalformedEventsAreRefused(t *testing.T) {
	for _, text := range []string{
		``, `null`, `3`, `"gaussian"`, `[]`, `{}`, `{"kind":null}`, `{"kind":7}`,
		`{"kind":"gauss","noise_multiplier":1}`,
		`{"KIND":"gaussian","noise_multiplier":1}`,
		`{"kind":"gaussian","Noise_Multiplier":1}`,
		`{"kind":"gaussian"}`,
		`{"kind":"gaussian","noise_multiplier":null}`,
		`{"kind":"gaussian","noise_multiplier":"1"}`,
		`{"kind":"gaussian","noise_multiplier":"?"}`,
		`{"kind":"gaussian","noise_multiplier":0}`,
		`{"kind":"gaussian","noise_multiplier":-1}`,
		`{"kind":"gaussian","noise_multiplier":1e999}`,
		`{"kind":"gaussian","noise_multiplier":NaN}`,
		`{"kind":"gaussian","noise_multiplier":1,"note":""}`,
		`{"kind":"gaussian","noise_multiplier":1,"noise_multiplier":9}`,
		`{"kind":"gaussian","noise_multiplier":1} {}`,
		`{"kind":"gaussian","noise_multiplier":1`,
		`{"kind":"shuffled","count":0,"local_epsilon":1,"uniform_slots":true}`,
		`{"kind":"shuffled","count":9,"local_epsilon":0,"uniform_slots":true}`,
		`{"kind":"shuffled","count":9,"local_epsilon":1,"uniform_slots":false}`,
		`{"kind":"shuffled","count":9,"local_epsilon":1}`,
		`{"kind":"shuffled","count":9,"local_epsilon":1,"uniform_slots":true,"one_randomizer":null}`,
		`{"kind":"discrete_gaussian","sigma":1,"norm":1,"dimension":0}`,
		`{"kind":"discrete_gaussian","sigma":1,"norm":1,"dimension":-1}`,
		`{"kind":"discrete_gaussian","sigma":1,"norm":1,"dimension":null}`,
		`{"kind":"discrete_gaussian","sigma":1,"norm":1,"dimension":1.5}`,
		`{"kind":"randomized_response","buckets":1,"noise_parameter":0.5}`,
		`{"kind":"randomized_response","buckets":2.5,"noise_parameter":0.5}`,
		`{"kind":"smooth_gaussian","alpha":1,"beta":1,"dimension":0}`,
		`{"kind":"approximate_dp","epsilon":-1,"delta":0}`,
		`{"kind":"gdp","mu":0}`,
		`{"kind":"gdp"}`,
		`{"kind":"tree_aggregation","noise_multiplier":3,"steps":100,"restarts":0}`,
		`{"kind":"zcdp","rho":-1}`,
		`{"kind":"pure_dp","epsilon":0}`,
		`{"kind":"exponential","epsilon":-1}`,
		`{"kind":"permute_and_flip","epsilon":0}`,
		`{"kind":"select_best","runs":"fixed","gamma":0.5,"event":{"kind":"gdp","mu":1}}`,
		`{"kind":"select_best","runs":"geometric","gamma":1,"event":{"kind":"gdp","mu":1}}`,
		`{"kind":"select_best","runs":"geometric","mean":2,"event":{"kind":"gdp","mu":1}}`,
		`{"kind":"select_best","runs":"poisson","gamma":0.5,"event":{"kind":"gdp","mu":1}}`,
		`{"kind":"select_best","runs":"poisson","mean":2,"gamma":0.5,"event":{"kind":"gdp","mu":1}}`,
		`{"kind":"select_best","runs":"poisson","mean":0,"event":{"kind":"gdp","mu":1}}`,
		`{"kind":"select_best","runs":"logarithmic","gamma":0.5,"event":{"kind":"gdp","mu":0}}`,
		`{"kind":"report_noisy_max","noise":"gumbel","scale":1,"sensitivity":1,"monotone":false}`,
		`{"kind":"report_noisy_max","noise":"laplace","scale":0,"sensitivity":1,"monotone":false}`,
		`{"kind":"report_noisy_max","noise":"laplace","scale":1,"sensitivity":-1,"monotone":false}`,
		`{"kind":"report_noisy_max","noise":"laplace","scale":1,"sensitivity":1}`,
		`{"kind":"rdp_curve","orders":[],"values":[]}`,
		`{"kind":"rdp_curve","orders":[2,4],"values":[1]}`,
		`{"kind":"rdp_curve","orders":[1,4],"values":[1,2]}`,
		`{"kind":"rdp_curve","orders":[4,2],"values":[1,2]}`,
		`{"kind":"rdp_curve","orders":[2,4],"values":[2,1]}`,
		`{"kind":"rdp_curve","orders":[2,4],"values":[null,1]}`,
		`{"kind":"rdp_curve","orders":[2,4],"values":[-1,1]}`,
		`{"kind":"rdp_curve","orders":2,"values":[1]}`,
		`{"kind":"privacy_loss","losses":[],"masses":[],"infinity":1}`,
		`{"kind":"privacy_loss","losses":[0],"masses":[1]}`,
		`{"kind":"privacy_loss","losses":[0,0],"masses":[0.5,0.5],"infinity":0}`,
		`{"kind":"privacy_loss","losses":[0,1],"masses":[0.5],"infinity":0.5}`,
		`{"kind":"privacy_loss","losses":[0,1],"masses":[1,null],"infinity":0}`,
		`{"kind":"privacy_loss","losses":[0,1],"masses":[1.5,-0.5],"infinity":0}`,
		`{"kind":"privacy_loss","losses":[0,1],"masses":[0.5,0.4999],"infinity":0}`,
		`{"kind":"privacy_loss","losses":[0,1],"masses":[0.5,0.5001],"infinity":0}`,
		`{"kind":"privacy_loss","losses":[-1,1],"masses":[0.5,0.5],"infinity":0}`, // Q would have 1.54
		`{"kind":"approximate_dp","epsilon":1,"delta":1.5}`,
		`{"kind":"poisson_sampled","rate":1.1,"event":{"kind":"gaussian","noise_multiplier":1}}`,
		`{"kind":"poisson_sampled","rate":0.1}`,
		`{"kind":"poisson_sampled","rate":0.1,"rate event":5,"event":{"kind":"gaussian","noise_multiplier":1}}`,
		`{"kind":"discrete_laplace","scale":1,"norm":1,"kind scale norm":2}`,
		`{"kind":"gaussian","noise_multiplier":1,"":2}`,
		`{"kind":"sampled_without_replacement","population":5,"sample":6,"event":{"kind":"gaussian","noise_multiplier":1}}`,
		`{"kind":"self_composed","count":0,"event":{"kind":"gaussian","noise_multiplier":1}}`,
		`{"kind":"self_composed","count":1e3000,"event":{"kind":"gaussian","noise_multiplier":1}}`,
		`{"kind":"composed","events":[]}`,
		`{"kind":"composed","events":[null]}`,
		strings.Repeat(`{"kind":"self_composed","count":1,"event":`, 100) + `{"kind":"gaussian","noise_multiplier":1}` + strings.Repeat(`}`, 100),
	} {
		if e, err := dp.ParseEvent([]byte(text)); !errors.Is(err, dp.ErrEvent) {
			t.Errorf("ParseEvent(%.120s) = %v, %v; want ErrEvent", text, e, err)
		}
	}
}

func TestTemplateFillsItsOnePlace(t *testing.T) {
	open, err := dp.ParseTemplate([]byte(`{"kind":"self_composed","count":3,"event":{"kind":"gaussian","noise_multiplier":"?"}}`))
	if err != nil || !open.Open() {
		t.Fatalf("ParseTemplate: open %v, %v", open.Open(), err)
	}
	got, err := open.With(2.5)
	if err != nil {
		t.Fatal(err)
	}
	want := dp.SelfComposed{Count: 3, Event: dp.Gaussian{NoiseMultiplier: 2.5}}
	if d := cmp.Diff(dp.Event(want), got); d != "" {
		t.Error(d)
	}
	if _, err := open.With(0); !errors.Is(err, dp.ErrEvent) {
		t.Errorf("With(0): %v; want ErrEvent", err)
	}
	two := `{"kind":"composed","events":[{"kind":"gaussian","noise_multiplier":"?"},{"kind":"laplace","noise_multiplier":"?"}]}`
	if _, err := dp.ParseTemplate([]byte(two)); !errors.Is(err, dp.ErrEvent) {
		t.Errorf("two places: %v; want ErrEvent", err)
	}
	for field, text := range map[string]string{
		"rho":   `{"kind":"zcdp","rho":"?"}`,
		"sigma": `{"kind":"discrete_gaussian","sigma":"?","norm":1}`,
		"rate":  `{"kind":"truncated_poisson_sampled","population":9,"rate":"?","batch":2,"event":{"kind":"gaussian","noise_multiplier":1}}`,
	} {
		if _, err := dp.ParseTemplate([]byte(text)); !errors.Is(err, dp.ErrEvent) || !strings.Contains(err.Error(), `"?" is in the place of "`+field+`"`) {
			t.Errorf("%s: %v; want ErrEvent that names %s", text, err, field)
		}
	}
}

func FuzzParseEvent(f *testing.F) {
	for text := range everyKind {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := dp.ParseEvent(text)
		if err != nil {
			return
		}
		out, err := dp.MarshalEvent(e)
		if err != nil {
			t.Fatalf("parsed but not written: %v", err)
		}
		again, err := dp.ParseEvent(out)
		if err != nil {
			t.Fatalf("written but not parsed: %v", err)
		}
		if d := cmp.Diff(e, again); d != "" {
			t.Fatal(d)
		}
	})
}
