package dp

import (
	"encoding/json"
	"fmt"
	"math"
)

// ToDPAccounting writes an event in the form that [FromDPAccounting] reads, from which
// docs/results/dp_accounting_events.py makes an event of the Python package. An event without a
// counterpart there is refused by name.
func ToDPAccounting(e Event) ([]byte, error) {
	if e == nil {
		return nil, fmt.Errorf("%w: no event", ErrEvent)
	}
	if err := e.Validate(); err != nil {
		return nil, err
	}
	o, err := toDPAccounting(e)
	if err != nil {
		return nil, err
	}
	return json.Marshal(o)
}

// mostTrees bounds the list of trees that is written for one event.
const mostTrees = 1 << 16

// named is one event of dp-accounting, with its class name among the attributes.
type named map[string]any

func class(name string, attributes named) named {
	attributes["class_name"] = name
	return attributes
}

func toDPAccounting(e Event) (named, error) {
	switch e := e.(type) {
	case Gaussian:
		return class("GaussianDpEvent", named{"noise_multiplier": e.NoiseMultiplier}), nil
	case Laplace:
		return class("LaplaceDpEvent", named{"noise_multiplier": e.NoiseMultiplier}), nil
	case DiscreteLaplace:
		// Noise and vectors are integers, so the norm may be rounded down.
		if norm := math.Floor(e.Norm); norm >= 1 && norm <= 1<<53 {
			if math.IsInf(1/e.Scale, 0) {
				return nil, fmt.Errorf("%w: discrete_laplace: scale is %v; dp-accounting takes its inverse, which is no finite number", ErrEvent, e.Scale)
			}
			return class("DiscreteLaplaceDpEvent", named{"noise_parameter": 1 / e.Scale, "sensitivity": int64(norm)}), nil
		}
		return nil, fmt.Errorf("%w: discrete_laplace: norm is %v; dp-accounting takes whole numbers from 1 to 2^53", ErrEvent, e.Norm)
	case RandomizedResponse:
		return class("RandomizedResponseDpEvent", named{"noise_parameter": e.NoiseParameter, "num_buckets": e.Buckets}), nil
	case ZeroConcentratedDP:
		return class("ZCDpEvent", named{"rho": e.Rho, "xi": 0}), nil
	case GaussianDP, SmoothGaussian, Shuffled, DiscreteGaussian, ApproximateDP, PureDP, RenyiCurve, PrivacyLoss, Exponential, PermuteAndFlip, ReportNoisyMax:
		if e == (ApproximateDP{}) {
			return class("NoOpDpEvent", named{}), nil
		}
		return nil, fmt.Errorf("%w: %s has no counterpart in dp-accounting", ErrEvent, e.Kind())
	case TreeAggregation:
		return treeToDPAccounting(e)
	case SelectBest:
		return selectToDPAccounting(e)
	case PoissonSampled:
		return around("PoissonSampledDpEvent", e.Event, named{"sampling_probability": e.Rate})
	case SampledWithoutReplacement:
		return around("SampledWithoutReplacementDpEvent", e.Event, named{"source_dataset_size": e.Population, "sample_size": e.Sample})
	case TruncatedPoissonSampled:
		g, ok := e.Event.(Gaussian)
		if !ok {
			return nil, fmt.Errorf("%w: truncated_poisson_sampled has no counterpart in dp-accounting but of one gaussian", ErrEvent)
		}
		return class("TruncatedSubsampledGaussianDpEvent", named{
			"dataset_size": e.Population, "sampling_probability": e.Rate, "truncated_batch_size": e.Batch, "noise_multiplier": g.NoiseMultiplier,
		}), nil
	case SelfComposed:
		return around("SelfComposedDpEvent", e.Event, named{"count": e.Count})
	case Composed:
		events := make([]named, len(e.Events))
		for i, child := range e.Events {
			var err error
			if events[i], err = toDPAccounting(child); err != nil {
				return nil, err
			}
		}
		return class("ComposedDpEvent", named{"events": events}), nil
	}
	return nil, fmt.Errorf("%w: %s has no counterpart in dp-accounting", ErrEvent, e.Kind())
}

func around(name string, inner Event, attributes named) (named, error) {
	below, err := toDPAccounting(inner)
	attributes["event"] = below
	return class(name, attributes), err
}

func treeToDPAccounting(e TreeAggregation) (named, error) {
	switch {
	case e.Participations > 1:
		return nil, fmt.Errorf("%w: tree_aggregation: participations is %d; dp-accounting has trees in which a person takes part once", ErrEvent, e.Participations)
	case e.Restarts >= mostTrees:
		return nil, fmt.Errorf("%w: tree_aggregation: %d trees; at most %d are written", ErrEvent, e.Restarts+1, mostTrees)
	case e.Restarts == 0:
		return class("SingleEpochTreeAggregationDpEvent", named{"noise_multiplier": e.NoiseMultiplier, "step_counts": e.Steps}), nil
	}
	steps := make([]int64, e.Restarts+1)
	for i := range steps {
		steps[i] = e.Steps
	}
	return class("SingleEpochTreeAggregationDpEvent", named{"noise_multiplier": e.NoiseMultiplier, "step_counts": steps}), nil
}

func selectToDPAccounting(e SelectBest) (named, error) {
	mean, shape := 1/e.Gamma, 1
	if e.Runs == "logarithmic" {
		mean, shape = logarithmicMean(e.Gamma), 0
	}
	switch {
	case e.Runs != "poisson" && math.IsInf(mean, 1):
		return nil, fmt.Errorf("%w: select_best: gamma is %v; dp-accounting takes the mean number of runs, which is no finite number", ErrEvent, e.Gamma)
	case e.Runs != "poisson":
		return around("RepeatAndSelectDpEvent", e.Event, named{"mean": mean, "shape": shape})
	}
	return around("RepeatAndSelectDpEvent", e.Event, named{"mean": e.Mean, "shape": "inf"})
}
