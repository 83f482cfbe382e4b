package figure

import (
	"cmp"
	"io"
	"math"

	"github.com/discreet-rl/discreet/internal/chart"
)

// draw draws the panels in rows of so many columns, with one legend below them.
func draw(w io.Writer, item Item, t *Table) error {
	d := chart.Drawing{Title: item.Title, Columns: item.Columns, Foot: footnote(item.Panels, t)}
	listed := map[string]bool{}
	shared := map[string][]float64{} // heights of all panels, by the label of y
	for _, p := range item.Panels {
		_, ys := extent(p.curves(t))
		shared[p.Y] = append(shared[p.Y], ys...)
	}
	for _, p := range item.Panels {
		curves := p.curves(t)
		xs, ys := extent(curves)
		if item.SameY {
			ys = shared[p.Y]
		}
		out := chart.New(p.Title, chart.Axis{Name: p.X, Log: p.LogX}.Over(xs...), chart.Axis{Name: p.Y, Log: p.LogY}.Over(ys...))
		for _, c := range curves {
			e := c.add(out, p.Bands)
			if !listed[e.Name] {
				listed[e.Name] = true
				d.Legend = append(d.Legend, e)
			}
		}
		d.Panels = append(d.Panels, out)
	}
	return d.Write(w)
}

// drawn is a curve with its means and the ends of its error bars.
type drawn struct {
	Curve
	means, upper, lower []chart.Dot
}

// extent lists what the axes have to hold.
func extent(curves []drawn) (xs, ys []float64) {
	for _, c := range curves {
		for i, at := range c.means {
			xs, ys = append(xs, at.X), append(ys, at.Y, c.upper[i].Y, c.lower[i].Y)
		}
	}
	return xs, ys
}

// error is what bars show on either side of a mean.
func (p Panel) error(c Cell) float64 {
	if p.Bars == StandardDeviation {
		return c.SD
	}
	return c.SE()
}

// curves reads those with points. On a logarithmic axis what is not above 0 cannot be
// shown: such points are left out, and bars end at half the least mean.
func (p Panel) curves(t *Table) []drawn {
	lowest := math.Inf(1)
	for _, c := range p.Curves {
		for _, x := range t.Xs(p.Name, c.Series) {
			if y := t.At(p.Name, c.Series, x).Mean; y > 0 {
				lowest = min(lowest, y)
			}
		}
	}
	var out []drawn
	for _, c := range p.Curves {
		d := drawn{Curve: c}
		for _, x := range t.Xs(p.Name, c.Series) {
			cell := t.At(p.Name, c.Series, x)
			if p.LogY && !(cell.Mean > 0) || p.LogX && !(x > 0) {
				continue
			}
			e := p.error(cell)
			low := cell.Mean - e
			if p.LogY {
				low = max(low, min(lowest/2, cell.Mean))
			}
			d.means = append(d.means, chart.Dot{X: x, Y: cell.Mean})
			d.upper, d.lower = append(d.upper, chart.Dot{X: x, Y: cell.Mean + e}), append(d.lower, chart.Dot{X: x, Y: low})
		}
		if d.means != nil {
			out = append(out, d)
		}
	}
	return out
}

// add draws the curve and returns its line of the legend.
func (c drawn) add(out *chart.Panel, bands bool) chart.Entry {
	colour := " " + chart.Colour(c.Colour)
	e := chart.Entry{Name: cmp.Or(c.Label, c.Series), Line: "line" + colour}
	switch {
	case c.Dashed:
		e.Line += " dashed"
	case c.Dotted:
		e.Line += " dotted"
	}
	if c.Plain && bands {
		out.Band("band"+colour, c.upper, c.lower)
	}
	out.Line(e.Line, c.means)
	if !c.Plain {
		e.Mark, e.Shape = "mark"+colour, chart.Marker(c.Colour)
		out.Bars("bars"+colour, c.upper, c.lower)
		out.Mark(e.Mark, e.Shape, 4, c.means...)
	}
	return e
}
