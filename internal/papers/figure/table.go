package figure

import (
	"cmp"
	"math"
	"slices"
)

// Table holds the means over trials of an item's samples.
type Table struct {
	cells map[place]*Cell
	order []place
}

type place struct {
	panel, series string
	x             float64
}

// Cell sums up the trials at one x of one series.
type Cell struct {
	N int
	// Mean and SD are the mean and the standard deviation over trials, the latter
	// 0 for a single one.
	Mean, SD float64

	squares float64 // sum of squared deviations from the mean
}

// SE is the standard error of the mean.
func (c Cell) SE() float64 { return c.SD / math.Sqrt(float64(max(c.N, 1))) }

// newTable adds up samples in their order, by Welford's recurrence.
func newTable(samples []Sample) *Table {
	t := &Table{cells: map[place]*Cell{}}
	for _, s := range samples {
		at := place{s.Panel, s.Series, s.X}
		c := t.cells[at]
		if c == nil {
			c = new(Cell)
			t.cells[at] = c
			t.order = append(t.order, at)
		}
		c.N++
		d := s.Y - c.Mean
		c.Mean += d / float64(c.N)
		c.squares += d * (s.Y - c.Mean)
		c.SD = math.Sqrt(c.squares / float64(max(c.N-1, 1)))
	}
	slices.SortStableFunc(t.order, func(a, b place) int {
		return cmp.Or(cmp.Compare(a.panel, b.panel), cmp.Compare(a.series, b.series), cmp.Compare(a.x, b.x))
	})
	return t
}

// At returns the cell at x of a series, with N = 0 when there is none.
func (t *Table) At(panel, series string, x float64) Cell {
	if c := t.cells[place{panel, series, x}]; c != nil {
		return *c
	}
	return Cell{}
}

// Xs lists the x of a series in rising order.
func (t *Table) Xs(panel, series string) []float64 {
	var xs []float64
	for _, at := range t.order {
		if at.panel == panel && at.series == series {
			xs = append(xs, at.x)
		}
	}
	return xs
}

// Ratio is a.Mean/b.Mean with its standard error to first order, taking the two
// as independent.
func Ratio(a, b Cell) (ratio, se float64) {
	ratio = a.Mean / b.Mean
	return ratio, math.Abs(ratio) * math.Hypot(a.SE()/a.Mean, b.SE()/b.Mean)
}
