// What holds of draws beside their law: their bits, their independence, and that drawing many at once is drawing them one by one.

package noise

import (
	"math"
	"testing"
)

func TestLowBitsAreUniformAtLargeScales(t *testing.T) {
	// The characteristic function at multiples of 2 pi/64 is below
	// 1/(1+(2 pi scale/64)^2) < 1e-9 for all four laws.
	const n = 1 << 18
	for _, l := range laws {
		for _, scale := range []float64{1 << 20, 1 << 30, 1<<40 - 1} {
			s, err := l.make(scale)
			if err != nil {
				t.Fatal(err)
			}
			src := NewSeeded(8)
			var low, high [64]int
			uniform := make([]float64, 64)
			for i := range uniform {
				uniform[i] = 1. / 64
			}
			for range n {
				k := s.Sample(src)
				low[k&63]++
				high[k>>6&63]++
			}
			if p := chiSquared(low[:], uniform); p < falseAlarm {
				t.Errorf("%s(%g): bits 0-5: p = %.2g", l.name, scale, p)
			}
			if p := chiSquared(high[:], uniform); p < falseAlarm {
				t.Errorf("%s(%g): bits 6-11: p = %.2g", l.name, scale, p)
			}
		}
	}
}

func TestSuccessiveDrawsAreIndependent(t *testing.T) {
	const n, parts = 1 << 19, 8
	for _, l := range laws {
		s, err := l.make(1 << 24)
		if err != nil {
			t.Fatal(err)
		}
		draws := make([]int64, 2*n)
		s.Fill(draws, NewSeeded(9))
		joint := make([]int, parts*parts)
		probability := make([]float64, parts*parts)
		cell := func(k int64) int { // 8 cells, of |k| and sign
			m := min(int(max(k, -k)/(1<<23)), 3)
			if k < 0 {
				m += 4
			}
			return m
		}
		one := make([]float64, parts)
		for m := range 4 {
			one[m] = l.below(1<<24, 1-int64(m)<<23)
			if m < 3 {
				one[m] -= l.below(1<<24, 1-int64(m+1)<<23)
			}
			one[m+4] = one[m]
		}
		one[0] = 0.5 - (one[1] + one[2] + one[3]) // and half of zero, below 2^-24
		one[4] = one[0]
		for i := 0; i < len(draws); i += 2 {
			joint[cell(draws[i])*parts+cell(draws[i+1])]++
		}
		for i := range probability {
			probability[i] = one[i/parts] * one[i%parts]
		}
		if p := chiSquared(joint, probability); p < falseAlarm {
			t.Errorf("%s: pairs: p = %.2g", l.name, p)
		}
	}
}

func TestFillIsRepeatedSample(t *testing.T) {
	for _, l := range laws {
		for _, scale := range []float64{1, 1 << 30} {
			s, err := l.make(scale)
			if err != nil {
				t.Fatal(err)
			}
			a, b := NewSeeded(11), NewSeeded(11)
			dst := make([]int64, 10_000)
			s.Fill(dst, a)
			for i, k := range dst {
				if got := s.Sample(b); got != k {
					t.Fatalf("%s(%g): draw %d: Fill %d, Sample %d", l.name, scale, i, k, got)
				}
			}
		}
	}
}

func TestFastGaussianIsNormal(t *testing.T) {
	const n, cells, sigma = 1 << 20, 200, 0.37
	g, err := NewFastGaussian(sigma)
	if err != nil {
		t.Fatal(err)
	}
	counts, uniform := make([]int, cells), make([]float64, cells)
	dst := make([]float64, n)
	g.Fill(dst, NewSeeded(12))
	for _, x := range dst {
		u := math.Erfc(-x/(sigma*math.Sqrt2)) / 2
		counts[min(int(u*cells), cells-1)]++
	}
	for i := range uniform {
		uniform[i] = 1. / cells
	}
	if p := chiSquared(counts, uniform); p < falseAlarm {
		t.Errorf("p = %.2g", p)
	}
	half, err := NewFastGaussian(sigma / 2)
	if err != nil {
		t.Fatal(err)
	}
	a, b := half.Sample(NewSeeded(1)), g.Sample(NewSeeded(1))
	if 2*a != b || g.Sigma() != sigma {
		t.Errorf("half of sigma %v gives %v, not half of %v", g.Sigma(), a, b)
	}
}

func TestDrawsDoNotAllocate(t *testing.T) {
	// Refills of the source do, three times in 1024 words, which the average
	// rounds down.
	for _, l := range laws {
		s, err := l.make(1 << 30)
		if err != nil {
			t.Fatal(err)
		}
		src := NewSeeded(14)
		if n := testing.AllocsPerRun(100_000, func() { s.Sample(src) }); n != 0 {
			t.Errorf("%s: %v allocations a draw", l.name, n)
		}
	}
}

func TestZeroSourcePanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("the zero value of Source gives bits; without a key they are constant")
		}
	}()
	new(Source).Uint64()
}
