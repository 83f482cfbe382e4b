package overview

import (
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/evaluate"
)

// arm is of persons of whom so many die and leave in each of a few bins, and the rest are followed.
func arm(name string, persons int, deaths, left []int) evaluate.OutcomeCount {
	a := evaluate.OutcomeCount{Arm: name, Events: []int{0}, Left: left}
	for j := range left {
		a.Events[0] += deaths[j]
		persons -= deaths[j]
		a.AtRisk = append(a.AtRisk, persons)
		persons -= left[j]
		a.Censored += left[j]
	}
	a.Followed = persons
	return a
}

// TestDropoutIsComparedAmongThoseAtRisk: an arm with fewer deaths has more left to censor, at
// the same rate, and is not warned of; at another rate it is, unless strata explain it.
func TestDropoutIsComparedAmongThoseAtRisk(t *testing.T) {
	same := Outcome{Causes: []string{"death"}, Arms: []evaluate.OutcomeCount{
		arm("new", 1000, []int{0, 0}, []int{100, 90}), arm("old", 1000, []int{500, 250}, []int{50, 20})}}
	if p := same.dropout(); p < 0.3 {
		t.Errorf("equal rates of leaving: probability %v", p)
	}
	other := Outcome{Causes: []string{"death"}, Arms: []evaluate.OutcomeCount{
		arm("new", 1000, []int{0, 0}, []int{200, 160}), arm("old", 1000, []int{0, 0}, []int{100, 90})}}
	if told := strings.Join(other.warnings(), "; "); !strings.Contains(told, "dropout differs") {
		t.Errorf("unequal rates of leaving: %q", told)
	}
	new, old := other.Arms[0], other.Arms[1]
	a, b := arm("new", 2000, []int{0, 0}, []int{300, 250}), arm("old", 2000, []int{0, 0}, []int{300, 250})
	a.Strata, b.Strata = []evaluate.OutcomeCount{new, old}, []evaluate.OutcomeCount{new, old}
	within := Outcome{Causes: []string{"death"}, Arms: []evaluate.OutcomeCount{a, b}}
	if p := within.dropout(); p != 1 {
		t.Errorf("equal rates within strata: probability %v; want 1", p)
	}
}

// TestLogRankByHand: of 4 and 6 at risk 2 leave in all, 1 of the 4: expected .8, variance
// 2 .4 .6 8/9.
func TestLogRankByHand(t *testing.T) {
	apart, variance := logRank(evaluate.OutcomeCount{AtRisk: []int{4}, Left: []int{1}}, evaluate.OutcomeCount{AtRisk: []int{6}, Left: []int{1}})
	if math.Abs(apart-0.2) > 1e-12 || math.Abs(variance-2*0.4*0.6*8/9) > 1e-12 {
		t.Errorf("%v and %v", apart, variance)
	}
}

// TestACommonEndInsideTheLastBinIsTold, since those persons count as lost there.
func TestACommonEndInsideTheLastBinIsTold(t *testing.T) {
	o := Outcome{Causes: []string{"death"}, Arms: []evaluate.OutcomeCount{arm("all", 100, []int{10, 10}, []int{0, 80})}}
	if told := strings.Join(o.warnings(), "; "); !strings.Contains(told, "80 of 100 persons are censored in the last bin") {
		t.Errorf("%q", told)
	}
}

// TestCovariatesOfDropoutAreTold: scores of arms add up, and what chance explains is not told.
func TestCovariatesOfDropoutAreTold(t *testing.T) {
	o := Outcome{Causes: []string{"death"}, Arms: []evaluate.OutcomeCount{
		{Arm: "new", Trends: map[string][2]float64{"obs_age": {3, 1}, "action": {1, 1}}},
		{Arm: "old", Trends: map[string][2]float64{"obs_age": {3, 1}, "action": {-2, 1}}}}}
	told := strings.Join(o.warnings(), "; ")
	if !strings.Contains(told, "dropout depends on obs_age: with a larger value persons leave more often") || strings.Contains(told, "action") {
		t.Errorf("%q; want a warning of the age alone", told)
	}
}
