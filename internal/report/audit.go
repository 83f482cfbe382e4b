package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"github.com/discreet-rl/discreet/dp/audit"
	"github.com/discreet-rl/discreet/internal/evaluate/examine"
	trainexamine "github.com/discreet-rl/discreet/internal/train/examine"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// Audit is what an audit found: of a plan, or of the reports of a training run.
type Audit struct {
	// Of names what was audited, such as the configuration's file.
	Of string
	// Report is of a plan, Training of reports; one of them is nil.
	Report   *examine.Report
	Training *trainexamine.Report
}

var (
	//go:embed audit.html.tmpl
	auditSource string

	auditTemplate = parsed("audit", &auditSource)
)

// WriteAudit renders an audit as one self-contained HTML page, like [Write]. Nothing on
// it depends on anybody's data.
func WriteAudit(w io.Writer, a Audit) error {
	var page auditPage
	switch {
	case a.Report != nil && a.Training == nil:
		page = planPage(a.Report)
	case a.Training != nil && a.Report == nil:
		page = trainingPage(a.Training)
	default:
		return fmt.Errorf("%w: want the report of one audit", ErrRelease)
	}
	page.Style, page.Of = template.CSS(styleSource), a.Of
	return render(w, auditTemplate(), page)
}

// auditPage is what the template sees.
type auditPage struct {
	Style    template.CSS
	Of       string
	Broken   []string
	Verdict  string
	Facts    []namedText
	Done     string
	Planted  []planted
	Found    int // planted bugs
	Missing  []string
	Bars     *bars
	TradeOff *tradeOff
}

type planted struct {
	Mistake string
	Found   bool
	By      string
}

func (p *auditPage) plant(m planted) {
	p.Planted = append(p.Planted, m)
	if m.Found {
		p.Found++
	}
}

func (p *auditPage) say(name, format string, args ...any) {
	p.Facts = append(p.Facts, namedText{name, fmt.Sprintf(format, args...)})
}

// sentence begins a text with a capital letter.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

type namedText struct{ Name, Text string }

func planPage(r *examine.Report) auditPage {
	p := auditPage{Broken: r.Broken, Verdict: sentence(r.Verdict()), Missing: r.Missing, TradeOff: newTradeOff(r.Claim, r.Found),
		Done: "The plan was run on neighbouring datasets that were generated from public facts. No data and no ledger were opened, and nothing was released."}
	for _, m := range r.SelfTest {
		p.plant(planted(m))
	}
	say := p.say
	say("Method", "%s", r.Method)
	say("Claim", "epsilon %.4g at delta %g, %v", r.Claim.Epsilon, r.Claim.Delta, r.Adjacency)
	if r.Claim.Mu > 0 {
		say("Claimed mu", "%.4g", r.Claim.Mu)
	}
	if r.Replayed > 0 {
		paid := "mu²"
		if r.Claim.Mu == 0 {
			paid = "epsilon"
		}
		say("Replay", "%d pairs of neighbouring datasets; the worst pair (%s) uses %.4f of the charged %s", r.Replayed, r.WorstKind, r.Worst, paid)
	}
	if f := r.Found; f != nil {
		say("Shown", "epsilon at least %.4g, mu at least %.4g, by %d runs on each dataset of one pair", f.Epsilon, f.Mu, r.Runs)
		say("Wrong with probability", "at most %g, over all tests together", audit.DefaultFalseAlarm)
	}
	if r.Power != nil {
		say("Power", "mu %.4g is expected to be shown; noise at half the claimed scale is found with probability %.4f", r.Power.Expected, r.Power.HalfNoise)
	}
	if r.Reading != nil {
		say("Reading", "%s; %.1f seconds", sentence(r.Reading.String()), r.Reading.Seconds)
	}
	say("Seconds", "%.1f", r.Seconds)
	return p
}

// trainingPage is of the reports of agents.
func trainingPage(r *trainexamine.Report) auditPage {
	p := auditPage{Broken: r.Broken, Verdict: sentence(r.Verdict()), Missing: r.Missing, TradeOff: newTradeOff(r.Claim, &r.Found), Bars: newBars(r),
		Done: "Pairs of vectors as different as possible were randomised as an agent does it. No agent took part, nothing was sent, and no wallet was opened."}
	for _, m := range r.SelfTest {
		p.plant(planted(m))
	}
	p.say("Reports", "by %s, of %d weights", r.Randomizer.Mechanism, r.Dim)
	p.say("Claim", "epsilon %.4g for a report, delta 0, local, %v", r.Claim.Epsilon, r.Adjacency)
	if r.Exact != nil {
		p.say("Exact", "epsilon %.6g is the largest over %d pairs of vectors, from the exact probabilities of all reports", *r.Exact, r.Pairs)
	}
	if r.Success != nil {
		p.say("Answers about success", "epsilon %.6g, computed exactly", *r.Success)
	}
	p.say("Shown", "epsilon at least %.4g, by %d reports on each of two vectors (%s)", r.Found.Epsilon, r.Runs, r.WorstPair)
	p.say("Wrong with probability", "at most %g", audit.DefaultFalseAlarm)
	if r.Once != nil && r.OncePower != nil {
		p.say("One run", "epsilon at least %.4g; %d of %d guesses about %d canaries were right; reports that use their whole claim are expected to show %.4g",
			r.Once.Epsilon, r.Once.Right, r.Once.Guessed, r.Once.Canaries, r.OncePower.Expected)
	}
	p.say("Seconds", "%.1f", r.Seconds)
	return p
}

// bars draw one epsilon beside the other, in percent of the largest.
type bars struct {
	Height float64
	Rows   []epsilonBar
}

type epsilonBar struct {
	Name, Text   string
	Width        string
	Top, Caption float64
}

// barRow is the height of a row of bars: the caption above, the bar below.
const barRow = 16

func newBars(r *trainexamine.Report) *bars {
	type named struct {
		name    string
		epsilon float64
	}
	all := []named{{"claimed", r.Claim.Epsilon}}
	if r.Exact != nil {
		all = append(all, named{"exact", *r.Exact})
	}
	all = append(all, named{"shown by samples", r.Found.Epsilon})
	if r.Once != nil {
		all = append(all, named{"shown by one run", r.Once.Epsilon})
	}
	most := 0.0
	for _, x := range all {
		most = max(most, x.epsilon)
	}
	b := &bars{Height: barRow * float64(len(all))}
	for i, x := range all {
		top := barRow * float64(i)
		b.Rows = append(b.Rows, epsilonBar{x.name, fmt.Sprintf("%.4g", x.epsilon), coordinate(100 * x.epsilon / most), top + 9, top + 7})
	}
	return b
}

// tradeOff draws the errors of tests that tell two neighbours apart, in percent of a
// square: no test may be under the claimed curve.
type tradeOff struct {
	Claimed string // points of the curve
	Tests   []testPoint
}

// testPoint is the corner of limits of one test: its true errors lie to the left of X
// and above none of Y.
type testPoint struct{ X, Y, Text string }

// curvePoints is the number of points of the claimed curve.
const curvePoints = 100

func newTradeOff(claim audit.Claim, found *audit.Found) *tradeOff {
	if found == nil {
		return nil
	}
	var points []string
	for i := range curvePoints + 1 {
		// Closer together at both ends, where the curve is steep.
		level := (1 - math.Cos(math.Pi*float64(i)/curvePoints)) / 2
		points = append(points, coordinate(100*level)+","+coordinate(100*(1-leastMiss(claim, level))))
	}
	t := &tradeOff{Claimed: strings.Join(points, " ")}
	for _, region := range found.Regions {
		t.Tests = append(t.Tests, testPoint{coordinate(100 * region.Level), coordinate(100 * region.Power),
			fmt.Sprintf("false alarms at most %.4f, misses at most %.4f", region.Level, 1-region.Power)})
	}
	return t
}

// leastMiss is the least probability of a miss that the claim leaves to a test with so
// many false alarms.
func leastMiss(c audit.Claim, level float64) float64 {
	if c.Mu > 0 {
		switch level {
		case 0:
			return 1
		case 1:
			return 0
		}
		return xmath.NormCDF(xmath.NormQuantile(1-level) - c.Mu)
	}
	return max(0, 1-c.Delta-math.Exp(c.Epsilon)*level, math.Exp(-c.Epsilon)*(1-c.Delta-level))
}
