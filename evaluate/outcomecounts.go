package evaluate

import (
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// OutcomeCount counts the outcomes of the persons of one arm. It is exact, and so for the
// curator alone.
type OutcomeCount struct {
	Arm string `json:"arm"`
	// Events are by cause, in the order of Outcome.Causes; Followed is how many were followed
	// beyond the last bin without one.
	Events   []int `json:"events"`
	Censored int   `json:"censored"`
	Followed int   `json:"followed"`
	Unusable int   `json:"unusable"`
	// AtRisk and Left are, by bin, the persons at risk of leaving by censoring, and those who did.
	AtRisk []int `json:"-"`
	Left   []int `json:"-"`
	// Trends are, by covariate that was read, or action, the score of a log-rank test for a trend of leaving, and its
	// variance, by ranks within the arm and its strata.
	Trends map[string][2]float64 `json:"-"`
	// Strata are the same counts by stratum, in the order of Outcome.Strata; nil without strata.
	Strata []OutcomeCount `json:"strata,omitempty"`
}

// CountOutcomes counts the outcomes of every arm, and returns how many persons there are of
// whom not even the arm is known, and how many are in no arm.
func (p Public) CountOutcomes(d *trajectory.Dataset) (arms []OutcomeCount, unknown, elsewhere int, err error) {
	actions := p.unlike()
	p = p.unweighted()
	q, err := DPSurvival{}.question("dp-survival", p)
	if err != nil {
		return nil, 0, 0, err
	}
	q.Missing = true // so that all are counted
	at, _, err := q.cells(d)
	if err != nil {
		return nil, 0, 0, err
	}
	counts := make([]int, q.Cells())
	for _, cell := range at {
		if cell < 0 {
			elsewhere++
		} else {
			counts[cell]++
		}
	}
	for i, name := range q.arms {
		a := OutcomeCount{Arm: name, Trends: q.trends(d, at, i, actions), Events: make([]int, q.Causes), Unusable: counts[q.Unusable(i)], AtRisk: make([]int, q.Bins), Left: make([]int, q.Bins)}
		for k := range max(q.Strata, 1) {
			s := q.counted(counts, i, k)
			a.Followed, a.Censored = a.Followed+s.Followed, a.Censored+s.Censored
			for j := range q.Bins {
				a.AtRisk[j], a.Left[j] = a.AtRisk[j]+s.AtRisk[j], a.Left[j]+s.Left[j]
			}
			for c, n := range s.Events {
				a.Events[c] += n
			}
			if q.Strata > 0 {
				a.Strata = append(a.Strata, s)
			}
		}
		arms = append(arms, a)
	}
	return arms, counts[q.Unknown()], elsewhere, nil
}

// counted counts the outcomes of one stratum of an arm.
func (q survivalQuestion) counted(counts []int, arm, stratum int) OutcomeCount {
	s := OutcomeCount{Arm: q.arms[arm], Events: make([]int, q.Causes), Followed: counts[q.End(arm, stratum)], AtRisk: make([]int, q.Bins), Left: make([]int, q.Bins)}
	after := s.Followed
	for j := q.Bins - 1; j >= 0; j-- {
		// Events come before censoring, so that only those without one can be censored.
		s.Left[j] = counts[q.Exit(arm, stratum, j, 0)]
		after += s.Left[j]
		s.AtRisk[j] = after
		s.Censored += s.Left[j]
		for c := range q.Causes {
			n := counts[q.Exit(arm, stratum, j, c+1)]
			s.Events[c] += n
			after += n
		}
	}
	return s
}
