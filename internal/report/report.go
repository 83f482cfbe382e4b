package report

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"math"
	"sync"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
)

// ErrRelease marks a release that cannot be rendered: it is missing, of another
// schema, or holds a number that is not finite.
var ErrRelease = errors.New("release cannot be rendered")

var (
	//go:embed page.html.tmpl
	pageSource string
	//go:embed survival.html.tmpl
	survivalSource string
	//go:embed style.css
	styleSource string
	//go:embed survival.css
	survivalStyle string

	pageTemplate = parsed("page", &pageSource, &survivalSource)
)

// parsed reads a template when it is first used: most commands render nothing.
func parsed(name string, sources ...*string) func() *template.Template {
	return sync.OnceValue(func() *template.Template {
		t := template.New(name)
		for _, s := range sources {
			template.Must(t.Parse(*s))
		}
		return t
	})
}

// Write renders r as one self-contained HTML page. Nothing is written to w
// unless the whole page could be made. Errors wrap [ErrRelease], except those of
// w itself.
func Write(w io.Writer, r *evaluate.Release) error {
	if err := check(r); err != nil {
		return err
	}
	p, err := newPage(r)
	if err != nil {
		return err
	}
	return render(w, pageTemplate(), p)
}

// render writes a page whole, or nothing of it.
func render(w io.Writer, t *template.Template, page any) error {
	var buf bytes.Buffer
	if err := t.Execute(&buf, page); err != nil {
		return fmt.Errorf("%w: %w", ErrRelease, err)
	}
	_, err := bidi.WriteString(w, buf.String())
	return err
}

// page is what the template sees: finished sentences, formatted numbers and
// chart coordinates.
type page struct {
	Style       template.CSS
	Title       string
	Method      string
	MethodWords string
	Target      string
	Warnings    []warning

	Times        string // what the time of a study of survival is
	Estimate     *estimateView
	Survival     *survivalView
	Distribution *distributionView
	Rule         []RuleLine
	Certificates []string
	Experiment   []Line
	Answer       *answerView
	Forest       *forestView
	Picked       string // the policy that was drawn
	Function     *functionView
	Promise      *promise
	Event        *eventNode
	EventRaw     string

	Measure     string // what values and errors are in units of
	Public      []namedFact
	Unsaid      string // which public parameters are not on the page
	Expected    []expectedRow
	Diagnostics []namedFact
	Limits      []limit
	Ledger      *ledgerView
	Disclosed   []disclosed
	Notes       []string
	Checks      []verification
	Schema      string
}

func newPage(r *evaluate.Release) (*page, error) {
	public, err := normalise("public", r.Public)
	if err != nil {
		return nil, err
	}
	diagnostics, err := normalise("diagnostics", diagnosticsOf(r))
	if err != nil {
		return nil, err
	}
	p := &page{
		Style:       template.CSS(style(r)),
		Title:       title(r),
		Method:      r.Method,
		MethodWords: methodWords(r.Method),
		Measure:     "a return",
		Public:      publicFacts(public),
		Expected:    expectedRows(r),
		Diagnostics: namedFacts(diagnostics),
		Notes:       Notes(r),
		Schema:      r.Schema,
	}
	if t, ok := public["target"]; ok {
		p.Target = newFact(t).line()
	}
	p.Warnings = warnings(r)
	p.Disclosed = disclosures(r.Disclosure)
	if r.Ledger != nil {
		p.Ledger = newLedgerView(r.Ledger)
	}
	p.Limits = limits(r, public)
	p.Checks = checks(r)
	p.Rule, p.Certificates, p.Experiment = Rule(r), Certificates(r), Experiment(r)
	if _, until := lives(r); until != "" {
		p.Measure = "the time"
	}
	bounds := returnRange(public)
	if r.Survival != nil {
		bounds = timeRange(r)
		if err := p.survive(r, public); err != nil {
			return nil, err
		}
	}
	if r.Distribution != nil {
		p.spread(r, bounds)
	}
	if One(r) != nil {
		p.Estimate = newEstimateView(r, bounds)
	}
	if r.Answer != nil {
		p.Answer = newAnswerView(r.Answer, public)
	}
	if p.Picked = Picked(r); p.Picked == "" && p.Estimate == nil && len(r.Answers) > 0 {
		p.Forest = newForestView(r)
	}
	if len(r.Values) > 0 || len(r.Theta) > 0 {
		p.Function = newFunctionView(r, bounds)
	}
	if r.Privacy != nil {
		p.Promise = newPromise(r.Privacy, public)
		p.Promise.Charged = charged(r)
		p.Event = newEventNode(r.Privacy.Event)
		text, err := dp.MarshalEvent(r.Privacy.Event)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrRelease, err)
		}
		p.EventRaw = string(text)
		if r.Survival != nil {
			p.Event.countOnce(noisyCells(r))
		}
		p.speak(r.Privacy.Unit)
	}
	return p, nil
}

// style is the style sheet of a page.
func style(r *evaluate.Release) string {
	if r.Survival != nil || r.Distribution != nil {
		return styleSource + survivalStyle
	}
	return styleSource
}

// check refuses what cannot be shown truthfully.
func check(r *evaluate.Release) error {
	if r == nil {
		return fmt.Errorf("%w: it is nil", ErrRelease)
	}
	if r.Schema != evaluate.ReleaseSchema {
		return fmt.Errorf("%w: schema is %q; want %q", ErrRelease, r.Schema, evaluate.ReleaseSchema)
	}
	x := r.Expected
	if err := finite("expected", x.StdPrivacy, x.StdSampling, x.HalfWidth, x.RMSE, x.Constant); err != nil {
		return err
	}
	if err := finite("theta", r.Theta...); err != nil {
		return err
	}
	if err := finite("values", r.Values...); err != nil {
		return err
	}
	if b := r.Bands; b != nil {
		if err := finite("bands", append(append([]float64{b.Deviations}, b.Lower...), b.Upper...)...); err != nil {
			return err
		}
	}
	if err := checkStart(r.Start); err != nil {
		return err
	}
	if err := checkAnswer(r.Answer); err != nil {
		return err
	}
	if err := checkAnswers(r); err != nil {
		return err
	}
	if err := checkSurvival(r.Survival); err != nil {
		return err
	}
	if err := checkDistribution(r.Distribution); err != nil {
		return err
	}
	if err := errors.Join(checkLearned(r.Learned), checkExperiment(r.Experiment)); err != nil {
		return err
	}
	if err := checkLedger(r.Ledger); err != nil {
		return err
	}
	return checkPrivacy(r.Privacy)
}

func checkStart(s *evaluate.StartValue) error {
	if s == nil {
		return nil
	}
	numbers := []float64{s.Value, s.StdAtMost, s.Deviations}
	if s.Band != nil {
		numbers = append(numbers, s.Band[0], s.Band[1])
	}
	return finite("start_value", numbers...)
}

func checkEstimate(e *evaluate.Estimate) error {
	if e == nil {
		return nil
	}
	if err := finite("estimate", e.Value, e.Interval[0], e.Interval[1], e.StdSampling, e.StdPrivacy, e.Clipping[0], e.Clipping[1]); err != nil {
		return err
	}
	switch {
	case !(e.Interval[0] <= e.Interval[1]):
		return fmt.Errorf("%w: estimate.interval ends before it starts", ErrRelease)
	case !(e.Confidence > 0 && e.Confidence <= 1):
		return fmt.Errorf("%w: estimate.confidence is %v; want above 0 and at most 1", ErrRelease, e.Confidence)
	case e.StdSampling < 0 || e.StdPrivacy < 0 || e.Clipping[0] < 0 || e.Clipping[1] < 0:
		return fmt.Errorf("%w: a standard deviation in estimate is negative", ErrRelease)
	}
	return nil
}

func checkPrivacy(s *evaluate.Statement) error {
	if s == nil {
		return nil
	}
	if !s.Adjacency.Valid() {
		return fmt.Errorf("%w: privacy.adjacency: %w", ErrRelease, dp.ErrAdjacency)
	}
	if err := (dp.Budget{Epsilon: s.Epsilon, Delta: s.Delta}).Validate(); err != nil {
		return fmt.Errorf("%w: privacy: %w", ErrRelease, err)
	}
	if err := finite("privacy.accounted", s.Accounted.Lower, s.Accounted.Upper); err != nil {
		return err
	}
	if s.Event == nil {
		return fmt.Errorf("%w: privacy.event is missing", ErrRelease)
	}
	if err := s.Event.Validate(); err != nil {
		return fmt.Errorf("%w: privacy.event: %w", ErrRelease, err)
	}
	return nil
}

// finite names the field and never prints the number: an error may travel
// further than the release.
func finite(field string, xs ...float64) error {
	for i, x := range xs {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%w: %s: number %d of %d is not finite", ErrRelease, field, i+1, len(xs))
		}
	}
	return nil
}
