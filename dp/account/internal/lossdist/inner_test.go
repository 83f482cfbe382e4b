package lossdist

import (
	"math"
	"testing"

	"github.com/discreet-rl/discreet/internal/xmath"
	"pgregory.net/rapid"
)

func TestNormalMassMatchesTails(t *testing.T) {
	for _, lo := range []float64{-12, -3, -0.2, 0, 0.7, 5, 30} {
		for _, width := range []float64{0.3, 1, 4} {
			mid := lo + width/2
			got := normalDensity(mid) * normalMass(mid, width)
			want := xmath.NormSF(lo) - xmath.NormSF(lo+width)
			if lo < 0 {
				want = xmath.NormCDF(lo+width) - xmath.NormCDF(lo)
			}
			if math.Abs(got/want-1) > 1e-12 {
				t.Errorf("mass of [%v, %v] = %v; want %v", lo, lo+width, got, want)
			}
		}
	}
}

// TestWaveStaysWithinItsSlack holds the stepwise phases against direct ones.
func TestWaveStaysWithinItsSlack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMeasure(0, 0)
		for range rapid.IntRange(1, 20).Draw(t, "atoms") {
			m.add(rapid.Float64Range(-3, 3).Draw(t, "loss"), rapid.Float64Range(1e-3, 1).Draw(t, "mass"))
		}
		m.finish()
		tilt := rapid.Float64Range(0.1, 20).Draw(t, "tilt")
		k, _ := m.cumulant(tilt)
		step := rapid.Float64Range(1e-3, 3).Draw(t, "step")
		w := newWave(m, 1, tilt, k, step)
		for i := 1; i < 100; i++ {
			re, im, slack := w.zeta(i)
			wantRe, wantIm := 0.0, 0.0
			for j, l := range w.loss {
				x, y := expm1i(float64(i) * step * l)
				wantRe += w.weight[j] * x
				wantIm += w.weight[j] * y
			}
			if d := math.Hypot(re-wantRe, im-wantIm); d > slack {
				t.Fatalf("frequency %d of step %v: off by %v; want at most %v", i, step, d, slack)
			}
		}
	})
}

// TestSmoothingAddsAtMostItsBound: the mean of (1-e^-(t+Z))+ exceeds (1-e^-t)+ by
// at most (1+s) s phi(t/s) e^(-t/2-s^2/8), for Z normal with mean s^2/2.
func TestSmoothingAddsAtMostItsBound(t *testing.T) {
	for _, s := range []float64{1e-6, 1e-3, 0.1, 0.5, 1} {
		for x := -8.0; x <= 8; x += 0.01 {
			y := x * s
			added := smoothPayoff(y, s) - max(0, -math.Expm1(-y))
			bound := (1 + s) * s * xmath.NormPDF(x) * math.Exp(-y/2-s*s/8)
			if added > bound+1e-15 || added < -1e-15 {
				t.Errorf("s %v, t %v: smoothing adds %v; want 0 to %v", s, y, added, bound)
			}
		}
	}
}

// TestCutoffDoesNotMatter computes one heavy-tailed composition with its far
// losses taken apart at different cutoffs and inverted at different tilts and
// periods: every bracket must hold the same delta.
func TestCutoffDoesNotMatter(t *testing.T) {
	const epsilon, count = 0.0767, 1000
	law := Gaussian{1 / 0.3}
	b := law.Bins(uniformCuts(-7, 3.33+7, 600)).Poisson(1e-5)
	lower := []side{{b.Lower().finish().trim(1e-12, false), count}}
	upper := []side{{b.Upper().finish().trim(1e-12, true), count}}
	bestLow, bestUp := 0.0, 1.0
	for _, cutoff := range []float64{0.1, 0.2, 0.5} {
		for _, set := range []settings{
			{tilt: 5, step: 2 * math.Pi / 12, extra: 1e-6, limit: 8e3},
			{tilt: 15, step: 2 * math.Pi / 8, extra: 1e-6, limit: 8e3},
			{tilt: 10, step: 2 * math.Pi / 6, extra: 1e-5, limit: 3e3},
		} {
			s := &state{comp: Composition{Parts: []Part{{Count: count}}}, lower: lower, upper: upper, near: below(lower, cutoff)}
			up := newSpectrum(t.Context(), below(upper, cutoff), 0, true, set).value(epsilon) + newFar(upper, cutoff, 0, true).value(epsilon) + infinite(upper, 1)
			low := newSpectrum(t.Context(), s.near, 0, false, set).value(epsilon) - s.copies(set)(epsilon) + newFar(lower, cutoff, 0, false).value(epsilon)
			bestLow, bestUp = max(bestLow, low), min(bestUp, up)
		}
	}
	if bestLow > bestUp || bestUp > bestLow*1.01 {
		t.Errorf("delta is at least %v and at most %v; want a narrow bracket", bestLow, bestUp)
	}
}

// TestUpperAndLowerKeepTheMeanLikelihood: both measures have the pair's mean of
// e^-loss, its mass under the second law where the first is not 0.
func TestUpperAndLowerKeepTheMeanLikelihood(t *testing.T) {
	b := Gaussian{1}.Bins(uniformCuts(-9, 10, 40, 0.5))
	for name, m := range map[string]*Measure{"upper": b.Upper().finish(), "lower": b.Lower().finish()} {
		sum := 0.0
		for i, w := range m.Mass {
			sum += w * math.Exp(-m.Loss[i])
		}
		if math.Abs(sum-1) > 1e-12 {
			t.Errorf("%s: mean of e^-loss is %v; want 1", name, sum)
		}
	}
}

// TestSkippedFrequenciesAreSilent computes the frequencies that are skipped: their
// product is below e^silence at each.
func TestSkippedFrequenciesAreSilent(t *testing.T) {
	skipped := 0
	rapid.Check(t, func(t *rapid.T) {
		const step, tilt = 0.02, 1.0
		waves := make([]*wave, rapid.IntRange(1, 12).Draw(t, "waves"))
		for i := range waves {
			m := newMeasure(0, 0)
			for range rapid.IntRange(2, 4).Draw(t, "atoms") {
				m.add(rapid.Float64Range(-1, 1).Draw(t, "loss"), rapid.Float64Range(.1, 1).Draw(t, "mass"))
			}
			m.finish()
			k, _ := m.cumulant(tilt)
			waves[i] = newWave(m, rapid.Float64Range(1, 300).Draw(t, "count"), tilt, k, step)
		}
		for k := 1; k < 2000; {
			p := multiply(waves, k, float64(k)*step, tilt, 0)
			next := k + 1
			if p.logMod < silence-5 {
				next = p.skip(waves, k, step)
			}
			for k++; k < min(next, 2000); k++ {
				skipped++
				log := 0.0
				for _, w := range waves {
					re, im := w.jump(float64(k) * step)
					w.at = -2 // the next frequency starts afresh
					log += w.count * math.Log(math.Hypot(1+re, im))
				}
				if log > silence+1e-6 {
					t.Fatalf("frequency %d was skipped; its product is e^%v", k, log)
				}
			}
			k = max(k, next)
		}
	})
	if skipped < 1000 {
		t.Errorf("only %d frequencies were skipped", skipped)
	}
}

// TestEnvelopeIsTheHighestCurve: at every dot the pair that dominates several
// differences has the largest of their hockey-stick divergences, and between the
// dots no less than that.
func TestEnvelopeIsTheHighestCurve(t *testing.T) {
	for _, sigma := range []float64{.5, .8, 1.5} {
		all := Lattices(t.Context(), sigma, [][]int{{1, 1, 1, 1}, {2}, {1, 1, 1}})
		m := Envelope(all).Bins(nil).Upper().finish()
		for j := range 400 {
			epsilon := float64(j) / 8 / (2 * sigma * sigma)
			got, want := m.Infinite+m.hockeyStick(epsilon), 0.0
			for _, l := range all {
				low, _ := l.Curve().Delta(epsilon)
				want = max(want, low)
			}
			if want < 1e-30 {
				break
			}
			if got*(1+m.MassError) < want || j%8 == 0 && got > want*(1+1e-6) {
				t.Errorf("sigma %v, epsilon %v: %v; the highest curve is at %v", sigma, epsilon, got, want)
			}
		}
	}
}
