package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// reference plans a method of a value function without privacy, which may bootstrap.
func reference(method string, m Estimator, p Public, bootstraps bool, solve func(s *value.Sample) ([]float64, error)) (*Plan, error) {
	return bareReference(method, m, p, draft{outcome: functionAgain(p, false), perState: true, bootstraps: bootstraps}, func(s *value.Sample) (*Release, error) {
		theta, err := solve(s)
		if err != nil {
			return nil, err
		}
		return functionReleased(p.Features, theta), nil
	})
}

// scalarReference is a reference that releases a number.
func scalarReference(method string, m Estimator, p Public, compute func(s *value.Sample) (*Release, error)) (*Plan, error) {
	again := func(r *Release) (*Release, error) {
		if r.estimate == nil {
			return nil, errors.New("estimate is missing")
		}
		return number(r.estimate.Value, r.estimate.StdSampling), nil
	}
	return bareReference(method, m, p, draft{outcome: again}, compute)
}

// bareReference plans a method without privacy. What it releases protects nobody.
func bareReference(method string, m Estimator, p Public, of draft, compute func(s *value.Sample) (*Release, error)) (*Plan, error) {
	return planned(method, m, p, func(method string, p Public) (draft, error) {
		of.prepare = whole(func(_ context.Context, d *trajectory.Dataset) (draw, error) {
			if p.Features != nil {
				if err := feature.Check(p.Features, d); err != nil {
					return nil, err
				}
			}
			s, err := sampleFor(d, p)
			if err != nil {
				return nil, err
			}
			return func(context.Context, *noise.Source) (*Release, error) {
				r, err := compute(s)
				if err == nil {
					r.Diagnostics = weightFacts(s)
					r.Notes, err = doubts(p, r)
				}
				return r, err
			}, nil
		})
		of.method, of.public, of.outcome = method, p, referenceAgain(p, of.outcome)
		of.summary = summary{notes: []string{referenceNote}}
		return of, nil
	})
}

// referenceNote says what a release without privacy is.
const referenceNote = "This is a reference without privacy: it may reveal the data of single persons."

// average is the release of a mean over persons with its standard error.
func average(x []float64) *Release {
	mean, variance := 0.0, 0.0
	for _, v := range x {
		mean += v
	}
	m := float64(len(x))
	mean /= m
	for _, v := range x {
		variance += (v - mean) * (v - mean)
	}
	return number(mean, math.Sqrt(variance/max(m-1, 1)/m))
}

func number(v, sampling float64) *Release {
	half := scalar.Z95 * sampling
	return &Release{estimate: &Estimate{
		Value:       v,
		Interval:    [2]float64{v - half, v + half},
		Confidence:  0.95,
		StdSampling: sampling,
		Sampling:    NotPrivate,
	}}
}

// weights describes the importance weights of a reference without privacy, one a
// person: the mean of those of the person's episodes.
type weights struct {
	Persons int `json:"persons"`
	// EffectiveSampleSize is (sum d)^2 / sum d^2 over the weights d: the number of
	// persons whose plain mean would vary as much (Kish 1965).
	EffectiveSampleSize float64 `json:"effective_sample_size"`
	// MeanWeight is 1, up to chance, where the logged probabilities are right.
	MeanWeight    float64 `json:"mean_weight"`
	LargestWeight float64 `json:"largest_weight"`
}

// FewEffective is the effective sample size below which an answer rests on too few
// to be trusted: its standard error is itself an estimate from so many.
const FewEffective = 30

// weightFacts are the diagnostics of a reference: off-policy, its weights.
func weightFacts(s *value.Sample) map[string]any {
	if s.Rho == nil {
		return nil
	}
	d := scalar.PersonWeights(s)
	sum, squares := 0.0, 0.0
	for _, x := range d {
		sum += x
		squares += x * x
	}
	w := weights{Persons: len(d), MeanWeight: sum / float64(len(d)), LargestWeight: slices.Max(d)}
	if squares > 0 {
		w.EffectiveSampleSize = sum / squares * sum
	}
	return map[string]any{"weights": w}
}

// doubts are notes on what makes a reference doubtful, from what it tells itself.
func doubts(p Public, r *Release) ([]string, error) {
	var notes []string
	if len(r.Diagnostics) > 0 {
		var w weights
		if err := diagnostic(r, "weights", &w); err != nil {
			return nil, err
		}
		if !(w.EffectiveSampleSize >= FewEffective) {
			notes = append(notes, fmt.Sprintf("The effective sample size is %.3g of %d persons (largest weight %.3g, mean weight %.3g): the answer rests on very few of them. Below an effective sample size of %d neither the answer nor its standard error can be trusted.",
				w.EffectiveSampleSize, w.Persons, w.LargestWeight, w.MeanWeight, FewEffective))
		}
	}
	returns := p.Returns()
	if p.Horizon == 0 || !(returns.Width() > 0) {
		return notes, nil
	}
	var told []float64
	if r.estimate != nil {
		told = []float64{r.estimate.Value}
	}
	beyond := 0
	for _, v := range append(told, r.Values...) {
		if !(v >= returns.Min && v <= returns.Max) {
			beyond++
		}
	}
	switch {
	case beyond > 0 && r.estimate != nil:
		notes = append(notes, fmt.Sprintf("The value is impossible: it lies outside the range of a return, [%g, %g]. The probabilities of the logged actions may be wrong, or the weights too uneven.", returns.Min, returns.Max))
	case beyond > 0:
		notes = append(notes, fmt.Sprintf("The values of %d states are impossible: they lie outside the range of a return, [%g, %g].", beyond, returns.Min, returns.Max))
	}
	return notes, nil
}

// referenceAgain makes a reference again: what bare makes, its weights and the
// notes on them.
func referenceAgain(p Public, bare outcome) outcome {
	return func(r *Release) (*Release, error) {
		again, err := bare(r)
		if err != nil {
			return nil, err
		}
		if again.Diagnostics, err = weightsAgain(p, r); err != nil {
			return nil, err
		}
		again.Notes, err = doubts(p, again)
		return again, err
	}
}

// weightsAgain checks the weights of a reference.
func weightsAgain(p Public, r *Release) (map[string]any, error) {
	if p.onPolicy() {
		return nil, nil
	}
	var w weights
	if err := diagnostic(r, "weights", &w); err != nil {
		return nil, err
	}
	n := float64(w.Persons)
	if e := w.EffectiveSampleSize; !(w.MeanWeight >= 0 && w.LargestWeight >= w.MeanWeight && e <= n*(1+1e-9) &&
		e*w.LargestWeight >= n*w.MeanWeight*(1-1e-9)) {
		return nil, fmt.Errorf("diagnostics.weights: no %d weights have mean %v, largest %v and effective sample size %v", w.Persons, w.MeanWeight, w.LargestWeight, e)
	}
	return map[string]any{"weights": w}, nil
}
