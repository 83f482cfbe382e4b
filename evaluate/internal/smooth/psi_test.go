package smooth

import (
	"math"
	"math/rand/v2"
	"testing"
)

// direct evaluates the two maxima term by term.
func directLSW(counts []int64, w []float64, beta float64) float64 {
	most := int64(0)
	for _, n := range counts {
		most = max(most, n)
	}
	psi := 0.0
	for k := int64(0); k <= most; k++ {
		phi := 0.0
		for s, n := range counts {
			d := float64(max(n-k, 1))
			phi += w[s] / (d * d)
		}
		psi = max(psi, math.Exp(-float64(k)*beta)*phi)
	}
	return psi
}

func directLSL(counts []int64, rho []float64, c, beta float64, limit, last int64) float64 {
	norm, psi := 0.0, 0.0
	for _, r := range rho {
		norm += r * r
	}
	for k := int64(0); k <= last; k++ {
		visits := 0.0
		for s, n := range counts {
			seen := n + k
			if limit >= 0 {
				seen = min(seen, limit)
			}
			visits += rho[s] * float64(seen)
		}
		root := c*math.Sqrt(visits) + math.Sqrt(norm)
		psi = max(psi, math.Exp(-float64(k)*beta)*root*root)
	}
	return psi
}

func TestPsiByHand(t *testing.T) {
	// Two states, visited 3 and 0 times, weights 1 and 2, beta = ln 2. At k = 0:
	// 1/9 + 2 = 2.111; at k = 2: (1 + 2)/4 = .75. The maximum is 19/9.
	if got := psiLSW([]int64{3, 0}, []float64{1, 2}, math.Ln2); math.Abs(got-19.0/9) > 1e-15 {
		t.Errorf("psiLSW = %v; want 19/9", got)
	}
	// One state visited 5 times, beta = .1: k = 4 gives exp(-.4).
	if got, want := psiLSW([]int64{5}, []float64{1}, 0.1), math.Exp(-0.4); math.Abs(got-want) > 1e-15 {
		t.Errorf("psiLSW = %v; want exp(-.4) = %v", got, want)
	}
	// One state visited by 2 of 4 persons, c = 1, rho = 1, beta = .1: k = 2 gives
	// exp(-.2) (sqrt 4 + 1)^2.
	if got, want := psiLSL([]int64{2}, []float64{1}, 1, 0.1, 4), 9*math.Exp(-0.2); math.Abs(got-want) > 1e-14 {
		t.Errorf("psiLSL = %v; want 9 exp(-.2) = %v", got, want)
	}
}

func TestPsiEqualsTheDirectMaximum(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for trial := range 300 {
		n := 1 + rng.IntN(12)
		m := int64(1 + rng.IntN(400))
		counts, w := make([]int64, n), make([]float64, n)
		for s := range counts {
			counts[s] = rng.Int64N(m + 1)
			w[s] = 0.1 + rng.Float64()
		}
		beta := math.Exp(-6 * rng.Float64())
		if got, want := psiLSW(counts, w, beta), directLSW(counts, w, beta); math.Abs(got-want) > 1e-12*want {
			t.Fatalf("trial %d: psiLSW(%v, %v, %v) = %v; want %v", trial, counts, w, beta, got, want)
		}
		c := rng.Float64() * 3
		if got, want := psiLSL(counts, w, c, beta, m), directLSL(counts, w, c, beta, m, m); math.Abs(got-want) > 1e-12*want {
			t.Fatalf("trial %d: psiLSL(%v, %v, %v, %v) = %v; want %v", trial, counts, w, c, beta, got, want)
		}
		if got, want := psiLSL(counts, w, c, beta, -1), directLSL(counts, w, c, beta, -1, 3000); math.Abs(got-want) > 1e-12*want {
			t.Fatalf("trial %d: psiLSL without limit = %v; want %v", trial, got, want)
		}
	}
}

func BenchmarkPsi(b *testing.B) {
	for name, m := range map[string]int64{"persons=1e4": 1e4, "persons=1e7": 1e7} {
		rng := rand.New(rand.NewPCG(3, 4))
		counts, w := make([]int64, 40), make([]float64, 40)
		for s := range counts {
			counts[s], w[s] = rng.Int64N(m), 1
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				psiLSW(counts, w, 1e-3)
				psiLSL(counts, w, 1, 1e-3, m)
			}
		})
	}
}
