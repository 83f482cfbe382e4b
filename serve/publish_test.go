package serve_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/discreet-rl/discreet/serve/curatorv1"
)

// With publish every, the end of an ask is told at the next full time, its refusal as well;
// the steward sees it at once.
func TestTheEndIsToldAtAFullTime(t *testing.T) {
	h := opened(t, "publish: every 1s")
	id := h.ask("ann", oneKey, wish(0.5))
	a := h.end("ann", id)
	if a.GetState() != curatorv1.State_STATE_RELEASED || a.GetEnded().AsTime().UnixNano()%int64(time.Second) != 0 {
		t.Errorf("told at %v: %v", a.GetEnded().AsTime(), a)
	}
	if now := time.Now(); now.Before(a.GetEnded().AsTime()) {
		t.Errorf("told at %v, before %v", now, a.GetEnded().AsTime())
	}
}

// With publish every, nothing that an analyst sees before the full time tells a question that
// passed its check from one that failed it, or from one that ran over the budget.
func TestBeforeTheFullTimeNoCheckShows(t *testing.T) {
	see := func(data string) string {
		h := furnish(t, "publish: every 24h")
		h.write("data.csv", data)
		h.write("pbc.yaml", strings.Replace(fmt.Sprintf(part, filepath.Join(h.dir, "data.csv"), 312), "data:\n", "data:\n  on_violation: reject\n", 1))
		h.open()
		var seen []string
		for i := range 4 {
			id := h.ask("ann", fmt.Sprintf("%s-%d", oneKey, i), wish(0.9))
			for ran := false; !ran; { // until the worker is done with it, as the steward sees
				a := h.state("stella", id)
				list, err := h.steward().ListNotices(t.Context(), &curatorv1.ListNoticesRequest{Dataset: "pbc"})
				if err != nil {
					t.Fatal(err)
				}
				for _, n := range list.GetNotices() {
					ran = ran || n.GetAsk() == id
				}
				ran = ran || a.GetEnded() != nil
			}
			a := h.state("ann", id)
			b, err := h.client("ann").GetBudget(t.Context(), &curatorv1.GetBudgetRequest{Dataset: "pbc"})
			p, wrong := h.client("ann").Plan(t.Context(), &curatorv1.PlanRequest{Dataset: "pbc", Question: wish(0.9)})
			_, withdrawn := h.client("ann").WithdrawAsk(t.Context(), &curatorv1.WithdrawAskRequest{Id: id})
			seen = append(seen, fmt.Sprint(a.GetState(), a.GetReason(), a.GetEnded(), b.GetBudget(), b.GetSpent(), err, p.GetFits(), p.GetRefusal(), wrong, code(withdrawn)))
		}
		return strings.Join(seen, "\n")
	}
	good := readFile(t, trial)
	passed, failed := see(good), see(strings.Replace(good, "\n", "\nsecret-patient,not-a-number,", 1))
	if passed != failed {
		t.Errorf("the analyst sees\n%s\nwhere checks passed, and\n%s\nwhere they failed", passed, failed)
	}
}
