package report

import (
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/overview"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// Look is what a curator sees of data before an evaluation. None of it is private
// in the sense of a release: it is for the curator alone.
type Look struct {
	// Of names what was looked at, such as the configuration's file.
	Of string
	// Summary counts; Unit is what its persons are.
	Summary file.Summary
	Unit    evaluate.Unit
	// Rule says in words what becomes of records that violate what is asked.
	Rule string
	// Overview describes the data; nil where they cannot be evaluated.
	Overview *overview.Report
	// NotUsed says which decisions the method would leave out.
	NotUsed []string
	// Found is what is wrong, nil where nothing is.
	Found error
}

var (
	//go:embed look.html.tmpl
	lookSource string

	lookTemplate = parsed("look", &lookSource)
)

// WriteLook renders a look as one self-contained HTML page, like [Write]. The page
// is as private as the data.
func WriteLook(w io.Writer, l Look) error {
	return render(w, lookTemplate(), newLookPage(l))
}

// lookPage is what the template sees.
type lookPage struct {
	Style     template.CSS
	Of        string
	Faults    []faultRow
	Kinds     []string
	More      int // faults that are not listed
	Warnings  []string
	Counts    []namedCount
	NotUsed   []string
	Charts    []histogram
	Weights   string
	Outcomes  []string // what became of the persons of each arm
	Steps     []stepRow
	MoreSteps int // that are not drawn
	Rule      string
	Repaired  []repairRow
	LeftOut   []faultRow
	Notices   []string
}

type faultRow struct{ Where, What, Remedy string }

// repairRow counts what one rule repaired, and for which reasons where there are
// several.
type repairRow struct {
	Count         int
	What, Outcome string
	Kinds         []string
}

type namedCount struct{ Name, Value string }

func newLookPage(l Look) lookPage {
	p := lookPage{Style: template.CSS(styleSource), Of: l.Of, Rule: l.Rule, NotUsed: l.NotUsed, Notices: l.Summary.Notices}
	p.faults(l.Found)
	s := l.Summary
	p.repaired(s.Repaired)
	count := func(name string, n int) { p.Counts = append(p.Counts, namedCount{name, fmt.Sprint(n)}) }
	if l.Found == nil || s.Whole {
		if l.Unit == evaluate.Person || l.Unit == "" {
			count("persons", s.Persons)
		}
		if l.Overview != nil {
			count("episodes", l.Overview.Episodes)
			count("decisions", l.Overview.Rows)
		}
	}
	count("files", s.Files)
	if l.Overview != nil {
		p.describe(l.Overview)
	}
	return p
}

// faults lists what is wrong, one row a fault.
func (p *lookPage) faults(err error) {
	switch e := err.(type) {
	case nil:
	case *trajectory.InputError:
		p.Faults = append(p.Faults, newFaultRow(e))
	case *trajectory.FaultsError:
		for _, f := range e.First {
			p.faults(f)
		}
		if p.More = e.Total - len(e.First); p.More > 0 {
			for _, k := range e.Kinds {
				p.Kinds = append(p.Kinds, fmt.Sprintf("%d × %s", k.Faults, k))
			}
		}
	default:
		if joined, ok := err.(interface{ Unwrap() []error }); ok && errors.Join(joined.Unwrap()...).Error() == err.Error() {
			for _, e := range joined.Unwrap() {
				p.faults(e)
			}
			return
		}
		p.Faults = append(p.Faults, faultRow{What: err.Error()})
	}
}

// repaired says what a private evaluation would repair.
func (p *lookPage) repaired(r trajectory.Repaired) {
	episodes := repairRow{Count: r.Episodes, What: "episodes with a value that cannot be used", Outcome: "left out; their persons stay"}
	for _, k := range r.Kinds {
		episodes.Kinds = append(episodes.Kinds, fmt.Sprintf("%d × %s", k.Faults, k))
	}
	for _, row := range []repairRow{
		{Count: r.Rewards, What: "rewards outside their range", Outcome: "moved to the nearer end"},
		{Count: r.Observations, What: "missing observations", Outcome: "replaced"},
		episodes,
	} {
		if row.Count > 0 {
			p.Repaired = append(p.Repaired, row)
		}
	}
	for _, f := range r.First {
		p.LeftOut = append(p.LeftOut, newFaultRow(f))
	}
}

func newFaultRow(e *trajectory.InputError) faultRow {
	row := faultRow{Where: e.File, What: trajectory.FaultKind{Column: e.Column, What: e.What}.String(), Remedy: e.Remedy}
	if e.Row > 0 {
		row.Where = fmt.Sprintf("%s:%d", e.File, e.Row)
	}
	if e.Element > 0 {
		row.Where += fmt.Sprintf(", element %d", e.Element)
	}
	return row
}

// describe draws the overview.
func (p *lookPage) describe(r *overview.Report) {
	p.Warnings = r.Warnings
	if v := r.Weights; v != nil {
		of := "the target's"
		if v.Uniform {
			of = "uniform"
		}
		h := newHistogram("Weight of an episode", "The product of the ratios of "+of+" and the logged probabilities; the mean should be 1.", v.Spread, nil)
		if v.Cap > 0 {
			h = newHistogram(h.Title, h.Words+" The shaded range ends at the cap.", v.Spread, &evaluate.Range{Max: v.Cap})
		}
		p.Charts = append(p.Charts, h)
		p.Weights = fmt.Sprintf("Mean %.4g with standard error %.2g; effective sample size %.4g of %d episodes; %d of weight 0.", v.Mean, v.StdErr, v.EffectiveSize, r.Episodes, v.Zero)
		if v.Cap > 0 {
			p.Weights += fmt.Sprintf(" Beyond the cap %.4g are %s of the episodes; it cuts off %s of the weight.", v.Cap, overview.Percent(v.BeyondShare), overview.Percent(v.BeyondMass))
		}
	}
	if p.Outcomes = r.Outcome.Lines(); p.Outcomes == nil {
		p.Charts = append(p.Charts,
			newHistogram("Rewards", outside(r.Rewards), r.Rewards.Spread, r.Rewards.Range),
			newHistogram("Returns", outside(r.Returns), r.Returns.Spread, r.Returns.Range))
	}
	p.Charts = append(p.Charts,
		newHistogram("Decisions of an episode", "", r.Lengths, nil),
		newHistogram("Episodes of a person", "", r.EpisodesPerPerson, nil))
	if v := r.Propensity; v != nil {
		p.Charts = append(p.Charts, newHistogram("Behaviour probability of the logged actions", "", v.Spread, nil))
	}
	if len(r.Actions) > 0 {
		p.Steps = append(p.Steps, newStepRow(r, "all decisions", r.Rows, r.Actions))
	}
	for _, s := range r.Steps {
		p.Steps = append(p.Steps, newStepRow(r, fmt.Sprintf("decision %d", s.Step), s.Episodes, s.Actions))
	}
	if len(r.Steps) > 0 {
		p.MoreSteps = int(r.Lengths.Max) - len(r.Steps)
	}
}

func outside(b overview.Bounded) string {
	if b.Range == nil {
		return ""
	}
	return fmt.Sprintf("The shaded range is the public one; %d lie outside.", b.Outside)
}

// histogram draws a spread, over its public range where there is one.
type histogram struct {
	Title, Words, Alt string
	Range             *bar
	Bars              []column
	Min, Max          mark
	Numbers           string
}

// column is an upright bar: place and width in percent, height in pixels.
type column struct {
	bar
	Y, Height string
}

// histogramHeight is in pixels.
const histogramHeight = 80

func newHistogram(title, words string, s overview.Spread, r *evaluate.Range) histogram {
	ends := []float64{s.Min, s.Max}
	if r != nil {
		ends = append(ends, r.Min, r.Max)
	}
	x := over(.02, ends...)
	h := histogram{Title: title, Words: words, Numbers: fmt.Sprintf("min %s, median %s, mean %s, max %s", round(s.Min), round(s.Median), round(s.Mean), round(s.Max))}
	h.Alt = title + ": " + h.Numbers
	if r != nil {
		b := x.bar(r.Min, r.Max)
		h.Range = &b
	}
	h.Min, h.Max = x.mark(slices.Min(ends), round(slices.Min(ends))), x.mark(slices.Max(ends), round(slices.Max(ends)))
	most := 0
	for _, n := range s.Bins {
		most = max(most, n)
	}
	for i, n := range s.Bins {
		if n > 0 {
			h.Bars = append(h.Bars, upright(binOf(x, s, i), n, most))
		}
	}
	return h
}

// binOf is the place of a bin; one that has no width is drawn as a line.
func binOf(x scale, s overview.Spread, i int) bar {
	n := float64(len(s.Bins))
	at := func(k float64) float64 { return s.Min*(1-k/n) + s.Max*(k/n) }
	lo, hi := x.at(at(float64(i))), x.at(at(float64(i+1)))
	return bar{coordinate(min(lo, 99.5)), coordinate(max(hi-lo-.2, .5))}
}

// upright draws a count; one that is not zero can be seen.
func upright(b bar, n, most int) column {
	height := max(histogramHeight*float64(n)/float64(most), 1)
	return column{b, coordinate(histogramHeight - height), coordinate(height)}
}

// stepRow draws how often each action was taken at one decision.
type stepRow struct {
	Name, Count, Words string
	Bars               []column
}

// saidActions is how many actions are counted in words as well.
const saidActions = 8

func newStepRow(r *overview.Report, name string, n int, actions []int) stepRow {
	s := stepRow{Name: name, Count: fmt.Sprint(n)}
	var words []string
	for a, k := range actions {
		words = append(words, fmt.Sprintf("%s: %d", r.Name(a), k))
		if k > 0 {
			width := 100 / float64(len(actions))
			s.Bars = append(s.Bars, upright(bar{coordinate(width * float64(a)), coordinate(width * .8)}, k, max(n, 1)))
		}
	}
	if len(words) > saidActions {
		words = append(words[:saidActions], "…")
	}
	s.Words = strings.Join(words, ", ")
	return s
}
