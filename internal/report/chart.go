package report

import (
	"fmt"
	"math"
	"strconv"

	"github.com/discreet-rl/discreet/evaluate"
)

// scale maps numbers to percent of a chart's width (or height). Charts are laid
// out in percent, so that they follow the width of the page while their text
// keeps its size.
type scale struct{ lo, hi float64 }

// at is the position of x, kept within the chart.
func (s scale) at(x float64) float64 {
	// Halves, because hi - lo may overflow.
	p := 100 * ((x/2 - s.lo/2) / (s.hi/2 - s.lo/2))
	if math.IsNaN(p) {
		return 50
	}
	return min(max(p, 0), 100)
}

// over is the smallest scale that holds all xs, widened by a share of its length
// at both ends.
func over(margin float64, xs ...float64) scale {
	s := scale{math.Inf(1), math.Inf(-1)}
	for _, x := range xs {
		s.lo, s.hi = min(s.lo, x), max(s.hi, x)
	}
	if s.lo == s.hi {
		pad := max(math.Abs(s.lo)/10, 1e-300)
		return s.widen(pad)
	}
	return s.widen(margin * (s.hi/2 - s.lo/2) * 2)
}

// widen adds pad at both ends and stays finite.
func (s scale) widen(pad float64) scale {
	return scale{max(s.lo-pad, -math.MaxFloat64), min(s.hi+pad, math.MaxFloat64)}
}

func coordinate(p float64) string { return fmt.Sprintf("%.3f", p) }

// bar is a horizontal stretch, in percent.
type bar struct{ X, Width string }

func (s scale) bar(lo, hi float64) bar {
	return bar{coordinate(s.at(lo)), coordinate(s.at(hi) - s.at(lo))}
}

// mark is a position with its label, in percent.
type mark struct{ X, Anchor, Text string }

func (s scale) mark(x float64, text string) mark {
	p := s.at(x)
	anchor := "middle"
	switch {
	case p < 15:
		anchor = "start"
	case p > 85:
		anchor = "end"
	}
	return mark{coordinate(p), anchor, text}
}

// estimateView is the estimate and its two charts.
type estimateView struct {
	Value, Low, High      string
	Quantity              string // what the value is
	Of                    string // whose public range is drawn
	Confidence            string
	StdSampling, Sampling string
	StdPrivacy            string
	Private               bool // the noise makes an error of its own
	Certain               bool // the interval is a range without a probability
	Baseline              string
	Moved                 string // what a model said, where the value is the end of the interval instead
	Range                 *rangeChart
	Errors                *errorChart
}

// rangeChart shows the interval on the public range of a return.
type rangeChart struct {
	Range, Interval  bar
	Value            mark
	Min, Middle, Max mark
	Alt              string
}

// errorChart takes the interval apart: one row for each source of error, and one
// for both together.
type errorChart struct {
	Rows                []errorRow
	Height, Foot, Label int // in pixels: of the chart, the value's line, its label
	Value               mark
	Shares              *shares
	Alt                 string
}

type errorRow struct {
	Class, Words, Size string
	Bar                bar
	Y                  int
}

// shares splits the variance; Split is where privacy begins on the stacked bar.
type shares struct{ Split, Rest, Sampling, Privacy string }

func newEstimateView(r *evaluate.Release, bounds *evaluate.Range) *estimateView {
	e := One(r).Estimate
	half := e.Interval[1]/2 - e.Interval[0]/2
	decimals := decimalsFor(e.Value, half)
	text := func(x float64, d direction) string {
		if a := math.Abs(x); a >= 1e9 || (a > 0 && a < 1e-4) {
			return significant(x, 6, d)
		}
		return fixed(x, decimals, d)
	}
	v := &estimateView{
		Value:       text(e.Value, nearest),
		Low:         text(e.Interval[0], down),
		High:        text(e.Interval[1], up),
		Confidence:  percent(e.Confidence, nearest),
		StdSampling: samplingText(e),
		Sampling:    samplingWords(e.Sampling),
		StdPrivacy:  significant(e.StdPrivacy, digits, up),
		Quantity:    "return",
		Of:          "a return",
		Private:     e.StdPrivacy > 0,
		Certain:     e.Confidence == 1,
	}
	if r.Survival != nil {
		v.Quantity, v.Of = quantityWords(r)
	}
	if says, moved := Moved(r); moved {
		v.Moved = text(says, nearest)
	}
	if bounds != nil {
		v.Range = newRangeChart(v, e, *bounds)
		v.Baseline = round(bounds.Mid())
	}
	if e.StdSampling+e.StdPrivacy > 0 && e.Confidence < 1 {
		third := "clipping and rare outcomes"
		if _, _, ok := Missing(r); ok {
			third = "missing mass alone"
		}
		if r.Survival != nil {
			third = openAlone(r)
		}
		v.Errors = newErrorChart(v, e, third)
	}
	return v
}

// BelowNoise reports that the error of sampling was paid for and came out as 0: the noisy
// variance was not above 0. What it may hide is in the error of privacy.
func BelowNoise(e *evaluate.Estimate) bool {
	return e.Sampling == evaluate.Paid && e.StdSampling == 0
}

// belowNoise stands for a number that cannot be below 0 and came out there.
const belowNoise = "below noise"

func samplingText(e *evaluate.Estimate) string {
	if BelowNoise(e) {
		return belowNoise
	}
	return significant(e.StdSampling, digits, up)
}

func newRangeChart(v *estimateView, e *evaluate.Estimate, b evaluate.Range) *rangeChart {
	s := over(0, b.Min, b.Max, e.Interval[0], e.Interval[1], e.Value)
	c := &rangeChart{
		Range:    s.bar(b.Min, b.Max),
		Interval: s.bar(e.Interval[0], e.Interval[1]),
		Value:    s.mark(e.Value, v.Value),
		Min:      s.mark(b.Min, parameter(b.Min)),
		Middle:   s.mark(b.Mid(), round(b.Mid())),
		Max:      s.mark(b.Max, parameter(b.Max)),
	}
	c.Alt = fmt.Sprintf("The value %s with its interval from %s to %s, on the public range of %s from %s to %s, whose middle is %s.",
		v.Value, v.Low, v.High, v.Of, c.Min.Text, c.Max.Text, c.Middle.Text)
	return c
}

// newErrorChart draws the parts of an interval; third names what lengthens it beyond the
// errors of sampling and of privacy.
func newErrorChart(v *estimateView, e *evaluate.Estimate, third string) *errorChart {
	const rowHeight = 50
	z := math.Sqrt2 * math.Erfinv(e.Confidence)
	sampling, private := z*e.StdSampling, z*e.StdPrivacy
	both := math.Hypot(sampling, private)
	s := over(0.02, e.Value-max(both, e.Clipping[0]), e.Value+max(both, e.Clipping[1]), e.Interval[0], e.Interval[1])
	c := &errorChart{Value: s.mark(e.Value, v.Value)}
	add := func(class, words, size string, b bar) {
		c.Rows = append(c.Rows, errorRow{class, words, size, b, rowHeight * len(c.Rows)})
		c.Alt += words + " " + size + ". "
	}
	alone := func(class string, half float64) {
		if half > 0 {
			add(class, class+" alone", "± "+significant(half, digits, up), s.bar(e.Value-half, e.Value+half))
		}
	}
	alone("sampling", sampling)
	alone("privacy", private)
	if e.Clipping != [2]float64{} {
		add("both", third, "− "+significant(e.Clipping[0], digits, up)+", + "+significant(e.Clipping[1], digits, up), s.bar(e.Value-e.Clipping[0], e.Value+e.Clipping[1]))
	}
	add("both", "the interval", v.Low+" to "+v.High, s.bar(e.Interval[0], e.Interval[1]))
	if sampling > 0 && private > 0 {
		share := (private / both) * (private / both)
		c.Shares = &shares{
			Split:    coordinate(100 * (1 - share)),
			Rest:     coordinate(100 * share),
			Sampling: fmt.Sprintf("%.0f%%", 100*(1-share)),
			Privacy:  fmt.Sprintf("%.0f%%", 100*share),
		}
	}
	end := rowHeight * len(c.Rows)
	c.Foot, c.Label, c.Height = end-6, end+12, end+20
	return c
}

// functionView is a value function: a chart where values by state are known, and
// the numbers.
type functionView struct {
	Count  int
	Error  string // expected error of the noise; empty where it is not known
	Chart  *stepChart
	Bands  string // what intervals by state rest on; empty where there are none
	Start  string // the mean under the public first states; empty where none was asked for
	Tables []numberTable
}

// bandWords say what bands by state are, and what they suppose.
func bandWords(b *evaluate.Bands) string {
	return fmt.Sprintf("Each value has a band, in the table and in the JSON form: %.3g standard deviations to either side. Bands are not confidence intervals. They assume %s; if that is not so, they may miss every value.", b.Deviations, b.Condition)
}

// startWords say what the values are worth under the public distribution of first states.
func startWords(s *evaluate.StartValue) string {
	if s == nil {
		return ""
	}
	words := fmt.Sprintf("Under the public distribution of first states (first_states below) the mean of these values is %s.", round(s.Value))
	if s.Band == nil {
		return words + supposes(s) + " Its error was not released."
	}
	return words + supposes(s) + fmt.Sprintf(" Under the assumptions of the bands its standard deviation is at most %s; %.3g standard deviations to either side give %s to %s, which is not a confidence interval either.",
		significant(s.StdAtMost, digits, up), s.Deviations, round(s.Band[0]), round(s.Band[1]))
}

// supposes says what the value under first states rests on.
func supposes(s *evaluate.StartValue) string {
	if s.Condition == "" {
		return ""
	}
	return " It supposes " + s.Condition + "."
}

// numberTable lists the first numbers of a vector.
type numberTable struct {
	Caption, Index string
	Bands          string // head of the column of intervals; empty where there are none
	Rows           []numberRow
	Left           int
}

// numberRow is a number beside its name, or its place from 0, with an interval about it
// where there is one.
type numberRow struct{ Name, Value, Band string }

// mostRows bounds a table of numbers; the JSON form holds all.
const mostRows = 1000

// newNumberTable names the numbers where there is a name for each.
func newNumberTable(caption, index string, xs []float64, names []string) numberTable {
	t := numberTable{Caption: caption, Index: index}
	for i, x := range xs[:min(len(xs), mostRows)] {
		name := strconv.Itoa(i)
		if len(names) == len(xs) {
			name = names[i]
		}
		t.Rows = append(t.Rows, numberRow{Name: name, Value: round(x)})
	}
	t.Left = len(xs) - len(t.Rows)
	return t
}

func newFunctionView(r *evaluate.Release, bounds *evaluate.Range) *functionView {
	v := &functionView{Count: len(r.Theta)}
	if x := r.Expected.RMSE; x > 0 {
		v.Error = significant(x, digits, up)
	}
	if len(r.Values) > 0 {
		v.Count = len(r.Values)
		v.Chart = newStepChart(r.Values, States(r.Public), bounds)
		table := newNumberTable("Values by state", "state", r.Values, States(r.Public))
		v.Start = startWords(r.Start)
		if b := r.Bands; b != nil && len(b.Lower) == len(r.Values) && len(b.Upper) == len(r.Values) {
			v.Bands = bandWords(b)
			table.Bands = "band"
			for i := range table.Rows {
				table.Rows[i].Band = round(b.Lower[i]) + " to " + round(b.Upper[i])
			}
		}
		v.Tables = append(v.Tables, table)
	}
	if len(r.Theta) > 0 {
		index, names := "feature", Features(r.Public)
		if Tabular(r.Public) {
			index, names = "state", States(r.Public)
		}
		v.Tables = append(v.Tables, newNumberTable("Weights θ of the value function", index, r.Theta, names))
	}
	return v
}
