package gpope

import (
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// gradients adds one person's stacked gradient, scaled, to a step's sum, which
// clips it. Whatever is kept of a person is computed from that person's rows.
type gradients interface {
	add(sum *mechanism.StepSum, theta, w []float64, person int) error
}

func (r *Walk) newGradients(s *value.Sample) gradients {
	if r.OneHot {
		return newCellGradients(r, s)
	}
	keep := float64(r.Public.Persons)*8*float64(r.N)*float64(r.N) <= keepLimit
	return &denseGradients{saddle: value.NewDenseSaddle(s, r.Weighting, keep), factors: r.factors(), g: make([]float64, 2*r.N)}
}

// factors is what the gradient of each coordinate is multiplied by.
func (r *Walk) factors() []float64 {
	f := make([]float64, r.N)
	for j, s := range r.Scale {
		f[j] = s * r.Shrink
	}
	return f
}

// cellGradients are those of one-hot features.
type cellGradients struct {
	n       int32
	saddle  *value.CellSaddle
	factors []float64
	scale   []float64
	index   []int32   // cells, then n + cells
	at      []float64 // theta, then w, at the index
	g       []float64
}

func newCellGradients(r *Walk, s *value.Sample) *cellGradients {
	return &cellGradients{
		n: int32(r.N), saddle: value.NewCellSaddle(s, r.Weighting), factors: r.factors(), scale: r.Scale,
		index: make([]int32, 2*r.N), at: make([]float64, 2*r.N), g: make([]float64, 2*r.N),
	}
}

// locate fills the index of a person's coordinates and returns their number.
func (c *cellGradients) locate(person int) (cells []int32, k int) {
	cells = c.saddle.Cells(person)
	k = len(cells)
	low, high := c.index[:k], c.index[k:2*k]
	for i, j := range cells {
		low[i], high[i] = j, c.n+j
	}
	return cells, k
}

// gradient computes the scaled gradient from theta and w in c.at.
func (c *cellGradients) gradient(cells []int32, person int) {
	k := len(cells)
	dTheta, dW := c.g[:k], c.g[k:2*k]
	c.saddle.Gradient(dTheta, dW, c.at[:k], c.at[k:2*k], person)
	for i, j := range cells {
		f := c.factors[j]
		dTheta[i] *= f
		dW[i] *= f
	}
}

func (c *cellGradients) add(sum *mechanism.StepSum, theta, w []float64, person int) error {
	cells, k := c.locate(person)
	for i, j := range cells {
		c.at[i], c.at[k+i] = theta[j], w[j]
	}
	c.gradient(cells, person)
	return sum.AddAt(c.index[:2*k], c.g[:2*k])
}

// move takes one step of a lazy walk.
func (c *cellGradients) move(x *mechanism.LazyWalk, person int, src *noise.Source) error {
	cells, k := c.locate(person)
	x.Read(c.at[:2*k], c.index[:2*k], src)
	for i, j := range cells {
		c.at[i] *= c.scale[j]
		c.at[k+i] *= c.scale[j]
	}
	c.gradient(cells, person)
	return x.Step(c.index[:2*k], c.g[:2*k])
}

// denseGradients are those of any other features.
type denseGradients struct {
	saddle  *value.DenseSaddle
	factors []float64
	g       []float64
}

// keepLimit bounds the memory for kept statistics, in bytes at the public number
// of persons. The limit is public, so that it says nothing about the data.
const keepLimit = 2 << 30

func (d *denseGradients) add(sum *mechanism.StepSum, theta, w []float64, person int) error {
	dTheta, dW := d.saddle.Person(theta, w, person)
	n := len(d.factors)
	for j, f := range d.factors {
		d.g[j], d.g[n+j] = f*dTheta[j], f*dW[j]
	}
	return sum.Add(d.g)
}
