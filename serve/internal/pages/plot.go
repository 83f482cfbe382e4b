package pages

import (
	"html/template"
	"math"

	"github.com/discreet-rl/discreet/internal/chart"
)

// Point is an expected half width at an epsilon.
type Point struct{ Epsilon, HalfWidth float64 }

// Curve is what a plan's plot shows.
type Curve struct {
	Points []Point
	// Sampling is the half width that is left without privacy, and Constant the error at
	// worst of an answer made up without data; 0 leaves one out.
	Sampling, Constant float64
	// At is the question's own epsilon.
	At float64
}

// Plot draws half widths against epsilon, which is on a logarithmic axis, as SVG. It is
// empty where there is nothing to draw.
func (c Curve) Plot() template.HTML {
	most := max(c.Sampling, c.Constant)
	for _, p := range c.Points {
		if !(p.Epsilon > 0) || math.IsInf(p.HalfWidth, 0) || math.IsNaN(p.HalfWidth) {
			return ""
		}
		most = max(most, min(p.HalfWidth, 3*max(c.Constant, c.Sampling)))
	}
	if len(c.Points) < 2 || !(most > 0) {
		return ""
	}
	x := chart.Axis{Name: "epsilon", Low: c.Points[0].Epsilon, High: c.Points[len(c.Points)-1].Epsilon, Log: true}
	var line []chart.Dot
	for _, p := range c.Points {
		line = append(line, chart.Dot{X: p.Epsilon, Y: p.HalfWidth})
	}
	plot := chart.New("", x, chart.Axis{Name: "half width", High: most})
	if c.Constant > 0 {
		plot.Level("level", "an answer without data", c.Constant)
	}
	if c.Sampling > 0 {
		plot.Level("sampling", "about, without privacy", c.Sampling)
	}
	for _, d := range line {
		if d.X == c.At {
			plot.Mark("here", chart.Disc, 5, d)
		}
	}
	plot.Line("curve", line)
	return plot.SVG("Expected half width of the interval against epsilon")
}
