package dp_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/discreet-rl/discreet/dp"
)

// DP-SGD as the Python package dp-accounting writes it.
func ExampleFromDPAccounting() {
	e, err := dp.FromDPAccounting([]byte(`{"class_name": "SelfComposedDpEvent", "count": 1000, "event": {
		"class_name": "PoissonSampledDpEvent", "sampling_probability": 0.01, "event": {
			"class_name": "GaussianDpEvent", "noise_multiplier": 1.1}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	text, err := dp.MarshalEvent(e)
	fmt.Println(string(text), err)
	// Output: {"kind":"self_composed","count":1000,"event":{"kind":"poisson_sampled","rate":0.01,"event":{"kind":"gaussian","noise_multiplier":1.1}}} <nil>
}

// FuzzFromDPAccounting: whatever is read is valid and can be written, and what was written is read as the same event.
func FuzzFromDPAccounting(f *testing.F) {
	f.Add([]byte(`{"class_name":"SelfComposedDpEvent","count":3,"event":{"class_name":"ZCDpEvent","rho":0.5,"xi":0}}`))
	f.Add([]byte(`{"class_name":"RepeatAndSelectDpEvent","mean":3,"shape":"inf","event":{"class_name":"NoOpDpEvent"}}`))
	f.Add([]byte(`{"class_name":"SingleEpochTreeAggregationDpEvent","noise_multiplier":2,"step_counts":[4,9]}`))
	f.Add([]byte(`{"class_name":"ComposedDpEvent","events":[{"class_name":"DiscreteLaplaceDpEvent","noise_parameter":0.5,"sensitivity":2}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		e, err := dp.FromDPAccounting(text)
		if err != nil {
			return
		}
		if err := e.Validate(); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		out, err := dp.ToDPAccounting(e)
		if err != nil {
			return // such as a mean that is infinite once inverted
		}
		back, err := dp.FromDPAccounting(out)
		if err != nil {
			return // such as a geometric number whose mean is rounded to 1
		}
		// A number may be inverted twice.
		if d := cmp.Diff(e, back, cmpopts.EquateApprox(1e-9, 0)); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	})
}
