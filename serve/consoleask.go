package serve

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/report"
	"github.com/discreet-rl/discreet/serve/curatorv1"
	"github.com/discreet-rl/discreet/serve/internal/asks"
	"github.com/discreet-rl/discreet/serve/internal/pages"
)

func (c console) askView(ctx context.Context, who *caller, a *asks.Ask) pages.Ask {
	told := c.state(ctx, who, a)
	out := pages.Ask{
		ID: a.ID, Dataset: a.Dataset, Analyst: a.Analyst, State: strings.ToLower(strings.TrimPrefix(told.GetState().String(), "STATE_")), Reason: told.GetReason(),
		Asked: when(a.Asked), Epsilon: number(a.Epsilon), Delta: number(a.Delta), Purpose: a.Purpose, Question: a.Question,
	}
	if told.GetEnded() != nil {
		out.Ended = when(told.GetEnded().AsTime())
	}
	return out
}

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
	v.MayDecide = who.role == roleSteward && a.State == asks.Waiting
	v.MayWithdraw = who.role == roleAnalyst && slices.Contains(who.withdrawable(), a.State)
	v.Released = v.Ask.State == string(asks.Released)
	if v.Ask.Ended == "" {
		v.Refresh = 2
	}
	if v.MayDecide {
		v.Refresh = 0 // a reason is being written
		if v.Words, err = c.inWords(r.Context(), who, a); err != nil {
			v.Problem, err = words(err), nil
		}
		if v.Plan, err = c.planView(r.Context(), who, a.Analyst, a.Question, a.Purpose, false); err != nil {
			v.Problem, err = words(err), nil
		}
	}
	return v, who, a, err
}

// inWords is what an ask asks, as it would be read.
func (c console) inWords(ctx context.Context, who *caller, a *asks.Ask) ([]string, error) {
	config, err := c.compose(ctx, who.dataset, a.Analyst, a.Question, a.Purpose)
	if err != nil {
		return nil, c.wrong(who.dataset, err)
	}
	return config.Asks(), nil
}

// report is the release as the page that discreet report makes.
func (c console) report(w http.ResponseWriter, r *http.Request) {
	who, a, err := c.enterAsk(r.Context(), curatorv1.CuratorServiceGetReleaseProcedure, r.PathValue("ask"))
	var text []byte
	if err == nil {
		text, err = c.release(r.Context(), who, a, readsRelease)
	}
	var page bytes.Buffer
	if err == nil {
		err = c.render(r.Context(), &page, text)
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
		text, err = c.release(r.Context(), who, a, readsRelease)
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
		text, err = c.release(r.Context(), who, a, verifiesRelease)
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

// render makes the page of a release.
func (c console) render(ctx context.Context, w *bytes.Buffer, text []byte) error {
	leave, err := c.enterPlanning(ctx) // it is planned again
	if err != nil {
		return err
	}
	defer leave()
	release, err := discreet.Verify(text, nil)
	if err != nil {
		return err
	}
	return report.Write(w, release.Release)
}
