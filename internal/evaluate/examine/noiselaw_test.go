package examine

import (
	"errors"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/evaluate/replay"
)

// TestTheLawOfTheNoise: normal noise passes at a rate of 1e-6, and is refuted with a
// standard deviation, a mean or a dependence that is a tenth off.
func TestTheLawOfTheNoise(t *testing.T) {
	g, err := noise.NewGaussian(1e6)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		of     func(x [4]float64) [][]float64
		honest bool
	}{
		"honest":      {func(x [4]float64) [][]float64 { return [][]float64{{x[0]}, {x[1], x[2]}} }, true},
		"smaller":     {func(x [4]float64) [][]float64 { return [][]float64{{x[0]}, {x[1], 0.9 * x[2]}} }, false},
		"larger":      {func(x [4]float64) [][]float64 { return [][]float64{{1.1 * x[0]}, {x[1], x[2]}} }, false},
		"beside zero": {func(x [4]float64) [][]float64 { return [][]float64{{x[0]}, {x[1] + 0.1, x[2]}} }, false},
		"dependent":   {func(x [4]float64) [][]float64 { return [][]float64{{x[0]}, {x[1], 0.6*x[0] + 0.8*x[2]}} }, false},
		"opposite":    {func(x [4]float64) [][]float64 { return [][]float64{{x[0]}, {-x[0], x[2]}} }, false},
	} {
		src := noise.NewSeeded(4)
		var law noiseLaw
		for range 20000 {
			var x [4]float64
			for i := range x {
				x[i] = float64(g.Sample(src)) / 1e6
			}
			law.add(c.of(x))
		}
		if err := law.judge(1e-6); (err == nil) != c.honest || err != nil && !errors.Is(err, replay.ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
