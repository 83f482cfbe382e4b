package value

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// DenseSaddle computes persons' saddle-point gradients for dense features, as
// [Saddle] does. Of a person with more transitions than features it keeps A_i,
// C_i and b_i as float32, rounded from float64 sums over that person's rows
// alone, and a gradient costs of the order of n^2; for all others it walks the
// transitions. It keeps a workspace and may not be shared by goroutines.
type DenseSaddle struct {
	direct *Saddle
	n      int
	place  []int // by person: where the statistics begin in kept, or -1
	// kept holds, for each person kept, the n rows (A_ij)_j (C_ij)_j of length 2n,
	// and after them b_i.
	kept []float32

	x      []float32 // theta, then w
	dTheta []float32
	out    []float64 // dTheta, then dW
}

// NewDenseSaddle prepares gradients of s, which must have features. keep tells
// whether statistics may be kept; they take 8 n^2 bytes a person.
func NewDenseSaddle(s *Sample, w Weighting, keep bool) *DenseSaddle {
	n := s.Dim
	g := &DenseSaddle{
		direct: NewSaddle(s, w), n: n, place: make([]int, s.Data.Persons()),
		x: make([]float32, 2*n), dTheta: make([]float32, n), out: make([]float64, 2*n),
	}
	size, total := 2*n*n+n, 0
	for p := range g.place {
		g.place[p] = -1
		if keep && transitions(s, p) > n {
			g.place[p] = total
			total += size
		}
	}
	g.kept = make([]float32, 0, total)
	moments := NewMoments(n)
	for p, at := range g.place {
		if at < 0 {
			continue
		}
		moments.Reset()
		moments.AddPerson(s, p, w)
		g.keep(moments)
	}
	return g
}

// transitions counts one person's transitions.
func transitions(s *Sample, person int) (count int) {
	lo, hi := s.Episodes(person)
	for e := lo; e < hi; e++ {
		from, to := s.Transitions(e)
		count += to - from
	}
	return count
}

func (g *DenseSaddle) keep(m *Moments) {
	n := g.n
	for i := range n {
		for _, row := range [][]float64{m.A[i*n : i*n+n], m.C[i*n : i*n+n]} {
			for _, v := range row {
				g.kept = append(g.kept, float32(v))
			}
		}
	}
	for _, v := range m.B {
		g.kept = append(g.kept, float32(v))
	}
}

// Person returns the gradient of one person, as [Saddle.Person] does. Both
// slices belong to g and are overwritten by the next call.
func (g *DenseSaddle) Person(theta, w []float64, person int) (dTheta, dW []float64) {
	at := g.place[person]
	if at < 0 {
		return g.direct.Person(theta, w, person)
	}
	n := g.n
	for i := range n {
		g.x[i], g.x[n+i] = float32(theta[i]), float32(w[i])
	}
	both := blas32.General{Rows: n, Cols: 2 * n, Stride: 2 * n, Data: g.kept[at : at+2*n*n]}
	b := g.kept[at+2*n*n : at+2*n*n+n]
	dTheta, dW = g.out[:n], g.out[n:]
	for i := range n {
		dW[i] = float64(dot32(both.Data[i*2*n:i*2*n+2*n], g.x) - b[i])
	}
	a := both
	a.Cols = n
	blas32.Gemv(blas.Trans, -1, a, blas32.Vector{N: n, Inc: 1, Data: g.x[n:]}, 0, blas32.Vector{N: n, Inc: 1, Data: g.dTheta})
	for i, v := range g.dTheta {
		dTheta[i] = float64(v)
	}
	return dTheta, dW
}

// dot32 is the dot product in an order of summation that depends on the length
// alone. The compiled one of blas32 follows where its arguments lie in memory, so
// that a person's gradient would depend on what else is on the heap.
func dot32(x, y []float32) float32 {
	y = y[:len(x)]
	var a, b, c, d float32
	i := 0
	for ; i+4 <= len(x); i += 4 {
		a += x[i] * y[i]
		b += x[i+1] * y[i+1]
		c += x[i+2] * y[i+2]
		d += x[i+3] * y[i+3]
	}
	for ; i < len(x); i++ {
		a += x[i] * y[i]
	}
	return (a + b) + (c + d)
}
