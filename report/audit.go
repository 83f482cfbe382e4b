package report

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"math"
	"strings"

	"github.com/discreet-rl/discreet/dp/audit"
	"github.com/discreet-rl/discreet/evaluate/examine"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// Audit is what an audit of a plan found.
type Audit struct {
	// Of names what was audited, such as the configuration's file.
	Of     string
	Report *examine.Report
}

var (
	//go:embed audit.html.tmpl
	auditSource string

	auditTemplate = parsed("audit", &auditSource)
)

// WriteAudit renders an audit as one self-contained HTML page, like [Write]. Nothing on
// it depends on anybody's data.
func WriteAudit(w io.Writer, a Audit) error {
	if a.Report == nil {
		return fmt.Errorf("%w: no report of an audit", ErrRelease)
	}
	var buf bytes.Buffer
	if err := auditTemplate().Execute(&buf, newAuditPage(a)); err != nil {
		return err
	}
	_, err := bidi.WriteString(w, buf.String())
	return err
}

// auditPage is what the template sees.
type auditPage struct {
	Style    template.CSS
	Of       string
	Broken   []string
	Verdict  string
	Facts    []namedText
	Planted  []examine.Planted
	Found    int // planted mistakes
	Missing  []string
	TradeOff *tradeOff
}

// sentence begins a text with a capital letter.
func sentence(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

type namedText struct{ Name, Text string }

func newAuditPage(a Audit) auditPage {
	r := a.Report
	p := auditPage{Style: template.CSS(styleSource), Of: a.Of, Broken: r.Broken, Verdict: sentence(r.Verdict()), Planted: r.SelfTest, Missing: r.Missing, TradeOff: newTradeOff(r)}
	for _, m := range r.SelfTest {
		if m.Found {
			p.Found++
		}
	}
	say := func(name, format string, args ...any) {
		p.Facts = append(p.Facts, namedText{name, fmt.Sprintf(format, args...)})
	}
	say("Method", "%s", r.Method)
	say("Claim", "epsilon %.4g at delta %g, %v", r.Claim.Epsilon, r.Claim.Delta, r.Adjacency)
	if r.Claim.Mu > 0 {
		say("Claimed mu", "%.4g", r.Claim.Mu)
	}
	if r.Replayed > 0 {
		say("Replay", "%d pairs of neighbours; the worst (%s) needs %.4f of the mu² that is paid for", r.Replayed, r.WorstKind, r.Worst)
	}
	if f := r.Found; f != nil {
		say("Shown", "epsilon at least %.4g, mu at least %.4g, by %d runs of each of two neighbours", f.Epsilon, f.Mu, r.Runs)
		say("Wrong with probability", "%g at most, with all looks together", audit.DefaultFalseAlarm)
	}
	if r.Power != nil {
		say("Power", "mu %.4g is expected to be shown; noise of half the claimed is found with probability %.4f", r.Power.Expected, r.Power.HalfNoise)
	}
	if r.Reading != nil {
		say("Reading", "%s; %.1f seconds", sentence(r.Reading.String()), r.Reading.Seconds)
	}
	say("Seconds", "%.1f", r.Seconds)
	return p
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

func newTradeOff(r *examine.Report) *tradeOff {
	if r.Found == nil {
		return nil
	}
	var points []string
	for i := range curvePoints + 1 {
		// Closer together at both ends, where the curve is steep.
		level := (1 - math.Cos(math.Pi*float64(i)/curvePoints)) / 2
		points = append(points, coordinate(100*level)+","+coordinate(100*(1-leastMiss(r.Claim, level))))
	}
	t := &tradeOff{Claimed: strings.Join(points, " ")}
	for _, region := range r.Found.Regions {
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
