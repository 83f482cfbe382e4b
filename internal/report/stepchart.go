package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/discreet-rl/discreet/evaluate"
)

// stepChart draws a value function over its states. Line and Band live in a box
// of 1000 by 1000 that is stretched over the plot.
type stepChart struct {
	Line   string
	Filled bool // Line is the outline of the values' extent by column
	Band   *band
	Middle string // height of the middle of the public range, in the box
	YTicks []tick
	XTicks []mark
	Range  string // the public range in words
	Cut    bool   // the axis does not hold the whole public range
	// Numbered says that the states have names, which the axis has no room for.
	Numbered bool
	Alt      string
}

// band is the public range of a return, in the box.
type band struct{ Y, Height string }

// tick is a labelled height: Y in percent of the plot's height.
type tick struct{ Y, Text string }

const (
	box = 1000
	// mostSteps is the largest number of states drawn one by one.
	mostSteps = 1500
	// columns is how many columns the extent of more states is drawn in.
	columns = 500
)

// newStepChart draws values over their states, which names name where there is one for each.
func newStepChart(values []float64, names []string, bounds *evaluate.Range) *stepChart {
	c := &stepChart{}
	y := c.axis(values, bounds)
	height := func(v float64) float64 { return box * (1 - y.at(v)/100) }
	if bounds != nil {
		top, bottom := height(bounds.Max), height(bounds.Min)
		c.Band = &band{coordinate(top), coordinate(bottom - top)}
		c.Range = parameter(bounds.Min) + " to " + parameter(bounds.Max)
		if mid := bounds.Mid(); mid >= y.lo && mid <= y.hi {
			c.Middle = coordinate(height(mid))
		}
	}
	if len(values) <= mostSteps {
		c.Line = steps(values, height)
	} else {
		c.Line, c.Filled = extent(values, height), true
	}
	for _, t := range ticks(y) {
		c.YTicks = append(c.YTicks, tick{coordinate(100 - y.at(t)), significant(t, 6, nearest)})
	}
	c.XTicks = stateTicks(len(values))
	if len(names) == len(values) {
		if words := nameTicks(names); words != nil {
			c.XTicks = words
		} else {
			c.Numbered = true
		}
	}
	c.Alt = fmt.Sprintf("Value by state, for %d states; the smallest is %s, the largest %s.",
		len(values), round(slices.Min(values)), round(slices.Max(values)))
	return c
}

// axis holds the values and the public range, unless the range is so much wider
// that the values would look flat.
func (c *stepChart) axis(values []float64, bounds *evaluate.Range) scale {
	lo, hi := slices.Min(values), slices.Max(values)
	if bounds == nil {
		return over(0.05, lo, hi)
	}
	whole := over(0.02, lo, hi, bounds.Min, bounds.Max)
	const flat = 0.1
	if hi/2-lo/2 >= flat*(whole.hi/2-whole.lo/2) {
		return whole
	}
	c.Cut = true
	pad := max((hi/2-lo/2)/2, (whole.hi/2-whole.lo/2)/50)
	return scale{lo, hi}.widen(pad)
}

// steps draws each state as a level stretch.
func steps(values []float64, height func(float64) float64) string {
	parts := make([]string, 0, len(values))
	for i, v := range values {
		join := "V"
		if i == 0 {
			join = "M0 "
		}
		parts = append(parts, fmt.Sprintf("%s%.2fH%.2f", join, height(v), box*float64(i+1)/float64(len(values))))
	}
	return strings.Join(parts, "")
}

// extent outlines the smallest and the largest value in each column.
func extent(values []float64, height func(float64) float64) string {
	var top, bottom []string
	for c := range columns {
		part := values[c*len(values)/columns : (c+1)*len(values)/columns]
		left, right := float64(box*c)/columns, float64(box*(c+1))/columns
		high, low := height(slices.Max(part))-1, height(slices.Min(part))+1
		top = append(top, fmt.Sprintf("L%.2f %.2fH%.2f", left, high, right))
		bottom = append(bottom, fmt.Sprintf("L%.2f %.2fH%.2f", right, low, left))
	}
	slices.Reverse(bottom)
	return "M" + top[0][1:] + strings.Join(top[1:], "") + strings.Join(bottom, "") + "Z"
}

// ticks are three to six round numbers on a scale.
func ticks(s scale) []float64 {
	span := s.hi - s.lo
	if math.IsInf(span, 0) || !(span > 0) {
		return []float64{s.lo, s.hi}
	}
	step := math.Pow(10, math.Floor(math.Log10(span)))
	for _, m := range []float64{2, 1, 0.5, 0.2} {
		if span/(m*step) >= 3 {
			step *= m
			break
		}
	}
	var out []float64
	for k := math.Ceil(s.lo / step); k*step <= s.hi && len(out) < 12; k++ {
		if n := len(out); n > 0 && k*step <= out[n-1] {
			break // steps below the resolution of floats
		}
		out = append(out, k*step)
	}
	return out
}

// stateTicks labels round states at the middle of their stretch.
func stateTicks(n int) []mark {
	s := scale{0, float64(n)}
	out := []mark{s.mark(0.5, "0")}
	for _, t := range ticks(scale{0, float64(n - 1)}) {
		if t > 0 && t == math.Trunc(t) {
			out = append(out, s.mark(t+0.5, fmt.Sprintf("%.0f", t)))
		}
	}
	return out
}

// mostLetters of all names together are written along the axis.
const mostLetters = 60

// nameTicks labels each state with its name; nil where the axis has no room for them.
func nameTicks(names []string) []mark {
	widest := 0
	for _, name := range names {
		widest = max(widest, utf8.RuneCountInString(name))
	}
	if widest*len(names) > mostLetters {
		return nil
	}
	s := scale{0, float64(len(names))}
	out := make([]mark, 0, len(names))
	for i, name := range names {
		m := s.mark(float64(i)+0.5, name)
		m.Anchor = "middle"
		out = append(out, m)
	}
	return out
}
