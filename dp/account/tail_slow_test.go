//go:build slow

package account_test

import (
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"pgregory.net/rapid"
)

func TestDeltaOfAnySamplingFallsWithEpsilon(t *testing.T) {
	few(t, func(t *rapid.T) {
		adj := rapid.SampledFrom([]dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne}).Draw(t, "adjacency")
		noise := math.Exp(rapid.Float64Range(math.Log(.7), math.Log(8)).Draw(t, "ln noise"))
		kinds := []dp.Event{dp.Gaussian{NoiseMultiplier: noise}, dp.Laplace{NoiseMultiplier: noise}}
		if adj == dp.AddRemoveOne { // no more is known of samples under an exchange
			kinds = append(kinds, dp.PureDP{Epsilon: 1 / noise}, dp.Exponential{Epsilon: 1 / noise}, dp.PermuteAndFlip{Epsilon: 1 / noise},
				dp.ReportNoisyMax{Noise: "laplace", Scale: noise, Sensitivity: 1})
		}
		inner := rapid.SampledFrom(kinds).Draw(t, "inner")
		rate := math.Exp(rapid.Float64Range(math.Log(1e-3), math.Log(.5)).Draw(t, "ln rate"))
		count := int64(math.Exp(rapid.Float64Range(0, math.Log(3000)).Draw(t, "ln count")))
		first, step := rapid.Float64Range(0, .5).Draw(t, "first"), rapid.Float64Range(1.2, 1.9).Draw(t, "step")
		checkDeltaFalls(t, adj, dp.PoissonSampled{Rate: rate, Event: inner}, count, first, step)
	})
}

func TestDeltaOfAnyLeafFallsWithEpsilon(t *testing.T) {
	few(t, func(t *rapid.T) {
		eps := math.Exp(rapid.Float64Range(math.Log(.1), math.Log(4)).Draw(t, "ln epsilon"))
		leaf := rapid.SampledFrom([]dp.Event{dp.PureDP{Epsilon: eps}, dp.Exponential{Epsilon: eps}, dp.PermuteAndFlip{Epsilon: eps},
			dp.ReportNoisyMax{Noise: "laplace", Scale: 1, Sensitivity: eps / 2}, responseLoss(eps),
			dp.SelectBest{Runs: "logarithmic", Gamma: .1, Event: dp.GaussianDP{Mu: eps}}, dp.SelectBest{Runs: "poisson", Mean: 8, Event: dp.PureDP{Epsilon: eps}},
			dp.RenyiCurve{Orders: []float64{1.5, 4, 32}, Values: []float64{eps / 2, eps, 2 * eps}}}).Draw(t, "leaf")
		count := int64(math.Exp(rapid.Float64Range(0, math.Log(3000)).Draw(t, "ln count")))
		first, step := rapid.Float64Range(0, .5).Draw(t, "first"), rapid.Float64Range(1.2, 1.9).Draw(t, "step")
		checkDeltaFalls(t, dp.ReplaceOne, leaf, count, first, step)
	})
}

func TestAThousandDistinctPartsKeepANarrowBracket(t *testing.T) { checkDistinct(t, 1000) }
