//go:build slow

package account_test

import (
	"math"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"pgregory.net/rapid"
)

func TestDeltaOfAnySamplingFallsWithEpsilon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		adj := rapid.SampledFrom([]dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne}).Draw(t, "adjacency")
		noise := math.Exp(rapid.Float64Range(math.Log(.7), math.Log(8)).Draw(t, "ln noise"))
		inner := rapid.SampledFrom([]dp.Event{dp.Gaussian{NoiseMultiplier: noise}, dp.Laplace{NoiseMultiplier: noise}}).Draw(t, "inner")
		rate := math.Exp(rapid.Float64Range(math.Log(1e-3), math.Log(.5)).Draw(t, "ln rate"))
		count := int64(math.Exp(rapid.Float64Range(0, math.Log(3000)).Draw(t, "ln count")))
		first, step := rapid.Float64Range(0, .5).Draw(t, "first"), rapid.Float64Range(1.2, 1.9).Draw(t, "step")
		checkDeltaFalls(t, adj, dp.PoissonSampled{Rate: rate, Event: inner}, count, first, step)
	})
}

func TestAThousandDistinctPartsKeepANarrowBracket(t *testing.T) { checkDistinct(t, 1000) }
