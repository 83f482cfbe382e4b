package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/discreet-rl/discreet/evaluate"
)

// curveChart draws step curves over time with their bands. Lines and areas live in a box of 1000
// by 1000 that is stretched over the plot; everything else is in pixels from the top, and in
// percent of the width.
type curveChart struct {
	Heading string // what tells the chart from the others of its figure; empty where it is alone
	YWords  string
	XWords  string
	Curves  []curveLine
	YTicks  []tick
	XTicks  []mark
	Bins    []string // places of all ends of bins; none where they are too many
	Level   string   // height of a dashed line in the box; empty for none
	Until   string   // place of the time to which means are restricted, where it is not the last
	Risk    *riskTable
	Alt     string

	Top, Plot, Foot, Tick, Labels, Title, Height int
}

// curveLine is a curve and its band; Band is empty for one that is only there for comparison.
type curveLine struct {
	Class, Line, Band string
	// End is where a curve ends before the bins do, in percent.
	End *point
}

type point struct{ X, Y string }

// riskTable are the numbers at risk below a chart.
type riskTable struct {
	Heading string
	Y       int
	Rows    []riskRow
}

type riskRow struct {
	Class, Name string
	KeyY, Y     int
	NumbersY    int
	Numbers     []mark
}

// timeAxis is where times stand: from 0 to a little beyond the last end, so that what holds at
// the last end can be seen.
type timeAxis struct {
	scale
	ends   []float64
	widest float64 // of a time, or of what else stands below one, in pixels
	first  float64 // where bin 0 begins
	// grouped times lie anywhere in their bins.
	grouped bool
}

func newTimeAxis(s *evaluate.Survival) timeAxis {
	last := s.Ends[len(s.Ends)-1]
	tail := max(last/float64(2*len(s.Ends)), last/100)
	a := timeAxis{scale: scale{0, min(last+tail, math.MaxFloat64)}, ends: s.Ends}
	for j, e := range s.Ends {
		a.widest = max(a.widest, pixels(parameter(e)))
		for _, arm := range s.Arms {
			a.widest = max(a.widest, pixels(persons(arm.AtRisk[j])))
		}
	}
	return a
}

// place is a time in the box.
func (a timeAxis) place(t float64) float64 { return box / 100 * a.at(t) }

// labelled are the bins, from 0, whose starts have room for a label, and the number of bins
// where the last end has.
func (a timeAxis) labelled() []int {
	const gap, narrow = 8, 290 // between labels, and the width of a plot on a narrow page
	room := 100 * (a.widest + gap) / narrow
	var out []int
	last := math.Inf(-1)
	for j := range len(a.ends) + 1 {
		if p := a.at(a.start(j)); p >= last+room {
			out = append(out, j)
			last = p
		}
	}
	return out
}

// start is where bin j begins.
func (a timeAxis) start(j int) float64 {
	if j == 0 {
		return a.first
	}
	return a.ends[j-1]
}

// label stands below its place; at the right end it ends there.
func (a timeAxis) label(t float64, text string) mark {
	m := a.mark(t, text)
	if m.Anchor = "middle"; a.at(t) > 97 {
		m.Anchor = "end"
	}
	return m
}

// axes prepares a chart of so many pixels for curves between two numbers.
func (a timeAxis) axes(plot int, y scale, yWords, xWords string) curveChart {
	const top = 26
	c := curveChart{YWords: yWords, XWords: xWords, Top: top, Plot: plot, Foot: top + plot}
	c.Tick, c.Labels, c.Title, c.Height = c.Foot+5, c.Foot+21, c.Foot+41, c.Foot+48
	for _, t := range ticks(y) {
		c.YTicks = append(c.YTicks, tick{coordinate(100 - y.at(t)), significant(t, 6, nearest)})
	}
	for _, j := range a.labelled() {
		c.XTicks = append(c.XTicks, a.label(a.start(j), parameter(a.start(j))))
	}
	const mostMarks = 60
	if len(a.ends) <= mostMarks {
		for j := range len(a.ends) + 1 {
			c.Bins = append(c.Bins, coordinate(a.at(a.start(j))))
		}
	}
	return c
}

// course says how a curve runs.
type course int

const (
	falls course = iota // from 1
	rises               // from 0
	roams               // from 0, a difference
)

// from is where a curve starts.
func (k course) from() float64 {
	if k == falls {
		return 1
	}
	return 0
}

// curve draws a curve and its band. Of discrete times both step at the end of each bin. Of
// grouped ones nobody knows where in a bin they change: the curve runs straight from end to end,
// and the band of one that falls or rises holds in between too.
func (a timeAxis) curve(class string, c evaluate.Curve, k course, y scale) curveLine {
	height := func(v float64) float64 { return box - box/100*y.at(v) }
	out := curveLine{Class: class}
	line, upper, lower := a.late, a.late, a.late
	if a.grouped {
		line = a.straight
		switch k {
		case falls:
			lower = a.early
		case rises:
			upper = a.early
		default:
			upper, lower = a.straight, a.straight
		}
	}
	points := line(c.Values, k.from())
	if n := len(c.Values); n < len(a.ends) {
		p := points[len(points)-1]
		out.End = &point{coordinate(p.x / box * 100), coordinate(100 - y.at(p.v))}
	} else {
		points = append(points, spot{box, points[len(points)-1].v})
	}
	out.Line = drawn(points, height)
	above, below := upper(c.Upper, k.from()), lower(c.Lower, k.from())
	above, below = append(above, spot{box, c.Upper[len(c.Upper)-1]}), append(below, spot{box, c.Lower[len(c.Lower)-1]})
	slices.Reverse(below)
	if last := len(below) - 1; below[last] == above[0] {
		below = below[:last]
	}
	out.Band = drawn(append(above, below...), height) + "Z"
	return out
}

// spot is a place in the box and a value there.
type spot struct{ x, v float64 }

// drawn joins spots by level, upright and slanted lines.
func drawn(spots []spot, height func(float64) float64) string {
	x := func(s spot) string {
		if s.x == math.Trunc(s.x) {
			return fmt.Sprintf("%.0f", s.x)
		}
		return fmt.Sprintf("%.2f", s.x)
	}
	var parts []string
	for i, s := range spots {
		switch {
		case i == 0:
			parts = append(parts, fmt.Sprintf("M%s %.2f", x(s), height(s.v)))
		case s.x == spots[i-1].x:
			parts = append(parts, fmt.Sprintf("V%.2f", height(s.v)))
		case s.v == spots[i-1].v:
			parts = append(parts, "H"+x(s))
		default:
			parts = append(parts, fmt.Sprintf("L%s %.2f", x(s), height(s.v)))
		}
	}
	return strings.Join(parts, "")
}

// late steps to each value at the end of its bin, early at its start, and straight runs there.
func (a timeAxis) late(values []float64, from float64) []spot {
	spots := []spot{{0, from}}
	for j, v := range values {
		spots = append(spots, spot{a.place(a.ends[j]), spots[len(spots)-1].v}, spot{a.place(a.ends[j]), v})
	}
	return spots
}

func (a timeAxis) early(values []float64, from float64) []spot {
	spots := []spot{{0, from}}
	for j, v := range values {
		spots = append(spots, spot{a.place(a.start(j)), v}, spot{a.place(a.ends[j]), v})
	}
	return spots
}

func (a timeAxis) straight(values []float64, from float64) []spot {
	spots := []spot{{0, from}}
	for j, v := range values {
		spots = append(spots, spot{a.place(a.ends[j]), v})
	}
	return spots
}

// risk puts the numbers at risk of some arms below the axis, at the starts of labelled bins.
func (c *curveChart) risk(a timeAxis, heading string, arms []evaluate.SurvivalArm, classes []string) {
	c.Risk = &riskTable{Heading: heading, Y: c.Title + 30}
	y := c.Risk.Y
	for i, arm := range arms {
		row := riskRow{Class: classes[i], Name: short(arm.Name), KeyY: y + 19, Y: y + 24, NumbersY: y + 43}
		for _, j := range a.labelled() {
			if j < len(arm.AtRisk) {
				row.Numbers = append(row.Numbers, a.label(a.start(j), persons(arm.AtRisk[j])))
			}
		}
		c.Risk.Rows = append(c.Risk.Rows, row)
		y += 43
	}
	c.Height = y + 8
}

// pixels is about how wide a number is.
func pixels(text string) float64 {
	return 7*float64(utf8.RuneCountInString(text)) - 3.5*float64(strings.Count(text, "."))
}

// persons is a noisy number of persons as a whole one, not below 0.
func persons(x float64) string {
	if x >= 1e9 {
		return round(x)
	}
	return fmt.Sprintf("%.0f", max(math.Round(x), 0))
}

// short cuts a name to what fits a line of a narrow chart.
func short(name string) string {
	const most = 30
	if r := []rune(name); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return name
}

// about is the smallest of a few round ranges around 0 that holds all limits.
func about(curves ...evaluate.Curve) scale {
	most := 0.0
	for _, c := range curves {
		for _, v := range slices.Concat(c.Values, c.Lower, c.Upper) {
			most = max(most, math.Abs(v))
		}
	}
	for _, m := range []float64{0.1, 0.2, 0.5} {
		if most <= m {
			return scale{-m, m}
		}
	}
	return scale{-1, 1}
}
