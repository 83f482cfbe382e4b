package serve

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/serve/curatorv1"
	"github.com/discreet-rl/discreet/serve/internal/pages"
)

// firstQuestion stands in the form of a person who has not written one.
const firstQuestion = "target: {kind: constant, action: 1}\nmethod: {name: dp-wis}\nprivacy: {epsilon: 0.5, delta: 1e-6}\n"

// planForm shows the plan of the question in the form, below it.
func (c console) planForm(w http.ResponseWriter, r *http.Request) {
	who, v, err := c.enterDataset(r, curatorv1.CuratorServicePlanProcedure)
	if err != nil {
		c.sorry(w, r, err)
		return
	}
	v.Question, v.Purpose = unixLines(r.FormValue("question")), r.FormValue("purpose")
	plan, err := c.planView(r.Context(), who, who.name, v.Question, v.Purpose, true)
	status := http.StatusOK
	if err != nil {
		v.Problem, status = words(err), http.StatusBadRequest
	}
	v.Plan = plan
	c.show(w, status, v)
}

// unixLines are those that a form sends, with ends of lines as in a file.
func unixLines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

// planView is a plan in words, and drawn against epsilon.
func (c console) planView(ctx context.Context, who *caller, analyst, question, purpose string, draw bool) (*pages.Plan, error) {
	q, err := c.quote(ctx, who.dataset, analyst, question, purpose)
	if err != nil {
		return nil, err
	}
	p, m := q.Plan, c.planned(who.dataset, q)
	out := &pages.Plan{Refusal: m.GetRefusal(), NoAnswer: m.GetNoAnswer(), NeedsApproval: m.GetNeedsApproval(), Notes: m.GetNotes()}
	out.Sentence = fmt.Sprintf("%s spends epsilon at most %s at delta %s.", p.Method, number(m.GetEpsilon()), number(m.GetDelta()))
	if m.GetHalfWidth() > 0 {
		out.Sentence += fmt.Sprintf(" The interval is expected to reach %s to each side; an answer chosen without data is wrong by at most %s.", number(m.GetHalfWidth()), number(m.GetConstant()))
	}
	for _, a := range m.GetAnswers() {
		out.Sentence += " " + reach(a)
	}
	if draw {
		if out.Plot, err = c.drawn(ctx, who, analyst, question, p); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// reach says how far the interval of one of several answers is expected to reach, where that is forecast.
func reach(a *curatorv1.PlannedAnswer) string {
	if a.GetHalfWidth() == 0 {
		return fmt.Sprintf("%s: how far the %s interval reaches is not forecast.", a.GetName(), a.GetInterval())
	}
	missing := ", without missing mass"
	if a.GetCountsMissing() {
		missing = ""
	}
	return fmt.Sprintf("%s: the %s interval is expected to reach %s to each side%s.", a.GetName(), a.GetInterval(), number(a.GetHalfWidth()), missing)
}

// drawn is the curve of a question.
func (c console) drawn(ctx context.Context, who *caller, analyst, question string, p *evaluate.Plan) (template.HTML, error) {
	leave, err := c.enterPlanning(ctx)
	if err != nil {
		return "", err
	}
	defer leave()
	cfg, err := c.compose(ctx, who.dataset, analyst, question, "")
	if err != nil {
		return "", c.wrong(who.dataset, err)
	}
	return curve(ctx, cfg, p).Plot(), nil
}

// curve plans the question again at epsilons around its own.
func curve(ctx context.Context, cfg config.Config, p *evaluate.Plan) pages.Curve {
	own := cfg.Privacy.Epsilon
	c := pages.Curve{Constant: p.Expected.Constant, Sampling: halfWidth * p.Expected.StdSampling, At: own}
	if p.Expected.HalfWidth == 0 {
		return pages.Curve{}
	}
	for _, factor := range []float64{.1, .2, .4, .7, 1, 1.5, 2.5, 5, 10} {
		if ctx.Err() != nil {
			break // nobody looks at it any more
		}
		cfg.Privacy.Epsilon = own * factor
		at, err := discreet.Plan(cfg)
		if err != nil {
			continue // no plan at this epsilon: the curve goes on without it
		}
		c.Points = append(c.Points, pages.Point{Epsilon: cfg.Privacy.Epsilon, HalfWidth: at.Expected.HalfWidth})
	}
	return c
}

// halfWidth of a 95% interval in standard deviations.
const halfWidth = 1.96
