package pages

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
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

// The plot's measures, in units of its viewBox.
const (
	plotWidth, plotHeight                    = 480, 260
	plotLeft, plotRight, plotTop, plotBottom = 60, 12, 12, 40
	plotInnerWidth                           = plotWidth - plotLeft - plotRight
	plotInnerHeight                          = plotHeight - plotTop - plotBottom
)

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
	low, high := math.Log(c.Points[0].Epsilon), math.Log(c.Points[len(c.Points)-1].Epsilon)
	x := func(epsilon float64) float64 {
		return plotLeft + plotInnerWidth*(math.Log(epsilon)-low)/(high-low)
	}
	y := func(v float64) float64 { return plotTop + plotInnerHeight*(1-min(v, most)/most) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="plot" viewBox="0 0 %d %d" role="img" aria-label="Expected half width of the interval against epsilon">`, plotWidth, plotHeight)
	fmt.Fprintf(&b, `<path class="axis" d="M%d %dV%dH%d"/>`, plotLeft, plotTop, plotHeight-plotBottom, plotWidth-plotRight)
	for _, v := range []float64{0, most / 2, most} {
		fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`, plotLeft-6, y(v)+4, short(v))
	}
	for _, p := range c.Points {
		if label := p.Epsilon; label == c.Points[0].Epsilon || label == c.Points[len(c.Points)-1].Epsilon || label == .1 || label == 1 {
			fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`, x(label), plotHeight-plotBottom+18, short(label))
		}
	}
	fmt.Fprintf(&b, `<text x="%d" y="%d" text-anchor="middle">epsilon</text>`, plotLeft+plotInnerWidth/2, plotHeight-4)
	level := func(class, words string, v float64) {
		if v > 0 {
			fmt.Fprintf(&b, `<path class="%s" d="M%d %.1fH%d"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`, class, plotLeft, y(v), plotWidth-plotRight, plotWidth-plotRight, y(v)-4, words)
		}
	}
	level("level", "an answer without data", c.Constant)
	level("sampling", "at most, without privacy", c.Sampling)
	var path strings.Builder
	for i, p := range c.Points {
		step := "L"
		if i == 0 {
			step = "M"
		}
		fmt.Fprintf(&path, "%s%.1f %.1f", step, x(p.Epsilon), y(p.HalfWidth))
		if p.Epsilon == c.At {
			fmt.Fprintf(&b, `<circle class="here" cx="%.1f" cy="%.1f" r="5"/>`, x(p.Epsilon), y(p.HalfWidth))
		}
	}
	fmt.Fprintf(&b, `<path class="curve" d="%s"/></svg>`, &path)
	return template.HTML(b.String()) // numbers and words of this file
}

func short(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }
