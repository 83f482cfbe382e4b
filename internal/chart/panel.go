// Package chart draws lines, bands, error bars and marks on axes as SVG: in a page, whose style sheet has the
// classes, or as a file of its own, which brings its style, is read in light and dark, and asks for no font.
//
// Start with [New] for a panel. [Panel.SVG] is the drawing of a page; [Drawing] is a file of one panel or more.
package chart

import (
	"fmt"
	"html"
	"html/template"
	"slices"
	"strings"
)

// Dot is a point of a panel.
type Dot struct{ X, Y float64 }

// Panel is a drawing with axes. What is beyond an axis is drawn at its end. Classes are those of the style sheet.
type Panel struct {
	title     string
	x, y      Axis
	left, top float64
	b         strings.Builder
}

// Measures of a panel, in pixels where it is not scaled: what the axes hold, and the margins about it.
const (
	insideWidth, insideHeight = 400., 300.
	leftMargin, nameMargin    = 60., 18.
	topMargin, titleMargin    = 12., 20.
	rightMargin, bottomMargin = 14., 46.
)

// New returns a panel with its axes; title may be empty.
func New(title string, x, y Axis) *Panel {
	p := &Panel{title: title, x: x, y: y, left: leftMargin, top: topMargin}
	if y.Name != "" {
		p.left += nameMargin
	}
	if title != "" {
		p.top += titleMargin
		p.text(`class="title" text-anchor="middle"`, p.left+insideWidth/2, 18, title)
	}
	right, bottom := p.left+insideWidth, p.top+insideHeight
	for _, t := range x.ticks() {
		at := p.across(t.at)
		if t.label == "" {
			p.path("axis", fmt.Sprintf("M%.1f %.1fv3", at, bottom))
			continue
		}
		p.path("grid", fmt.Sprintf("M%.1f %.1fV%.1f", at, p.top, bottom))
		p.path("axis", fmt.Sprintf("M%.1f %.1fv6", at, bottom))
		p.text(`text-anchor="middle"`, at, bottom+20, t.label)
	}
	for _, t := range y.ticks() {
		at := p.down(t.at)
		if t.label == "" {
			p.path("axis", fmt.Sprintf("M%.1f %.1fh-3", p.left, at))
			continue
		}
		p.path("grid", fmt.Sprintf("M%.1f %.1fH%.1f", p.left, at, right))
		p.path("axis", fmt.Sprintf("M%.1f %.1fh-6", p.left, at))
		p.text(`text-anchor="end"`, p.left-9, at+4, t.label)
	}
	p.path("axis", fmt.Sprintf("M%.1f %.1fV%.1fH%.1f", p.left, p.top, bottom, right))
	p.text(`class="name" text-anchor="middle"`, p.left+insideWidth/2, bottom+40, x.Name)
	if y.Name != "" {
		middle := p.top + insideHeight/2
		p.text(fmt.Sprintf(`class="name" text-anchor="middle" transform="rotate(-90 15 %.1f)"`, middle), 15, middle, y.Name)
	}
	return p
}

func (p *Panel) width() float64  { return p.left + insideWidth + rightMargin }
func (p *Panel) height() float64 { return p.top + insideHeight + bottomMargin }

func (p *Panel) across(v float64) float64 { return p.left + insideWidth*p.x.at(v) }
func (p *Panel) down(v float64) float64   { return p.top + insideHeight*(1-p.y.at(v)) }

func (p *Panel) path(class, d string) { fmt.Fprintf(&p.b, `<path class="%s" d="%s"/>`, class, d) }

func (p *Panel) text(attributes string, x, y float64, words string) {
	fmt.Fprintf(&p.b, `<text x="%.1f" y="%.1f" %s>%s</text>`, x, y, attributes, html.EscapeString(words))
}

func (p *Panel) joined(points []Dot) string {
	var b strings.Builder
	for i, d := range points {
		step := "L"
		if i == 0 {
			step = "M"
		}
		fmt.Fprintf(&b, "%s%.1f %.1f", step, p.across(d.X), p.down(d.Y))
	}
	return b.String()
}

// Line joins points.
func (p *Panel) Line(class string, points []Dot) {
	if len(points) > 0 {
		p.path(class, p.joined(points))
	}
}

// Band is the area between two lines of as many points, the upper and the lower.
func (p *Panel) Band(class string, upper, lower []Dot) {
	if len(upper) > 0 {
		back := slices.Clone(lower)
		slices.Reverse(back)
		p.path(class, p.joined(append(slices.Clone(upper), back...))+"Z")
	}
}

// Bars are error bars, each from a point of upper to the one of lower.
func (p *Panel) Bars(class string, upper, lower []Dot) {
	var b strings.Builder
	for i, d := range upper {
		x, high, low := p.across(d.X), p.down(d.Y), p.down(lower[i].Y)
		if low-high >= 0.1 {
			fmt.Fprintf(&b, "M%.1f %.1fh8m-4 0V%.1fm-4 0h8", x-4, high, low)
		}
	}
	if b.Len() > 0 {
		p.path(class, b.String())
	}
}

// Level is a line from side to side with its words.
func (p *Panel) Level(class, words string, y float64) {
	right := p.left + insideWidth
	p.path(class, fmt.Sprintf("M%.1f %.1fH%.1f", p.left, p.down(y), right))
	p.text(`text-anchor="end"`, right, p.down(y)-4, words)
}

// Mark puts a shape at each point.
func (p *Panel) Mark(class string, shape Shape, radius float64, points ...Dot) {
	for _, d := range points {
		p.b.WriteString(shape.draw(class, p.across(d.X), p.down(d.Y), radius))
	}
}

// SVG is the drawing in a page; the label says what it shows to who does not see it.
func (p *Panel) SVG(label string) template.HTML {
	// Numbers, classes of this program, and words that were escaped.
	return template.HTML(fmt.Sprintf(`<svg class="plot" viewBox="0 0 %.0f %.0f" role="img" aria-label="%s">%s</svg>`, p.width(), p.height(), html.EscapeString(label), p.b.String()))
}
