package parquet

import "math"

// Bounds are between which numbers lie: none of them is NaN. Whole tells that all are whole.
type Bounds struct {
	Low, High float64
	Whole     bool
}

// noBounds are those of no number.
func noBounds() Bounds { return Bounds{math.Inf(1), math.Inf(-1), true} }

// boundsOf has a NaN where one of the numbers is one.
func boundsOf(numbers []float64) Bounds {
	b := noBounds()
	for _, v := range numbers {
		b = b.with(Bounds{v, v, v == math.Trunc(v)})
	}
	return b
}

func (b Bounds) with(o Bounds) Bounds {
	return Bounds{min(b.Low, o.Low), max(b.High, o.High), b.Whole && o.Whole}
}

// Bounds tells between which numbers all values of the last call of Read are, where that is known
// without a look at each: those of a dictionary's entries, and those of flags, in a column without lists.
func (c *Column) Bounds() (Bounds, bool) { return c.bounds, c.bounded == c.asked && !c.field.list }

// bound notes that the next n values are between some numbers.
func (c *Column) bound(n int, of Bounds) { c.bounds, c.bounded = c.bounds.with(of), c.bounded+n }
