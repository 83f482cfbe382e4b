package evaluate_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
)

// What a plan says can be shown is: of logs in which the learned rule gains as much over every arm,
// about four of five show it. Of long episodes it says that more is needed than can be gained.
func TestTheOutlookIsRight(t *testing.T) {
	w := trialWorlds()[0] // gains .124
	shows := func(persons int) float64 {
		plan, err := w.learner().Plan(w.public(persons, 1, dp.ReplaceOne))
		if err != nil {
			t.Fatal(err)
		}
		for _, note := range plan.Outlook {
			var gain float64
			if n, _ := fmt.Sscanf(note, "A gain over every constant action is shown in four of five studies if it is at least %g,", &gain); n == 1 {
				return gain
			}
		}
		t.Fatalf("%d persons: no outlook among %q", persons, plan.Outlook)
		return 0
	}
	persons := 500
	for shows(persons) > 0.124 {
		persons += 50
	}
	shown, learned := 0, 0
	for log := range uint64(40 + learnDraws) {
		_, r := released(t, w.learner(), w.public(persons, 1, dp.ReplaceOne), w.draw(persons, log), log)
		if rule, arms, _, _ := w.worth(r.Learned.Policy); rule-slices.Max(arms) > 0.12 {
			learned++
			if r.Learned.OverConstant > 0 {
				shown++
			}
		}
	}
	if share := float64(shown) / float64(learned); learned < 15 || share < 0.6 || share > 0.97 {
		t.Errorf("%d persons: shown in %d of %d; want about four of five", persons, shown, learned)
	}
	for _, p := range processes() {
		for _, persons := range []int{100, 2000} {
			plan, err := (evaluate.DPLearn{}).Plan(p.public(persons, 1))
			if err != nil {
				t.Fatal(err)
			}
			text, most := strings.Join(plan.Outlook, " "), p.worth(nil, true)-p.worth(nil, false)
			_, after, _ := strings.Cut(text, "over the logged policy if it is at least ")
			var gain float64
			fmt.Sscan(strings.TrimSuffix(strings.Fields(after + " .")[0], ","), &gain)
			none := strings.Contains(text, "No certificate is to be expected")
			if !none && !strings.Contains(text, "of several decisions much is") {
				t.Errorf("%s, %d persons: missing weight is not told of: %q", p.name, persons, plan.Outlook)
			}
			if !none && gain <= most || none == (persons > 100) {
				t.Errorf("%s, %d persons: at most %v can be gained, and %q", p.name, persons, most, plan.Outlook)
			}
		}
	}
}
