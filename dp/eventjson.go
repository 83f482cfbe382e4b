package dp

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// maxDepth bounds the nesting of an event tree in JSON, so that a hostile
// document cannot exhaust the stack.
const maxDepth = 64

// ParseEvent reads the JSON form of one event. It is strict: an unknown kind,
// an unknown, missing or repeated field, a parameter out of range and text
// after the event are errors.
func ParseEvent(text []byte) (Event, error) {
	t, err := ParseTemplate(text)
	if err != nil {
		return nil, err
	}
	if t.Open() {
		return nil, fmt.Errorf("%w: it holds \"?\" in place of a number; only a calibration can fill it", ErrEvent)
	}
	return t.With(1)
}

// Template is an event tree in which at most one noise multiplier, scale, sampling
// rate or count of runs is left open: the JSON holds "?" in its place. A calibration
// finds the number.
type Template struct {
	build func(x float64) Event
	field string // "" where nothing is open
}

// Open reports whether the template has a place to fill.
func (t Template) Open() bool { return t.field != "" }

// Field is the name of the open place: "noise_multiplier", "scale", "rate" or "count",
// and "" where there is none.
func (t Template) Field() string { return t.field }

// With returns the event with the open place filled by x; a count is rounded down.
func (t Template) With(x float64) (Event, error) {
	e := t.build(x)
	if err := e.Validate(); err != nil {
		return nil, err
	}
	return e, nil
}

// ParseTemplate reads an event in which one number may be "?".
func ParseTemplate(text []byte) (Template, error) {
	if err := checkSyntax(text); err != nil {
		return Template{}, err
	}
	p := parser{}
	build, err := p.event(text, 0)
	if err != nil {
		return Template{}, err
	}
	if p.holes > 1 {
		return Template{}, fmt.Errorf("%w: it holds %d \"?\"; want at most one", ErrEvent, p.holes)
	}
	t := Template{build: build, field: p.field}
	if err := build(1).Validate(); err != nil {
		return Template{}, err
	}
	return t, nil
}

// kinds are the names of all kinds, as a guide would list them.
var kinds = [...]string{
	"gaussian", "laplace", "discrete_gaussian", "discrete_laplace", "tree_aggregation", "smooth_gaussian",
	"randomized_response", "shuffled", "exponential", "permute_and_flip", "report_noisy_max", "select_best",
	"pure_dp", "approximate_dp", "gdp", "zcdp", "rdp_curve", "privacy_loss",
	"poisson_sampled", "truncated_poisson_sampled", "sampled_without_replacement", "self_composed", "composed",
}

// Kinds returns the names of all kinds of events.
func Kinds() []string { return slices.Clone(kinds[:]) }

type builder func(multiplier float64) Event

type parser struct {
	holes int
	field string // of the last hole
}

// hole reports that a field of an object is open, and returns the object with 1 in its place.
func (p *parser) hole(text []byte, name string) ([]byte, bool) {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil || string(fields[name]) != `"?"` {
		return text, false
	}
	fields[name] = json.RawMessage("1")
	filled, err := json.Marshal(fields)
	if err != nil {
		return text, false
	}
	p.holes++
	p.field = name
	return filled, true
}

func (p *parser) event(text []byte, depth int) (builder, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("%w: nested deeper than %d", ErrEvent, maxDepth)
	}
	var head struct {
		Kind *string `json:"kind"`
	}
	if err := json.Unmarshal(text, &head); err != nil || head.Kind == nil {
		return nil, fmt.Errorf("%w: want an object with a \"kind\"", ErrEvent)
	}
	switch *head.Kind {
	case "gaussian":
		return p.noise(text, *head.Kind, func(x float64) Event { return Gaussian{x} })
	case "laplace":
		return p.noise(text, *head.Kind, func(x float64) Event { return Laplace{x} })
	case "tree_aggregation":
		text, open := p.hole(text, "noise_multiplier")
		build, err := leaf[TreeAggregation](text, *head.Kind, "noise_multiplier", "steps", "restarts", "participations")
		return filled(build, open, func(e *TreeAggregation, x float64) { e.NoiseMultiplier = x }), err
	case "discrete_gaussian":
		return discreteGaussian(text, *head.Kind)
	case "discrete_laplace":
		text, open := p.hole(text, "scale")
		build, err := leaf[DiscreteLaplace](text, *head.Kind, "scale", "norm")
		return filled(build, open, func(e *DiscreteLaplace, x float64) { e.Scale = x }), err
	case "randomized_response":
		return leaf[RandomizedResponse](text, *head.Kind, "buckets", "noise_parameter")
	case "smooth_gaussian":
		return leaf[SmoothGaussian](text, *head.Kind, "alpha", "beta", "dimension")
	case "approximate_dp":
		return leaf[ApproximateDP](text, *head.Kind, "epsilon", "delta")
	case "gdp":
		return leaf[GaussianDP](text, *head.Kind, "mu")
	case "zcdp":
		return leaf[ZeroConcentratedDP](text, *head.Kind, "rho")
	case "select_best":
		return p.selectBest(text, *head.Kind, depth)
	case "pure_dp":
		return leaf[PureDP](text, *head.Kind, "epsilon")
	case "rdp_curve":
		return renyiCurve(text, *head.Kind)
	case "privacy_loss":
		return privacyLoss(text, *head.Kind)
	case "exponential":
		return leaf[Exponential](text, *head.Kind, "epsilon")
	case "permute_and_flip":
		return leaf[PermuteAndFlip](text, *head.Kind, "epsilon")
	case "report_noisy_max":
		text, open := p.hole(text, "scale")
		build, err := leaf[ReportNoisyMax](text, *head.Kind, "noise", "scale", "sensitivity", "monotone")
		return filled(build, open, func(e *ReportNoisyMax, x float64) { e.Scale = x }), err
	case "shuffled":
		return shuffled(text, *head.Kind)
	case "poisson_sampled":
		var f struct {
			Rate float64 `json:"rate"`
		}
		text, open := p.hole(text, "rate")
		build, err := p.wrapper(text, *head.Kind, depth, &f, []string{"rate"}, func(e Event) Event { return PoissonSampled{f.Rate, e} })
		return filled(build, open, func(e *PoissonSampled, x float64) { e.Rate = x }), err
	case "truncated_poisson_sampled":
		var f struct {
			Population int64   `json:"population"`
			Rate       float64 `json:"rate"`
			Batch      int64   `json:"batch"`
		}
		return p.wrapper(text, *head.Kind, depth, &f, []string{"population", "rate", "batch"}, func(e Event) Event {
			return TruncatedPoissonSampled{f.Population, f.Rate, f.Batch, e}
		})
	case "sampled_without_replacement":
		var f struct {
			Population int64 `json:"population"`
			Sample     int64 `json:"sample"`
		}
		return p.wrapper(text, *head.Kind, depth, &f, []string{"population", "sample"}, func(e Event) Event {
			return SampledWithoutReplacement{f.Population, f.Sample, e}
		})
	case "self_composed":
		var f struct {
			Count int64 `json:"count"`
		}
		text, open := p.hole(text, "count")
		build, err := p.wrapper(text, *head.Kind, depth, &f, []string{"count"}, func(e Event) Event { return SelfComposed{f.Count, e} })
		return filled(build, open, func(e *SelfComposed, x float64) { e.Count = int64(x) }), err
	case "composed":
		return p.composed(text, depth)
	}
	return nil, fmt.Errorf("%w: unknown kind %q; want one of %s (docs/accounting.md has an example of each)", ErrEvent, *head.Kind, strings.Join(kinds[:], ", "))
}

// filled puts the number into the open place of the event that build makes.
func filled[E Event](build builder, open bool, put func(e *E, x float64)) builder {
	if !open || build == nil {
		return build
	}
	return func(x float64) Event {
		e := build(x).(E)
		put(&e, x)
		return e
	}
}

func (p *parser) noise(text []byte, kind string, make func(float64) Event) (builder, error) {
	text, open := p.hole(text, "noise_multiplier")
	fields, err := object(text, kind, "noise_multiplier")
	if err != nil {
		return nil, err
	}
	if open {
		return make, nil
	}
	var x float64
	if err := value(fields, kind, "noise_multiplier", &x); err != nil {
		return nil, err
	}
	return func(float64) Event { return make(x) }, nil
}

func leaf[E Event](text []byte, kind string, names ...string) (builder, error) {
	if _, err := object(text, kind, names...); err != nil {
		return nil, err
	}
	var e E
	if err := json.Unmarshal(text, &e); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrEvent, kind, err)
	}
	return func(float64) Event { return e }, nil
}

// shuffled reads an event whose declaration of one randomiser may be left out: one
// that was written before there was the field declares nothing.
func shuffled(text []byte, kind string) (builder, error) {
	names := []string{"count", "local_epsilon", "uniform_slots"}
	if has(text, "one_randomizer") {
		names = append(names, "one_randomizer")
	}
	return leaf[Shuffled](text, kind, names...)
}

// discreteGaussian reads an event whose dimension may be left out: one that was
// written before there was the field says nothing of it, and is not taken to be
// of one dimension.
func discreteGaussian(text []byte, kind string) (builder, error) {
	names := []string{"sigma", "norm"}
	if has(text, "dimension") {
		names = append(names, "dimension")
	}
	build, err := leaf[DiscreteGaussian](text, kind, names...)
	if err != nil {
		return nil, err
	}
	if e := build(1).(DiscreteGaussian); len(names) == 3 && e.Dimension == 0 {
		return nil, invalid(e, "dimension", 0, "at least 1; leave the field out where it is not known")
	}
	return build, nil
}

func (p *parser) wrapper(text []byte, kind string, depth int, into any, names []string, wrap func(Event) Event) (builder, error) {
	fields, err := object(text, kind, append(names, "event")...)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrEvent, kind, err)
	}
	child, err := p.event(fields["event"], depth+1)
	if err != nil {
		return nil, err
	}
	return func(x float64) Event { return wrap(child(x)) }, nil
}

func (p *parser) composed(text []byte, depth int) (builder, error) {
	fields, err := object(text, "composed", "events")
	if err != nil {
		return nil, err
	}
	var raw []json.RawMessage
	if err := value(fields, "composed", "events", &raw); err != nil {
		return nil, err
	}
	children := make([]builder, len(raw))
	for i, r := range raw {
		if children[i], err = p.event(r, depth+1); err != nil {
			return nil, err
		}
	}
	return func(x float64) Event {
		events := make([]Event, len(children))
		for i, c := range children {
			events[i] = c(x)
		}
		return Composed{events}
	}, nil
}
