package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/evaluate"
)

// forestView is the answers about several policies: a panel for their values and one
// for their differences, each on an axis of its own. Of several groups there is one panel.
type forestView struct {
	Joint   string
	Count   int
	Panels  []forestPanel
	Choices []choiceView
}

type forestPanel struct {
	Heading      string
	Rows         []forestRow
	Height       int
	Foot, Labels int   // in pixels: end of the zero line, and of the marks below
	Zero         *mark // of differences, where it is on the axis
	Low, High    mark
	Alt          string
	Words        string
}

type forestRow struct {
	Name, Value, Low, High string
	Interval               bar
	At                     string // of the value
	Y                      int
	Decided                string // what a difference shows; empty for a value
	Missing                string
	Persons                string // of a group
}

// Picked is the policy that permute-and-flip drew; empty where none was drawn.
func Picked(r *evaluate.Release) string {
	for _, a := range r.Answers {
		if a.Pick != nil {
			return a.Pick.Policy
		}
	}
	return ""
}

// choiceView is which policy is best, in words; none where Policy is empty.
type choiceView struct {
	Policy, Regret, MayBe string
	Separated             bool // by intervals
	ByLimit               bool // the policy is that of the largest lower limit
}

// Intervals is how many intervals a release has.
func Intervals(r *evaluate.Release) int {
	n := 0
	for _, a := range r.Answers {
		if a.Estimate != nil {
			n++
		}
	}
	return n
}

// axis is the scale of the answers of a kind: all their intervals, and zero for
// differences.
func axis(r *evaluate.Release, kind evaluate.AnswerKind) scale {
	var ends []float64
	if kind == evaluate.OfContrast {
		ends = append(ends, 0)
	}
	for _, a := range r.Answers {
		if a.Kind == kind && a.Estimate != nil {
			ends = append(ends, a.Estimate.Interval[0], a.Estimate.Interval[1], a.Estimate.Value)
		}
	}
	return over(0, ends...)
}

// Forest draws answer i of a release on one line of so many columns, on an axis that
// it shares with the other answers of its kind: the interval, the value in it, and for
// a difference zero. It is empty for an answer without an interval.
func Forest(r *evaluate.Release, i, columns int) string {
	a := r.Answers[i]
	if a.Estimate == nil || columns < 3 {
		return ""
	}
	s := axis(r, a.Kind)
	column := func(x float64) int { return int(math.Round(s.at(x) / 100 * float64(columns-1))) }
	line := []rune(strings.Repeat(" ", columns))
	for k := column(a.Estimate.Interval[0]); k <= column(a.Estimate.Interval[1]); k++ {
		line[k] = '─'
	}
	line[column(a.Estimate.Interval[0])], line[column(a.Estimate.Interval[1])] = '├', '┤'
	if a.Kind == evaluate.OfContrast {
		line[column(0)] = '0'
	}
	line[column(a.Estimate.Value)] = '●'
	return string(line)
}

func newForestView(r *evaluate.Release) *forestView {
	v := &forestView{Joint: percent(r.JointConfidence, nearest), Count: Intervals(r)}
	if r.Learned != nil {
		v.Joint += ", each by itself with at least 90%"
	}
	for _, kind := range []evaluate.AnswerKind{evaluate.OfPolicy, evaluate.OfGroup, evaluate.OfContrast} {
		if slices.ContainsFunc(r.Answers, func(a evaluate.PolicyAnswer) bool { return a.Kind == kind && a.Estimate != nil }) {
			v.Panels = append(v.Panels, newForestPanel(r, kind))
		}
	}
	for _, a := range r.Answers {
		if s := a.Selection; s != nil {
			c := choiceView{Policy: s.Named(), ByLimit: s.Separated == nil, Separated: s.Separated != nil && *s.Separated, MayBe: strings.Join(s.MayBeBest, ", ")}
			if s.Regret != nil {
				c.Regret = significant(*s.Regret, digits, up)
			}
			v.Choices = append(v.Choices, c)
		}
	}
	return v
}

func newForestPanel(r *evaluate.Release, kind evaluate.AnswerKind) forestPanel {
	const rowHeight = 46
	p := forestPanel{Heading: "What each policy is worth", Words: "Each dark bar is an interval, and the line in it is the value."}
	if kind == evaluate.OfGroup {
		p.Heading = "What the policy is worth in each group"
	}
	if kind == evaluate.OfContrast {
		p.Heading = "Differences between policies"
		p.Words = "Each dark bar is an interval, and the line in it is the difference: the first policy’s value minus the second’s. The dashed line marks a difference of 0."
	}
	measure := "a return"
	if _, until := lives(r); until != "" {
		measure = "the time"
	}
	p.Words += " The axis is in units of " + measure + " and just wide enough to show them."
	if r.Survival != nil {
		p.Heading, p.Words = meansWords(kind, armNoun(r))
	}
	if r.Experiment != nil {
		p.Heading, p.Words = armsForest(kind)
	}
	if r.Distribution != nil {
		p.Heading = "Quantiles and means of tails"
	}
	s := axis(r, kind)
	for _, a := range r.Answers {
		if a.Kind != kind || a.Estimate == nil {
			continue
		}
		a.Name = AnswerName(r.Public, a.Name)
		row := newForestRow(a, s)
		if r.Survival != nil && a.Kind == evaluate.OfContrast {
			row.Decided = longer(a.Name, a.Estimate.Interval)
		}
		if r.Experiment != nil && a.Kind == evaluate.OfContrast {
			row.Decided = above(a.Name, a.Estimate.Interval)
		}
		row.Y = rowHeight * len(p.Rows)
		p.Rows = append(p.Rows, row)
		p.Alt += fmt.Sprintf("%s: %s, interval %s to %s. ", row.Name, row.Value, row.Low, row.High)
	}
	p.Foot = rowHeight * len(p.Rows)
	p.Labels, p.Height = p.Foot+14, p.Foot+22
	p.Low, p.High = s.mark(s.lo, round(s.lo)), s.mark(s.hi, round(s.hi))
	if kind == evaluate.OfContrast {
		zero := s.mark(0, "0")
		p.Zero = &zero
	}
	return p
}

func newForestRow(a evaluate.PolicyAnswer, s scale) forestRow {
	e := a.Estimate
	decimals := decimalsFor(e.Value, e.Interval[1]/2-e.Interval[0]/2)
	row := forestRow{
		Name: a.Name, Value: fixed(e.Value, decimals, nearest), Low: fixed(e.Interval[0], decimals, down), High: fixed(e.Interval[1], decimals, up),
		Interval: s.bar(e.Interval[0], e.Interval[1]), At: coordinate(s.at(e.Value)), Missing: missingShare(a.Diagnostics),
	}
	if a.Kind == evaluate.OfGroup {
		row.Persons = GroupSize(a)
	}
	if a.Kind != evaluate.OfContrast {
		return row
	}
	row.Decided = decided(a.Name, e.Interval)
	if first, second, ok := pair(a.Name); ok {
		row.Name = first + " − " + second
	}
	return row
}

// GroupSize is how many persons a group has, in words: their public number, or a noisy
// one. It is empty where none is told.
func GroupSize(a evaluate.PolicyAnswer) string {
	m, err := normalise("diagnostics", a.Diagnostics)
	if err != nil {
		return ""
	}
	sums, _ := m["sums"].(map[string]any)
	n, ok := number(sums["count"])
	switch {
	case !ok:
		return ""
	case n == math.Trunc(n):
		return fmt.Sprintf("%.0f persons", n)
	}
	return fmt.Sprintf("about %.0f persons", max(n, 0))
}

// decided says what the interval of a difference shows.
func decided(name string, interval [2]float64) string {
	first, second, ok := pair(name)
	if !ok {
		first, second = "the first", "the second"
	}
	switch {
	case interval[0] > 0:
		return first + " is better than " + second
	case interval[1] < 0:
		return second + " is better than " + first
	}
	return "the data do not show which is better"
}

// pair takes the name of a difference apart, where it is plain which policy is which.
func pair(name string) (first, second string, ok bool) {
	if strings.Count(name, " - ") != 1 {
		return "", "", false
	}
	return strings.Cut(name, " - ")
}

// missingShare is the missing mass of an answer, empty where none is told.
func missingShare(diagnostics map[string]any) string {
	m, err := normalise("diagnostics", diagnostics)
	if err != nil {
		return ""
	}
	missing, _ := m["missing_mass"].(map[string]any)
	share, ok := number(missing["share"])
	if !ok {
		return ""
	}
	return percent(share, up)
}

// checkAnswers refuses answers that cannot be shown truthfully.
func checkAnswers(r *evaluate.Release) error {
	for i, a := range r.Answers {
		if err := checkEstimate(a.Estimate); err != nil {
			return fmt.Errorf("answers[%d]: %w", i, err)
		}
		if s := a.Selection; s != nil {
			if (s.Named() == "") != (s.Regret == nil) {
				return fmt.Errorf("%w: answers[%d].selection has a policy or a regret_at_most without the other", ErrRelease, i)
			}
			if s.Regret != nil {
				if err := finite(fmt.Sprintf("answers[%d].selection", i), *s.Regret); err != nil {
					return err
				}
			}
		}
		if _, err := normalise(fmt.Sprintf("answers[%d].diagnostics", i), a.Diagnostics); err != nil {
			return err
		}
	}
	return finite("joint_confidence", r.JointConfidence)
}
