package serve

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"connectrpc.com/connect"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/service"
	"github.com/discreet-rl/discreet/internal/webpage"
	"github.com/discreet-rl/discreet/report"
	"github.com/discreet-rl/discreet/serve/curatorv1"
	"github.com/discreet-rl/discreet/serve/internal/asks"
	"github.com/discreet-rl/discreet/serve/internal/pages"
)

// console is the pages. Each of them does what a call does, by the call's permission.
type console struct{ *Service }

// policyOfReport is what the report may load. It has its style in it.
const policyOfReport = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; frame-ancestors 'none'; sandbox"

// routes mounts the pages.
func (c console) routes() {
	at := func(rate service.Rate, pattern string, h func(http.ResponseWriter, *http.Request)) {
		c.server.Handle(pattern, service.Access{Anonymous: true, Body: longestQuestion + 8<<10, Rate: rate}, http.NewCrossOriginProtection().Handler(addressed(http.HandlerFunc(h))))
	}
	open := func(pattern string, h func(http.ResponseWriter, *http.Request)) { at(service.Rate{}, pattern, h) }
	page := func(pattern string, h func(http.ResponseWriter, *http.Request)) { open(pattern, c.signedIn(h)) }
	open("GET /style.css", webpage.Style)
	open("POST /signin", c.signIn)
	open("POST /signout", c.signOut)
	if c.issuer != nil {
		open("GET /signin/issuer", c.toIssuer)
		at(returnRate, "GET /signin/callback", c.fromIssuer)
	}
	page("GET /{$}", c.list)
	page("GET /datasets/{dataset}", c.dataset)
	page("POST /datasets/{dataset}/plan", c.planForm)
	page("POST /datasets/{dataset}/ask", c.askForm)
	page("GET /datasets/{dataset}/notices", c.notices)
	page("POST /datasets/{dataset}/clear", c.clear)
	page("GET /datasets/{dataset}/audit", c.audit)
	page("GET /asks/{ask}", c.askPage)
	page("GET /asks/{ask}/report", c.report)
	page("GET /asks/{ask}/release.json", c.download)
	page("POST /asks/{ask}/verify", c.verifyForm)
	page("POST /asks/{ask}/withdraw", c.withdraw)
	page("POST /asks/{ask}/decide", c.decideForm)
}

// show writes a page.
func (c console) show(w http.ResponseWriter, status int, v pages.View) {
	if err := webpage.Show(w, status, func(to io.Writer) error { return pages.Write(to, v) }); err != nil {
		c.log.Error("a page could not be made", "error", err)
	}
}

// sorry shows why a page cannot be shown.
func (c console) sorry(w http.ResponseWriter, r *http.Request, err error) {
	status, title := http.StatusServiceUnavailable, "This does not work at the moment"
	switch connect.CodeOf(err) {
	case connect.CodeNotFound:
		status, title = http.StatusNotFound, "There is no such page, or it is not yours"
	case connect.CodePermissionDenied:
		status, title = http.StatusForbidden, "Your role does not allow that"
	case connect.CodeInvalidArgument, connect.CodeFailedPrecondition, connect.CodeResourceExhausted:
		status, title = http.StatusBadRequest, "That cannot be done"
	}
	c.show(w, status, pages.Sorry{Frame: pages.Frame{Title: title, Person: person(r.Context()), Problem: words(err)}})
}

// words are those of an error for a reader.
func words(err error) string {
	var e *connect.Error
	if errors.As(err, &e) {
		return e.Message()
	}
	return err.Error()
}

func person(ctx context.Context) string {
	id, _ := service.IdentityOf(ctx)
	return id.Name
}

func (c console) frame(r *http.Request, title string) pages.Frame {
	return pages.Frame{Title: title, Person: person(r.Context())}
}

// list shows the datasets.
func (c console) list(w http.ResponseWriter, r *http.Request) {
	v := pages.Datasets{Frame: c.frame(r, "Datasets")}
	for _, name := range c.names {
		who, err := c.enter(r.Context(), curatorv1.CuratorServiceListDatasetsProcedure, name)
		if err != nil {
			continue
		}
		d, err := c.about(r.Context(), who)
		if err != nil {
			c.sorry(w, r, err)
			return
		}
		v.Datasets = append(v.Datasets, d)
	}
	c.show(w, http.StatusOK, v)
}

// about is what a page says of a dataset.
func (c console) about(ctx context.Context, who *caller) (pages.Dataset, error) {
	b, err := c.budget(ctx, who)
	if err != nil {
		return pages.Dataset{}, err
	}
	d := who.described()
	out := pages.Dataset{
		Name: d.GetName(), About: d.GetTitle(), Role: d.GetRole(), Unit: d.GetUnit(), Adjacency: strings.ReplaceAll(d.GetAdjacency(), "_", " "),
		Approval: d.GetApproval(), Publish: d.GetPublish(), Methods: strings.Join(d.GetMethods(), ", "), Facts: d.GetFacts(),
	}
	if e := d.GetLargestEpsilon(); e > 0 {
		out.Largest = number(e)
	}
	out.Budget = bar(dp.Budget{Epsilon: b.GetSpent().GetEpsilon(), Delta: b.GetSpent().GetDelta()}, dp.Budget{Epsilon: b.GetBudget().GetEpsilon(), Delta: b.GetBudget().GetDelta()})
	return out, nil
}

func bar(spent, of dp.Budget) pages.Bar {
	return pages.Bar{
		Percent: min(100, 100*spent.Epsilon/of.Epsilon),
		Words:   fmt.Sprintf("spent epsilon %s of %s, delta %s of %s", number(spent.Epsilon), number(of.Epsilon), number(spent.Delta), number(of.Delta)),
	}
}

// shares tell what each analyst spent: those whom the ledger knows, and those of the
// configuration who have not asked yet.
func (c console) shares(ctx context.Context, who *caller) ([]pages.Share, error) {
	state, err := who.state.Read(ctx)
	if err != nil {
		return nil, c.broken(err)
	}
	known := map[string]bool{}
	var out []pages.Share
	for _, a := range state.Analysts {
		known[strings.ToLower(a.Analyst)] = true
		s := pages.Share{Analyst: a.Analyst, Charges: a.Charges, Of: "the budget", Budget: bar(a.Spent, state.Budget)}
		if a.Share != nil {
			s.Of, s.Budget = "a share", bar(a.Spent, *a.Share)
		}
		out = append(out, s)
	}
	for _, name := range slices.Sorted(maps.Keys(who.People)) {
		if who.People[name] == Analyst && !known[name] {
			out = append(out, pages.Share{Analyst: name, Of: "the budget", Budget: bar(dp.Budget{}, state.Budget)})
		}
	}
	return out, nil
}

// still tells which asks would fit now, by a question that needs little of the data.
func (c console) still(ctx context.Context, who *caller) []pages.Still {
	var out []pages.Still
	for _, epsilon := range []float64{.1, .5, 1} {
		cfg := who.part
		cfg.Target, cfg.Method = discreet.Target{Kind: "logged"}, discreet.Method{Name: append(slices.Clone(who.methods), "dp-is")[0]}
		cfg.Privacy.Epsilon, cfg.Privacy.Delta = epsilon, 1e-6
		cfg.Ledger = &discreet.Ledger{Path: who.location, Dataset: who.part.Ledger.Dataset, Analyst: who.name}
		if who.LargestEpsilon > 0 && epsilon > who.LargestEpsilon {
			continue // nobody could ask it
		}
		q, err := who.desk.Quote(ctx, cfg)
		if err != nil {
			continue // no method that is allowed can be asked so
		}
		out = append(out, pages.Still{Epsilon: number(epsilon), Delta: "1e-06", Fits: q.Refused == nil})
	}
	return out
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', 4, 64) }

func when(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// oneDataset fills the page of a dataset.
func (c console) oneDataset(r *http.Request, who *caller) (pages.OneDataset, error) {
	v := pages.OneDataset{Frame: c.frame(r, who.dataset.name), MayAsk: who.role == Analyst, Steward: who.role == Steward, Auditor: who.role == Auditor, Key: ledger.NewKey()}
	var err error
	if v.Dataset, err = c.about(r.Context(), who); err != nil {
		return v, err
	}
	v.Dataset.Still = c.still(r.Context(), who)
	if who.role != Analyst {
		if v.Shares, err = c.shares(r.Context(), who); err != nil {
			return v, err
		}
	}
	const shown = 20
	n, below, err := page(shown, r.FormValue("page"))
	if err != nil {
		return v, err
	}
	list, err := c.store.List(r.Context(), who.dataset.name, who.own(), below, n)
	if err != nil {
		return v, c.broken(err)
	}
	for i := range list {
		v.Asks = append(v.Asks, c.askView(r.Context(), who, &list[i]))
	}
	if len(list) == n {
		v.Next = strconv.FormatInt(list[n-1].Number, 10)
	}
	return v, nil
}

func (c console) askView(ctx context.Context, who *caller, a *asks.Ask) pages.Ask {
	told := c.told(ctx, who, a)
	out := pages.Ask{
		ID: a.ID, Dataset: a.Dataset, Analyst: a.Analyst, State: strings.ToLower(strings.TrimPrefix(told.GetState().String(), "STATE_")), Reason: told.GetReason(),
		Asked: when(a.Asked), Epsilon: number(a.Epsilon), Delta: number(a.Delta), Purpose: a.Purpose, Question: a.Question,
	}
	if told.GetEnded() != nil {
		out.Ended = when(told.GetEnded().AsTime())
	}
	return out
}

// dataset shows one.
func (c console) dataset(w http.ResponseWriter, r *http.Request) {
	who, err := c.enter(r.Context(), curatorv1.CuratorServiceGetDatasetProcedure, r.PathValue("dataset"))
	if err != nil {
		c.sorry(w, r, err)
		return
	}
	v, err := c.oneDataset(r, who)
	if err != nil {
		c.sorry(w, r, err)
		return
	}
	v.Question = firstQuestion
	c.show(w, http.StatusOK, v)
}

// firstQuestion stands in the form of a person who has not written one.
const firstQuestion = "target: {kind: constant, action: 1}\nmethod: {name: dp-wis}\nprivacy: {epsilon: 0.5, delta: 1e-6}\n"

// planForm shows the plan of the question in the form, below it.
func (c console) planForm(w http.ResponseWriter, r *http.Request) {
	who, err := c.enter(r.Context(), curatorv1.CuratorServicePlanProcedure, r.PathValue("dataset"))
	if err != nil {
		c.sorry(w, r, err)
		return
	}
	v, err := c.oneDataset(r, who)
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
		out.Sentence += fmt.Sprintf(" The interval is expected to reach %s to each side; an answer made up without data is off by at most %s.", number(m.GetHalfWidth()), number(m.GetConstant()))
	}
	for _, a := range m.GetAnswers() {
		out.Sentence += fmt.Sprintf(" %s: the joint interval is expected to reach %s to each side.", a.GetName(), number(a.GetHalfWidth()))
	}
	if draw {
		if out.Plot, err = c.drawn(ctx, who, analyst, question, p); err != nil {
			return nil, err
		}
	}
	return out, nil
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
func curve(ctx context.Context, cfg discreet.Config, p *evaluate.Plan) pages.Curve {
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

// askForm takes in the question of the form. Its key is in the form, so that a form that is
// sent twice is one ask.
func (c console) askForm(w http.ResponseWriter, r *http.Request) {
	who, err := c.enter(r.Context(), curatorv1.CuratorServiceAskProcedure, r.PathValue("dataset"))
	if err != nil {
		c.sorry(w, r, err)
		return
	}
	question, purpose := unixLines(r.FormValue("question")), r.FormValue("purpose")
	a, err := c.ask(r.Context(), who, question, purpose, r.FormValue("key"))
	if err == nil {
		http.Redirect(w, r, "/asks/"+a.ID, http.StatusSeeOther)
		return
	}
	v, problem := c.oneDataset(r, who)
	if problem != nil {
		c.sorry(w, r, problem)
		return
	}
	v.Question, v.Purpose, v.Problem = question, purpose, words(err)
	c.show(w, http.StatusBadRequest, v)
}

// askPage shows an ask; while it goes on, again and again.
func (c console) askPage(w http.ResponseWriter, r *http.Request) {
	v, _, _, err := c.oneAsk(r, curatorv1.CuratorServiceGetAskProcedure)
	if err != nil {
		c.sorry(w, r, err)
		return
	}
	c.show(w, http.StatusOK, v)
}

func (c console) oneAsk(r *http.Request, procedure string) (pages.OneAsk, *caller, *asks.Ask, error) {
	who, a, err := c.enterAsk(r.Context(), procedure, r.PathValue("ask"))
	if err != nil {
		return pages.OneAsk{}, nil, nil, err
	}
	v := pages.OneAsk{Frame: c.frame(r, "Ask"), Ask: c.askView(r.Context(), who, a)}
	v.MayDecide = who.role == Steward && a.State == asks.Waiting
	v.MayWithdraw = who.role == Analyst && slices.Contains(who.withdrawable(), a.State)
	v.Released = v.Ask.State == string(asks.Released)
	if v.Ask.Ended == "" {
		v.Refresh = 2
	}
	if v.MayDecide {
		v.Refresh = 0 // a reason is being written
		if v.Plan, err = c.planView(r.Context(), who, a.Analyst, a.Question, a.Purpose, false); err != nil {
			v.Problem, err = words(err), nil
		}
	}
	return v, who, a, err
}

// report is the release as the page that discreet report makes.
func (c console) report(w http.ResponseWriter, r *http.Request) {
	who, a, err := c.enterAsk(r.Context(), curatorv1.CuratorServiceGetReleaseProcedure, r.PathValue("ask"))
	var text []byte
	if err == nil {
		text, err = c.release(r.Context(), who, a)
	}
	var page bytes.Buffer
	if err == nil {
		err = render(&page, text)
	}
	if err != nil {
		c.sorry(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Security-Policy", policyOfReport)
	_, _ = w.Write(page.Bytes())
}

// download is the release's JSON, byte for byte.
func (c console) download(w http.ResponseWriter, r *http.Request) {
	who, a, err := c.enterAsk(r.Context(), curatorv1.CuratorServiceGetReleaseProcedure, r.PathValue("ask"))
	var text []byte
	if err == nil {
		text, err = c.release(r.Context(), who, a)
	}
	if err != nil {
		c.sorry(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Disposition", `attachment; filename="release-`+a.ID+`.json"`)
	_, _ = w.Write(text)
}

// verifyForm recomputes the release and holds it against its entry.
func (c console) verifyForm(w http.ResponseWriter, r *http.Request) {
	v, who, a, err := c.oneAsk(r, curatorv1.CuratorServiceVerifyReleaseProcedure)
	var text []byte
	if err == nil {
		text, err = c.release(r.Context(), who, a)
	}
	if err == nil {
		v.Holds, v.Findings, err = c.verify(r.Context(), who.dataset, text)
	}
	if err != nil {
		c.sorry(w, r, err)
		return
	}
	c.show(w, http.StatusOK, v)
}

// withdraw takes an ask back.
func (c console) withdraw(w http.ResponseWriter, r *http.Request) {
	_, err := curator(c).WithdrawAsk(r.Context(), &curatorv1.WithdrawAskRequest{Id: r.PathValue("ask")})
	c.back(w, r, "/asks/"+r.PathValue("ask"), err)
}

// decideForm approves or refuses.
func (c console) decideForm(w http.ResponseWriter, r *http.Request) {
	decision := r.FormValue("decision")
	if decision != "approve" && decision != "refuse" {
		c.sorry(w, r, invalid("decision", errors.New("want approve or refuse")))
		return
	}
	_, err := steward(c).Decide(r.Context(), &curatorv1.DecideRequest{Id: r.PathValue("ask"), Approve: decision == "approve", Reason: r.FormValue("reason")})
	c.back(w, r, "/asks/"+r.PathValue("ask"), err)
}

// back shows a page after a form.
func (c console) back(w http.ResponseWriter, r *http.Request, to string, err error) {
	if err != nil {
		c.sorry(w, r, err)
		return
	}
	http.Redirect(w, r, to, http.StatusSeeOther)
}

// notices shows the steward what checks found.
func (c console) notices(w http.ResponseWriter, r *http.Request) {
	list, err := steward(c).ListNotices(r.Context(), &curatorv1.ListNoticesRequest{Dataset: r.PathValue("dataset"), PageToken: r.FormValue("page")})
	if err != nil {
		c.sorry(w, r, err)
		return
	}
	v := pages.Notices{Frame: c.frame(r, "Notices"), Name: r.PathValue("dataset"), Failed: list.GetFailedChecks(), Most: list.GetMostFailedChecks(), Next: list.GetNextPageToken()}
	for _, n := range list.GetNotices() {
		v.Notices = append(v.Notices, pages.Notice{Time: when(n.GetTime().AsTime()), Ask: n.GetAsk(), Text: n.GetText()})
	}
	c.show(w, http.StatusOK, v)
}

// clear says that the steward has looked.
func (c console) clear(w http.ResponseWriter, r *http.Request) {
	_, err := steward(c).ClearChecks(r.Context(), &curatorv1.ClearChecksRequest{Dataset: r.PathValue("dataset")})
	c.back(w, r, "/datasets/"+r.PathValue("dataset")+"/notices", err)
}

// audit shows who did what.
func (c console) audit(w http.ResponseWriter, r *http.Request) {
	list, err := steward(c).ListAudit(r.Context(), &curatorv1.ListAuditRequest{Dataset: r.PathValue("dataset"), PageSize: 100, PageToken: r.FormValue("page")})
	if err != nil {
		c.sorry(w, r, err)
		return
	}
	v := pages.Audit{Frame: c.frame(r, "Audit log"), Name: r.PathValue("dataset"), Next: list.GetNextPageToken()}
	for _, l := range list.GetEntries() {
		v.Lines = append(v.Lines, pages.Line{Seq: l.GetSeq(), Time: when(l.GetTime().AsTime()), Who: l.GetWho(), Address: l.GetAddress(), Ask: l.GetAsk(), What: l.GetWhat()})
	}
	c.show(w, http.StatusOK, v)
}

// render makes the page of a release.
func render(w *bytes.Buffer, text []byte) error {
	release, err := discreet.Verify(text, nil)
	if err != nil {
		return err
	}
	return report.Write(w, release.Release)
}
