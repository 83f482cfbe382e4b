package webpage

import (
	"fmt"
	"html/template"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Axis is one of a plot's: numbers from Low to High, which are above 0 where Log spaces them by
// their logarithm. Ticks are those that are written, Name stands under the horizontal one.
type Axis struct {
	Name      string
	Low, High float64
	Log       bool
	Ticks     []float64
}

// at is where a number lies between the axis' ends: 0 to 1 for those between.
func (a Axis) at(v float64) float64 {
	if a.Log {
		return math.Log(v/a.Low) / math.Log(a.High/a.Low)
	}
	return (v - a.Low) / (a.High - a.Low)
}

// Dot is a point of a plot.
type Dot struct{ X, Y float64 }

// Plot is a drawing with axes that becomes SVG. What is above or below is drawn at the edge.
// Classes are those of the style sheet.
type Plot struct {
	x, y  Axis
	label string
	b     strings.Builder
}

// The plot's measures, in units of its viewBox.
const (
	plotWidth, plotHeight                    = 480, 260
	plotLeft, plotRight, plotTop, plotBottom = 60, 12, 12, 40
	plotInnerWidth                           = plotWidth - plotLeft - plotRight
	plotInnerHeight                          = plotHeight - plotTop - plotBottom
)

// NewPlot begins a drawing; the label, in words of this program, says what it shows to
// who does not see it.
func NewPlot(label string, x, y Axis) *Plot {
	p := &Plot{x: x, y: y, label: label}
	fmt.Fprintf(&p.b, `<path class="axis" d="M%d %dV%dH%d"/>`, plotLeft, plotTop, plotHeight-plotBottom, plotWidth-plotRight)
	for _, v := range y.Ticks {
		fmt.Fprintf(&p.b, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`, plotLeft-6, p.top(v)+4, Short(v))
	}
	for _, v := range x.Ticks {
		fmt.Fprintf(&p.b, `<text x="%.1f" y="%d" text-anchor="middle">%s</text>`, p.left(v), plotHeight-plotBottom+18, Short(v))
	}
	fmt.Fprintf(&p.b, `<text x="%d" y="%d" text-anchor="middle">%s</text>`, plotLeft+plotInnerWidth/2, plotHeight-4, template.HTMLEscapeString(x.Name))
	return p
}

func (p *Plot) left(v float64) float64 { return plotLeft + plotInnerWidth*min(1, max(0, p.x.at(v))) }
func (p *Plot) top(v float64) float64 {
	return plotTop + plotInnerHeight*(1-min(1, max(0, p.y.at(v))))
}

func (p *Plot) path(points []Dot) string {
	var b strings.Builder
	for i, d := range points {
		step := "L"
		if i == 0 {
			step = "M"
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", step, p.left(d.X), p.top(d.Y))
	}
	return b.String()
}

// Line joins points.
func (p *Plot) Line(class string, points []Dot) {
	if len(points) > 0 {
		fmt.Fprintf(&p.b, `<path class="%s" d="%s"/>`, class, p.path(points))
	}
}

// Band is what lies between two lines of as many points, the upper and the lower.
func (p *Plot) Band(class string, upper, lower []Dot) {
	if len(upper) > 0 {
		back := slices.Clone(lower)
		slices.Reverse(back)
		fmt.Fprintf(&p.b, `<path class="%s" d="%sZ"/>`, class, p.path(append(slices.Clone(upper), back...)))
	}
}

// Level is a line from side to side with its words, which are of this program.
func (p *Plot) Level(class, words string, y float64) {
	fmt.Fprintf(&p.b, `<path class="%s" d="M%d %.1fH%d"/><text x="%d" y="%.1f" text-anchor="end">%s</text>`, class, plotLeft, p.top(y), plotWidth-plotRight, plotWidth-plotRight, p.top(y)-4, words)
}

// Mark is a circle at a point.
func (p *Plot) Mark(class string, at Dot, radius int) {
	fmt.Fprintf(&p.b, `<circle class="%s" cx="%.1f" cy="%.1f" r="%d"/>`, class, p.left(at.X), p.top(at.Y), radius)
}

// SVG is the drawing.
func (p *Plot) SVG() template.HTML {
	// Numbers, and words of this program or escaped.
	return template.HTML(fmt.Sprintf(`<svg class="plot" viewBox="0 0 %d %d" role="img" aria-label="%s">`, plotWidth, plotHeight, template.HTMLEscapeString(p.label)) + p.b.String() + `</svg>`)
}

// Short is a number in three digits.
func Short(x float64) string { return strconv.FormatFloat(x, 'g', 3, 64) }
