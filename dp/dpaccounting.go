package dp

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
)

// FromDPAccounting reads an event of the Python package dp-accounting, version 0.6.0, in the form
// that docs/results/dp_accounting_events.py writes: an object of the event's class_name and the
// attributes that its to_named_tuple has, where module_name may be left out and an infinite number
// is "inf". An event without a counterpart here is refused by name.
//
// Noise multipliers are per clip in both, and neither holds the adjacency. ADD_OR_REMOVE_ONE is
// [AddRemoveOne], REPLACE_ONE is [ReplaceOne]; REPLACE_SPECIAL, where a record is replaced by nothing, costs what
// [AddRemoveOne] does for sums. Numbers that have to be inverted (the noise parameter of discrete Laplace
// noise, the mean number of runs) are rounded to the nearest float64.
func FromDPAccounting(text []byte) (Event, error) {
	if err := checkSyntax(text); err != nil {
		return nil, err
	}
	e, err := fromDPAccounting(text, 0)
	if err != nil {
		return nil, err
	}
	return e, e.Validate()
}

// dpAccountingModule is where the classes of events are.
const dpAccountingModule = "dp_accounting.dp_event"

// withoutCounterpart says why a class cannot be read.
var withoutCounterpart = map[string]string{
	"NonPrivateDpEvent":             "is not private at all",
	"UnsupportedDpEvent":            "says nothing of what was done",
	"SampledWithReplacementDpEvent": "is a sample in which a person may be more than once",
	"MixtureOfGaussiansDpEvent":     "is a mixture of Gaussians of several sensitivities; state its distribution of the loss as privacy_loss",
}

func fromDPAccounting(text []byte, depth int) (Event, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%w: nested deeper than %d", ErrEvent, maxDepth)
	}
	a := attributes{depth: depth}
	if err := json.Unmarshal(text, &a.fields); err != nil || a.fields["class_name"] == nil {
		return nil, fmt.Errorf(`%w: want an object with a "class_name"`, ErrEvent)
	}
	a.read("class_name", &a.class)
	if raw, ok := a.fields["module_name"]; ok && string(raw) != `"`+dpAccountingModule+`"` {
		return nil, fmt.Errorf("%w: %s: module_name is %s; want %q: classes of other modules are not known", ErrEvent, a.class, raw, dpAccountingModule)
	}
	if why, ok := withoutCounterpart[a.class]; ok {
		return nil, fmt.Errorf("%w: %s has no counterpart: it %s", ErrEvent, a.class, why)
	}
	e := a.event()
	if a.err == nil && e == nil {
		a.err = fmt.Errorf("%w: unknown class_name %q", ErrEvent, a.class)
	}
	if a.err != nil {
		return nil, a.err
	}
	for name := range a.fields {
		if !slices.Contains(a.used, name) && name != "module_name" {
			return nil, fmt.Errorf("%w: %s: unknown attribute %q", ErrEvent, a.class, name)
		}
	}
	return e, nil
}

// attributes reads the attributes of one event of dp-accounting; err is the first fault.
type attributes struct {
	class  string
	fields map[string]json.RawMessage
	used   []string
	depth  int
	err    error
}

func (a *attributes) read(name string, into any) {
	a.used = append(a.used, name)
	raw, ok := a.fields[name]
	switch {
	case a.err != nil:
	case !ok || string(raw) == "null":
		a.err = fmt.Errorf("%w: %s: attribute %q is missing", ErrEvent, a.class, name)
	default:
		a.err = value(a.fields, a.class, name, into)
	}
}

func (a *attributes) number(name string) (x float64) {
	if string(a.fields[name]) == `"inf"` {
		a.used = append(a.used, name)
		return math.Inf(1)
	}
	a.read(name, &x)
	return x
}

func (a *attributes) integer(name string) (n int64) {
	a.read(name, &n)
	return n
}

// inner reads the event below.
func (a *attributes) inner() (e Event) {
	var raw json.RawMessage
	if a.read("event", &raw); a.err == nil {
		e, a.err = fromDPAccounting(raw, a.depth+1)
	}
	return e
}

func (a *attributes) event() Event {
	switch a.class {
	case "NoOpDpEvent":
		return ApproximateDP{}
	case "GaussianDpEvent":
		return Gaussian{a.number("noise_multiplier")}
	case "LaplaceDpEvent":
		return Laplace{a.number("noise_multiplier")}
	case "DiscreteLaplaceDpEvent":
		return DiscreteLaplace{Scale: 1 / a.number("noise_parameter"), Norm: float64(a.integer("sensitivity"))}
	case "RandomizedResponseDpEvent":
		return RandomizedResponse{Buckets: int(a.integer("num_buckets")), NoiseParameter: a.number("noise_parameter")}
	case "ZCDpEvent":
		if xi, ok := a.fields["xi"]; ok && a.number("xi") != 0 && a.err == nil {
			a.err = fmt.Errorf("%w: ZCDpEvent has no counterpart where xi is not 0: it is %s", ErrEvent, xi)
		}
		return ZeroConcentratedDP{a.number("rho")}
	case "SingleEpochTreeAggregationDpEvent":
		return a.tree()
	case "RepeatAndSelectDpEvent":
		return a.repeated(a.number("mean"), a.number("shape"), a.inner())
	case "PoissonSampledDpEvent":
		return PoissonSampled{a.number("sampling_probability"), a.inner()}
	case "TruncatedSubsampledGaussianDpEvent":
		return TruncatedPoissonSampled{
			Population: a.integer("dataset_size"), Rate: a.number("sampling_probability"), Batch: a.integer("truncated_batch_size"),
			Event: Gaussian{a.number("noise_multiplier")},
		}
	case "SampledWithoutReplacementDpEvent":
		return SampledWithoutReplacement{a.integer("source_dataset_size"), a.integer("sample_size"), a.inner()}
	case "SelfComposedDpEvent":
		return SelfComposed{Event: a.inner(), Count: a.integer("count")}
	case "ComposedDpEvent":
		return a.composed()
	}
	return nil
}

func (a *attributes) composed() Event {
	var raw []json.RawMessage
	a.read("events", &raw)
	e := Composed{Events: make([]Event, len(raw))}
	for i, r := range raw {
		if a.err == nil {
			e.Events[i], a.err = fromDPAccounting(r, a.depth+1)
		}
	}
	return e
}

// tree reads trees in which a record occurs at most once. Trees of different sizes are all read as
// trees of the largest size: a record is in only one of them, so the cost is the same.
func (a *attributes) tree() Event {
	e := TreeAggregation{NoiseMultiplier: a.number("noise_multiplier"), Participations: 1}
	if raw := a.fields["step_counts"]; len(raw) > 0 && raw[0] != '[' {
		e.Steps = a.integer("step_counts")
		return e
	}
	var steps []int64
	if a.read("step_counts", &steps); a.err == nil && (len(steps) == 0 || slices.Min(steps) < 1) {
		a.err = fmt.Errorf("%w: %s: step_counts is %v; want at least one tree, each of at least one step", ErrEvent, a.class, steps)
	}
	if a.err == nil {
		e.Steps, e.Restarts = slices.Max(steps), int64(len(steps)-1)
	}
	return e
}

// repeated is the best of a random number of runs, of a mean.
func (a *attributes) repeated(mean, shape float64, e Event) Event {
	switch {
	case a.err != nil:
		return nil
	case math.IsInf(shape, 1):
		return SelectBest{Runs: "poisson", Mean: mean, Event: e}
	case shape == 1 && mean > 1:
		return SelectBest{Runs: "geometric", Gamma: 1 / mean, Event: e}
	case shape == 0 && mean > 1:
		return SelectBest{Runs: "logarithmic", Gamma: gammaOfMean(mean), Event: e}
	}
	a.err = fmt.Errorf("%w: RepeatAndSelectDpEvent has no counterpart of mean %v and shape %v; want shape 0 or 1 and a mean above 1, or shape inf", ErrEvent, mean, shape)
	return nil
}

// logarithmicMean is the mean number of runs of a logarithmic distribution.
func logarithmicMean(gamma float64) float64 { return (1 - gamma) / gamma / -math.Log(gamma) }

// gammaOfMean is the gamma of a logarithmic distribution of the given mean, by bisection of its
// logarithm.
func gammaOfMean(mean float64) float64 {
	lo, hi := -700.0, -1e-12 // the mean falls from 1e301 to 1
	for hi-lo > 1e-15*-lo {
		mid := lo + (hi-lo)/2
		if mid == lo || mid == hi {
			break
		}
		if logarithmicMean(math.Exp(mid)) > mean {
			lo = mid
		} else {
			hi = mid
		}
	}
	return math.Exp(lo)
}
