package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/discreet-rl/discreet/evaluate"
)

// survivalView is what a page shows of a release of survival beside its answers.
type survivalView struct {
	Curves      survivalFigure
	Summary     []summaryTable
	Incidence   []survivalFigure
	Differences *survivalFigure
	Tables      []curveTable
}

// survivalFigure is one picture, of one chart or several alike.
type survivalFigure struct {
	Heading string
	Legend  []legendEntry
	Charts  []curveChart
	Narrow  bool // two charts side by side, where there is room
	Caption string
}

type legendEntry struct{ Class, Name string }

// summaryTable compares a few arms, one a column.
type summaryTable struct {
	Head    string
	Arms    []ArmSummary
	Missing bool
}

// curveTable lists the numbers of a curve.
type curveTable struct {
	Caption string
	AtRisk  string // head of the numbers at risk; empty where there are none
	Value   string
	Rows    []curveRow
	Left    int
}

type curveRow struct{ Time, AtRisk, Value, Low, High string }

// mostTogether is how many arms, with their bands, can be told apart in one chart. Of more,
// each has a chart of its own, in which the others are thin lines.
const mostTogether = 2

// mostColumns is how many arms stand side by side in a table.
const mostColumns = 3

// armClass is the style of an arm among those that share a chart.
func armClass(i int) string { return fmt.Sprintf("arm-%d", i) }

// survivalDrawing is what the figures of one release have in common.
type survivalDrawing struct {
	*evaluate.Survival
	axis    timeAxis
	xWords  string
	atRisk  string
	counted string // what the numbers at risk are
	arm     string // what an arm is
	limited bool   // there are limits alone
}

func newSurvivalView(r *evaluate.Release) *survivalView {
	s := r.Survival
	d := survivalDrawing{Survival: s, axis: newTimeAxis(s), xWords: "time", atRisk: "Number at risk", counted: "numbers at risk"}
	if utf8.RuneCountInString(s.Time) <= 40 {
		d.xWords = s.Time
	}
	d.arm, d.limited = armNoun(r), formOf(r) == "limits"
	if r.Privacy != nil {
		d.atRisk, d.counted = "Noisy number at risk", "noisy numbers at risk"
	}
	d.axis.grouped = grouped(r)
	v := &survivalView{Curves: d.survival()}
	arms := Arms(r)
	for i := 0; i < len(arms); i += mostColumns {
		v.Summary = append(v.Summary, summaryTable{strings.ToUpper(d.arm[:1]) + d.arm[1:], arms[i:min(i+mostColumns, len(arms))], countsMissing(r)})
	}
	if len(s.Arms[0].Incidence) > 0 {
		v.Incidence = d.incidences()
	}
	if len(s.Differences) > 0 {
		f := d.differences()
		v.Differences = &f
	}
	v.Tables = d.tables()
	return v
}

// grouped tells that a bin is a range of times.
func grouped(r *evaluate.Release) bool {
	o, _ := r.Public["outcome"].(map[string]any)
	is, _ := o["grouped"].(bool)
	if of, ok := r.Public["outcome"].(evaluate.Outcome); ok { // of a release that was not read from JSON
		is = of.Grouped
	}
	return is
}

// together tells that all arms share a chart.
func (d survivalDrawing) together() bool { return len(d.Arms) <= mostTogether }

func (d survivalDrawing) legend() []legendEntry {
	if len(d.Arms) == 1 || !d.together() {
		return nil
	}
	var out []legendEntry
	for i, a := range d.Arms {
		out = append(out, legendEntry{armClass(i), a.Name})
	}
	return out
}

// charts draw one curve of each arm: all in one chart, or a chart an arm.
func (d survivalDrawing) charts(plot int, yWords string, run course, of func(evaluate.SurvivalArm) evaluate.Curve) []curveChart {
	y := scale{0, 1}
	blank := func() curveChart {
		c := d.axis.axes(plot, y, yWords, d.xWords)
		if d.Until < d.Ends[len(d.Ends)-1] {
			c.Until = coordinate(d.axis.at(d.Until))
		}
		return c
	}
	if d.together() {
		c := blank()
		for i, a := range d.Arms {
			c.Curves = append(c.Curves, d.axis.curve(armClass(i), of(a), run, y))
			c.Alt += d.alt(a.Name, yWords, of(a))
		}
		return []curveChart{c}
	}
	var out []curveChart
	for i, a := range d.Arms {
		c := blank()
		c.Heading = a.Name
		for k, b := range d.Arms {
			if k != i {
				line := d.axis.curve("other", of(b), run, y)
				line.Band = ""
				c.Curves = append(c.Curves, line)
			}
		}
		c.Curves = append(c.Curves, d.axis.curve(armClass(0), of(a), run, y))
		c.Alt = d.alt(a.Name, yWords, of(a))
		out = append(out, c)
	}
	return out
}

// alt says where a curve ends; the table of its numbers has the rest.
func (d survivalDrawing) alt(name, what string, c evaluate.Curve) string {
	last := len(d.Ends) - 1
	out := fmt.Sprintf("%s: %s ", name, what)
	if n := len(c.Values); n > 0 {
		l := limitedAt(c, n-1, 2)
		out += fmt.Sprintf("%s at time %s, limits %s to %s. ", l.Value, parameter(d.Ends[n-1]), l.Low, l.High)
		if n == last+1 {
			return out
		}
	}
	l := limitedAt(c, last, 2)
	return out + fmt.Sprintf("not known at time %s, limits %s to %s. ", parameter(d.Ends[last]), l.Low, l.High)
}

func (d survivalDrawing) survival() survivalFigure {
	f := survivalFigure{Heading: "Survival", Legend: d.legend(), Narrow: !d.together()}
	plot := 260
	if f.Narrow {
		plot = 180
	}
	f.Charts = d.charts(plot, "probability of survival", falls, func(a evaluate.SurvivalArm) evaluate.Curve { return a.Survival })
	half := scale{0, 1}
	for i := range f.Charts {
		f.Charts[i].Level = coordinate(box - box/100*half.at(0.5))
		if d.together() {
			var classes []string
			for k := range d.Arms {
				classes = append(classes, armClass(k))
			}
			f.Charts[i].risk(d.axis, d.atRisk, d.Arms, classes)
		} else {
			f.Charts[i].risk(d.axis, d.atRisk, d.Arms[i:i+1], []string{armClass(0)})
		}
	}
	runs := "Each curve steps at the end of a bin of time to the probability that the time is longer than that. Its shaded band holds it with 95% probability, at all times together."
	if d.axis.grouped {
		runs = "Each curve is known at the ends of bins of time, where it is the probability that the time is longer than that, and runs straight in between. Its shaded band holds it with 95% probability, at all times together."
	}
	f.Caption = runs + " The dashed line is one half: a curve meets it at its median. Below are the " + d.counted + " at the start of bins." + d.restricted() + d.others() + d.cut()
	return f
}

// restricted says what the upright line is, where there is one.
func (d survivalDrawing) restricted() string {
	if d.Until < d.Ends[len(d.Ends)-1] {
		return " The upright line is the time to which means are restricted."
	}
	return ""
}

// others says what the thin lines are, where there are some.
func (d survivalDrawing) others() string {
	if d.together() {
		return ""
	}
	return " Thin lines are the curves of the other " + map[string]string{"arm": "arms", "policy": "policies"}[d.arm] + "."
}

// cut says why curves end early, where some do.
func (d survivalDrawing) cut() string {
	if d.limited {
		return " There are limits alone, and no curves: they allow for whatever became of those of whom nothing is known."
	}
	for _, a := range d.Arms {
		if len(a.Survival.Values) < len(d.Ends) {
			return " A curve ends at a dot, where too few persons are at risk for an estimate; after it, the band allows for every course."
		}
	}
	return ""
}

// incidences are a chart a cause in one figure, or a figure a cause where each arm has a chart.
func (d survivalDrawing) incidences() []survivalFigure {
	const what = "Cumulative incidence of "
	blank := survivalFigure{Heading: what + "each cause", Legend: d.legend(), Narrow: true,
		Caption: "The probability of an event of the cause, before any other, by the end of each bin, with its 95% band." + d.others()}
	together := blank
	var out []survivalFigure
	for k, cause := range d.Arms[0].Incidence {
		charts := d.charts(170, "probability of "+cause.Cause, rises, func(a evaluate.SurvivalArm) evaluate.Curve { return a.Incidence[k].Curve })
		for i := range charts {
			charts[i].YWords = "probability"
		}
		if d.together() {
			charts[0].Heading = cause.Cause
			together.Charts = append(together.Charts, charts[0])
			continue
		}
		f := blank
		f.Heading, f.Charts = what+cause.Cause, charts
		out = append(out, f)
	}
	if d.together() {
		return []survivalFigure{together}
	}
	return out
}

func (d survivalDrawing) differences() survivalFigure {
	f := survivalFigure{Heading: "Difference of survival"}
	var curves []evaluate.Curve
	for _, x := range d.Differences {
		curves = append(curves, x.Curve)
	}
	y := about(curves...)
	for _, x := range d.Differences {
		c := d.axis.axes(150, y, "difference of survival", d.xWords)
		c.Heading = nameOfPair(x.Name)
		c.Level = coordinate(box - box/100*y.at(0))
		c.Curves = []curveLine{d.axis.curve(armClass(0), x.Curve, roams, y)}
		c.Alt = d.alt(c.Heading, "difference of survival", x.Curve)
		f.Charts = append(f.Charts, c)
	}
	f.Narrow = len(f.Charts) > 1
	f.Caption = "The first " + d.arm + "’s probability of survival minus the second’s, with its 95% band. The dashed line is a difference of 0; above it, more survive " + map[string]string{"arm": "in", "policy": "under"}[d.arm] + " the first " + d.arm + "."
	return f
}

// nameOfPair sets the name of a difference with a true minus sign, where it is plain.
func nameOfPair(name string) string {
	if first, second, ok := pair(name); ok {
		return first + " − " + second
	}
	return name
}

// tables list the numbers of all curves.
func (d survivalDrawing) tables() []curveTable {
	var out []curveTable
	for _, a := range d.Arms {
		t := d.table(a.Name+": survival", "survival", a.Survival)
		t.AtRisk = strings.ToLower(d.atRisk) + " at its start"
		for j := range t.Rows {
			t.Rows[j].AtRisk = persons(a.AtRisk[j])
		}
		out = append(out, t)
		for _, c := range a.Incidence {
			out = append(out, d.table(a.Name+": "+c.Cause, "incidence", c.Curve))
		}
	}
	for _, x := range d.Differences {
		out = append(out, d.table(nameOfPair(x.Name)+": survival", "difference", x.Curve))
	}
	return out
}

// mostBins bounds a table of a curve; the JSON form holds all.
const mostBins = 120

func (d survivalDrawing) table(caption, value string, c evaluate.Curve) curveTable {
	t := curveTable{Caption: caption, Value: value}
	for j, e := range d.Ends[:min(len(d.Ends), mostBins)] {
		l := limitedAt(c, j, 3)
		t.Rows = append(t.Rows, curveRow{Time: parameter(e), Value: l.Value, Low: l.Low, High: l.High})
	}
	t.Left = len(d.Ends) - len(t.Rows)
	return t
}
