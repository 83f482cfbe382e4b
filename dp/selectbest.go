package dp

import (
	"fmt"
	"math"
)

// SelectBest runs Event a random number of times on the same persons, independently, and releases
// the output of one run only: the best, by an order of outputs that is fixed in advance and depends
// on nothing but the output (which includes its score, if runs are compared by a score). This is
// how a model or its settings are chosen (Liu and Talwar 2019; Papernot and Steinke 2022).
//
// The number of runs is drawn independently of the data and stays secret, as do the other runs,
// their durations, and the position of the released run. All runs together are one event. Runs is
// the distribution of their number:
//
//   - "geometric": k >= 1 runs with probability Gamma (1-Gamma)^(k-1), 1/Gamma on
//     average;
//   - "logarithmic": k >= 1 runs with probability (1-Gamma)^k/(k ln(1/Gamma)),
//     (1/Gamma-1)/ln(1/Gamma) on average;
//   - "poisson": of mean Mean. Where there is no run, an output is shown that does not
//     depend on the data.
//
// Gamma, above 0 and below 1, is the parameter of the first two, Mean that of the third.
type SelectBest struct {
	Runs  string  `json:"runs"`
	Gamma float64 `json:"gamma,omitempty"`
	Mean  float64 `json:"mean,omitempty"`
	Event Event   `json:"event"`
}

func (SelectBest) sealed() {}

// Kind returns "select_best".
func (SelectBest) Kind() string { return "select_best" }

// Validate checks the distribution of the number of runs, its parameter, and the event below.
func (e SelectBest) Validate() error {
	switch e.Runs {
	case "geometric", "logarithmic":
		if !(e.Gamma > 0 && e.Gamma < 1) {
			return invalid(e, "gamma", e.Gamma, "0 < gamma < 1")
		}
		if e.Mean != 0 {
			return invalid(e, "mean", e.Mean, "none: gamma gives the number of runs")
		}
	case "poisson":
		if !(e.Mean > 0) || math.IsInf(e.Mean, 1) {
			return invalid(e, "mean", e.Mean, "a finite number above 0")
		}
		if e.Gamma != 0 {
			return invalid(e, "gamma", e.Gamma, "none: mean gives the number of runs")
		}
	default:
		return fmt.Errorf("%w: select_best: runs is %q; want geometric, logarithmic or poisson: a number of runs that is fixed hides less, compose the runs instead", ErrEvent, e.Runs)
	}
	return below(e, e.Event)
}

// MarshalJSON implements [json.Marshaler].
func (e SelectBest) MarshalJSON() ([]byte, error) {
	type plain SelectBest
	return tagged(e.Kind(), plain(e))
}

// selectBest reads an event whose distribution of the number of runs determines which parameter it
// has.
func (p *parser) selectBest(text []byte, kind string, depth int) (builder, error) {
	var f struct {
		Runs  string  `json:"runs"`
		Gamma float64 `json:"gamma"`
		Mean  float64 `json:"mean"`
	}
	parameter := "gamma"
	if has(text, "mean") {
		parameter = "mean"
	}
	return p.wrapper(text, kind, depth, &f, []string{"runs", parameter}, func(e Event) Event {
		return SelectBest{Runs: f.Runs, Gamma: f.Gamma, Mean: f.Mean, Event: e}
	})
}
