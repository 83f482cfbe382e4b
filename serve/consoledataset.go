package serve

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/ledger"
	"github.com/discreet-rl/discreet/serve/curatorv1"
	"github.com/discreet-rl/discreet/serve/internal/pages"
)

// list shows the datasets.
func (c console) list(w http.ResponseWriter, r *http.Request) {
	v := pages.Datasets{Frame: c.frame(r, "Datasets")}
	for _, name := range c.names {
		who, err := c.admit(r.Context(), curatorv1.CuratorServiceListDatasetsProcedure, name)
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
	percent := 100.0
	if of.Epsilon > spent.Epsilon {
		percent *= spent.Epsilon / of.Epsilon
	}
	return pages.Bar{
		Percent: percent,
		Words:   fmt.Sprintf("spent epsilon %s of %s, delta %s of %s", number(spent.Epsilon), number(of.Epsilon), number(spent.Delta), number(of.Delta)),
	}
}

// shares tell what each analyst spent: those whom the ledger knows, and those of the
// configuration who have not asked yet.
func (c console) shares(ctx context.Context, who *caller) ([]pages.Share, error) {
	state, err := c.stateOf(ctx, who)
	if err != nil {
		return nil, err
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
		if who.People[name] == roleAnalyst && !known[name] {
			out = append(out, pages.Share{Analyst: name, Of: "the budget", Budget: bar(dp.Budget{}, state.Budget)})
		}
	}
	return out, nil
}

// still tells which asks would fit now, by a question that needs little of the data.
func (c console) still(ctx context.Context, who *caller) []pages.Still {
	var out []pages.Still
	leave, err := c.enterPlanning(ctx)
	if err != nil {
		return nil // nobody waits for it any more
	}
	defer leave()
	for _, epsilon := range []float64{.1, .5, 1} {
		cfg := who.part
		cfg.Target, cfg.Method = config.Target{Kind: "logged"}, config.Method{Name: append(slices.Clone(who.methods), "dp-is")[0]}
		cfg.Privacy.Epsilon, cfg.Privacy.Delta = epsilon, 1e-6
		cfg.Ledger = &config.Ledger{Path: who.location, Dataset: who.part.Ledger.Dataset, Analyst: who.name}
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
	v := pages.OneDataset{Frame: c.frame(r, who.dataset.name), MayAsk: who.role == roleAnalyst, Steward: who.role == roleSteward, Auditor: who.role == roleAuditor, Key: ledger.NewKey()}
	var err error
	if v.Dataset, err = c.about(r.Context(), who); err != nil {
		return v, err
	}
	v.Dataset.Still = c.still(r.Context(), who)
	if who.role != roleAnalyst {
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

// dataset shows one.
func (c console) dataset(w http.ResponseWriter, r *http.Request) {
	_, v, err := c.enterDataset(r, curatorv1.CuratorServiceGetDatasetProcedure)
	if err != nil {
		c.sorry(w, r, err)
		return
	}
	v.Question = firstQuestion
	c.show(w, http.StatusOK, v)
}

// enterDataset is who asks for a dataset's page to do what a procedure does, and the page.
func (c console) enterDataset(r *http.Request, procedure string) (*caller, pages.OneDataset, error) {
	who, err := c.enter(r.Context(), procedure, r.PathValue("dataset"))
	if err != nil {
		return nil, pages.OneDataset{}, err
	}
	v, err := c.oneDataset(r, who)
	return who, v, err
}

// notices shows the steward what checks found.
func (c console) notices(w http.ResponseWriter, r *http.Request) {
	list, err := steward(c).ListNotices(r.Context(), &curatorv1.ListNoticesRequest{Dataset: r.PathValue("dataset"), PageToken: r.FormValue("page")})
	if err != nil {
		c.sorry(w, r, err)
		return
	}
	v := pages.Notices{Frame: c.frame(r, "Notices"), Name: r.PathValue("dataset"), Failed: list.FailedChecks, Most: list.GetMostFailedChecks(), Next: list.GetNextPageToken()}
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
