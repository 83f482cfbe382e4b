package evaluate

import "github.com/discreet-rl/discreet/rl/trajectory"

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
	// Strata are the same counts by stratum, in the order of Outcome.Strata; nil without strata.
	Strata []OutcomeCount `json:"strata,omitempty"`
}

// CountOutcomes counts the outcomes of every arm, and returns how many persons there are of
// whom not even the arm is known, and how many are in no arm.
func (p Public) CountOutcomes(d *trajectory.Dataset) (arms []OutcomeCount, unknown, elsewhere int, err error) {
	q, err := DPSurvival{}.question("dp-survival", p)
	if err != nil {
		return nil, 0, 0, err
	}
	q.Missing = true // so that all are counted
	at, err := q.cells(d)
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
		a := OutcomeCount{Arm: name, Events: make([]int, q.Causes), Unusable: counts[q.Unusable(i)]}
		for k := range max(q.Strata, 1) {
			s := OutcomeCount{Arm: name, Events: make([]int, q.Causes), Followed: counts[q.End(i, k)]}
			for j := range q.Bins {
				s.Censored += counts[q.Exit(i, k, j, 0)]
				for c := range q.Causes {
					s.Events[c] += counts[q.Exit(i, k, j, c+1)]
				}
			}
			a.Followed, a.Censored = a.Followed+s.Followed, a.Censored+s.Censored
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
