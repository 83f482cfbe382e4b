package account_test

import (
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

func benchmarkPLD(b *testing.B, rate, noise float64, count int64, delta float64) {
	width := 0.0
	for b.Loop() {
		p := account.NewPLD(dp.AddRemoveOne)
		if err := p.Compose(b.Context(), sgd(rate, noise), count); err != nil {
			b.Fatal(err)
		}
		answer, err := p.Epsilon(b.Context(), delta)
		if err != nil {
			b.Fatal(err)
		}
		width = answer.Upper/answer.Lower - 1
	}
	b.ReportMetric(width, "width")
}

// BenchmarkPLDDeepLearning is the textbook DP-SGD run.
func BenchmarkPLDDeepLearning(b *testing.B) { benchmarkPLD(b, 256.0/60000, 1.1, 14062, 1e-5) }

// BenchmarkPLDRareSamples is where fixed grids need millions of points.
func BenchmarkPLDRareSamples(b *testing.B) { benchmarkPLD(b, 1e-6, 0.5, 1e6, 1e-8) }

// BenchmarkPLDCalibrations reports the time of one calibration of the noise.
func BenchmarkPLDCalibrations(b *testing.B) {
	for b.Loop() {
		build := func(noise float64) (dp.Event, error) {
			return dp.SelfComposed{Count: 10000, Event: sgd(0.001, noise)}, nil
		}
		fresh := func() account.Accountant { return account.NewPLD(dp.AddRemoveOne) }
		if _, err := account.Calibrate(b.Context(), build, dp.Budget{Epsilon: 2, Delta: 1e-6}, fresh); err != nil {
			b.Fatal(err)
		}
	}
}
