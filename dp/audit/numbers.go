package audit

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// number is what a test computes of an outcome. It is fitted on the samples that
// choose.
type number struct {
	name string
	of   func(x []float64) float64
}

// mostBins is the largest number of cells of a column whose frequencies are counted.
const mostBins = 256

// numbers are the candidates: all columns, the two discriminants and the frequencies.
func (s Samples) numbers() []number {
	width := len(s.Worlds[0][0])
	var all []number
	for i := range width {
		all = append(all, number{s.column(i), func(x []float64) float64 { return x[i] }})
	}
	all = append(all, s.frequencies())
	m := [2]moments{momentsOf(s.Worlds[0]), momentsOf(s.Worlds[1])}
	if width > 1 {
		if n, ok := linear(m); ok {
			all = append(all, n)
		}
	}
	if n, ok := quadratic(m); ok {
		all = append(all, n)
	}
	return all
}

// moments are the mean and the covariance of outcomes.
type moments struct {
	mean       []float64
	covariance *mat.SymDense
}

func momentsOf(outcomes [][]float64) moments {
	width := len(outcomes[0])
	m := moments{make([]float64, width), mat.NewSymDense(width, nil)}
	n := float64(len(outcomes))
	for _, x := range outcomes {
		for i, v := range x {
			m.mean[i] += v / n
		}
	}
	away := make([]float64, width)
	for _, x := range outcomes {
		for i, v := range x {
			away[i] = v - m.mean[i]
		}
		m.covariance.SymRankOne(m.covariance, 1/n, mat.NewVecDense(width, away))
	}
	return m
}

// factor is the Cholesky factor of a covariance, with a little added to its diagonal
// so that columns which never change do no harm.
func factor(c *mat.SymDense) (mat.Cholesky, bool) {
	width := c.SymmetricDim()
	padded := mat.NewSymDense(width, nil)
	padded.CopySym(c)
	for i := range width {
		padded.SetSym(i, i, c.At(i, i)*(1+1e-9)+1e-300)
	}
	var f mat.Cholesky
	ok := f.Factorize(padded)
	return f, ok
}

// linear is Fisher's discriminant.
func linear(m [2]moments) (number, bool) {
	width := len(m[0].mean)
	pooled := mat.NewSymDense(width, nil)
	pooled.AddSym(m[0].covariance, m[1].covariance)
	f, ok := factor(pooled)
	if !ok {
		return number{}, false
	}
	apart := mat.NewVecDense(width, nil)
	apart.SubVec(mat.NewVecDense(width, m[1].mean), mat.NewVecDense(width, m[0].mean))
	w := mat.NewVecDense(width, nil)
	// A poor condition makes a poor direction, which is then not chosen.
	_ = f.SolveVecTo(w, apart)
	return number{"linear discriminant", func(x []float64) float64 { return mat.Dot(w, mat.NewVecDense(width, x)) }}, true
}

// quadratic is the log-likelihood ratio of two normal laws, each with its own mean
// and covariance.
func quadratic(m [2]moments) (number, bool) {
	width := len(m[0].mean)
	var f [2]mat.Cholesky
	for world := range f {
		var ok bool
		if f[world], ok = factor(m[world].covariance); !ok {
			return number{}, false
		}
	}
	shift := (f[0].LogDet() - f[1].LogDet()) / 2
	away, solved := mat.NewVecDense(width, nil), mat.NewVecDense(width, nil)
	distance := func(world int, x []float64) float64 {
		away.SubVec(mat.NewVecDense(width, x), mat.NewVecDense(width, m[world].mean))
		_ = f[world].SolveVecTo(solved, away)
		return mat.Dot(away, solved)
	}
	return number{"quadratic discriminant", func(x []float64) float64 {
		ratio := shift + (distance(0, x)-distance(1, x))/2
		if math.IsNaN(ratio) { // both distances overflow
			return 0
		}
		return ratio
	}}, true
}

// frequencies is the log-likelihood ratio of how often each column had the value, or
// one near it, added up over columns. It finds what thresholds on values do not: a
// category, a gap, a value that only one world makes.
func (s Samples) frequencies() number {
	width := len(s.Worlds[0][0])
	edges, ratios := make([][]float64, width), make([][]float64, width)
	for i := range width {
		edges[i] = s.edges(i)
		var counts [2][]float64
		for world, outcomes := range s.Worlds {
			counts[world] = make([]float64, len(edges[i])+1)
			for _, x := range outcomes {
				counts[world][cell(edges[i], x[i])]++
			}
		}
		ratios[i] = make([]float64, len(edges[i])+1)
		n0, n1 := float64(len(s.Worlds[0])), float64(len(s.Worlds[1]))
		for c := range ratios[i] {
			ratios[i][c] = math.Log((counts[1][c] + 0.5) / (n1 + 1) * (n0 + 1) / (counts[0][c] + 0.5))
		}
	}
	return number{"frequencies", func(x []float64) float64 {
		sum := 0.0
		for i, v := range x {
			sum += ratios[i][cell(edges[i], v)]
		}
		return sum
	}}
}

// cell is the number of edges at or below a value.
func cell(edges []float64, v float64) int {
	at, found := slices.BinarySearch(edges, v)
	if found {
		at++
	}
	return at
}

// edges parts a column: at each of its values where they are few, else at quantiles.
func (s Samples) edges(column int) []float64 {
	var values []float64
	for _, outcomes := range s.Worlds {
		for _, x := range outcomes {
			values = append(values, x[column])
		}
	}
	slices.Sort(values)
	distinct := slices.Compact(slices.Clone(values))
	if len(distinct) <= mostBins {
		return distinct
	}
	const bins = 32
	var out []float64
	for b := 1; b < bins; b++ {
		out = append(out, values[b*len(values)/bins])
	}
	return slices.Compact(out)
}
