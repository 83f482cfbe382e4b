package evaluate

import (
	"math"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/fqe"
	"github.com/discreet-rl/discreet/evaluate/internal/rule"
)

const (
	// clearest is the blur up to which what follows each action is counted. Where noise hides more,
	// returns tell actions apart better.
	clearest = 0.15
	// dimmest is that bound where probabilities are estimated, and returns cannot be weighted.
	dimmest = 0.5
	// fewerLearnOn is the share of persons who are learned from where its noise and chance, at most fewerError, hide
	// next to nothing of what is learned, and the others, over the mean square of their weights, are fewerJudges at
	// least, so that certificates are within reach.
	fewerLearnOn = 0.25
	fewerError   = 0.08
	fewerJudges  = 20
	// mostSteps bounds what one backward induction takes.
	mostSteps = 1 << 24
	// mostPlaces bounds the states of all decisions that a policy tells apart.
	mostPlaces = 1 << 12
)

// models lets the policy of several decisions follow from one table of what each action in each
// state led to, where it is public that its noise will hide little.
func (q *learnQuestion) models(m DPLearn) error {
	p := q.public
	if p.decisions() < 2 || !(p.Reward.Width() > 0) {
		return nil
	}
	noise, err := multipliers(*p.Privacy, 1)
	if err != nil {
		return err
	}
	t := fqe.Table{Public: p.numbers(), Form: fqe.ByAction, Cells: q.states.States(), Actions: q.grid.Actions,
		Decisions: p.decisions(), Discounts: p.Discounts, MaxWeight: 1, Multiplier: noise[0]}
	t.Public.Persons = q.learnOn
	if t.Discounts {
		t.Public.Gamma = 1
	}
	if n := int64(t.Coordinates()); n > largestTable || n > mostSteps/p.decisions() {
		return nil
	}
	if q.blur, err = t.Blur(); err != nil {
		return err
	}
	// Where returns are less than rewards allow, as where one is paid at the end, so is their spread.
	q.blur *= max(1, p.after(0).Returns().Width()/p.Returns().Width())
	if q.blur <= clearest || q.unrecorded && q.blur <= dimmest {
		q.table, q.rounds, q.noise = &t, []roundKind{ofFollowing}, noise
		// Where all episodes are cut off more follows than the horizon has.
		q.byStep = !m.Stationary && p.Labels["end"] != "truncated" && int64(t.Cells) <= mostPlaces/p.decisions()
	}
	return nil
}

// needsFewer tells, of a policy that half of the persons are learned from, that a quarter does.
func (q *learnQuestion) needsFewer() bool {
	p, times := q.public, defaultLearnOn/fewerLearnOn
	if q.table == nil || q.unrecorded {
		return false
	}
	judges := (1 - fewerLearnOn) * float64(p.Persons) / p.weightsOf(false).square
	return judges >= fewerJudges && math.Hypot(times*q.blur, math.Sqrt(times)*q.table.Scarcity()) <= fewerError
}

// counted are the noisy numbers of the table.
func (q *learnQuestion) counted(all *learners, persons []int, src *noise.Source) ([]float64, error) {
	return q.table.Numbers(all.all, persons, src)
}

// improved is the policy that the table cannot improve, within the limits: the action by decision and
// state, or by state of a single decision for all.
func (q *learnQuestion) improved(numbers []float64) [][]int {
	m, err := q.table.ModelOf(numbers)
	if err != nil {
		panic(err) // of a table that was planned
	}
	choose := func(gains []float64) []int { return q.grid.Table(rule.Sums{Gains: gains}, q.grid.Actions) }
	if q.byStep {
		return m.ImproveByStep(choose)
	}
	return [][]int{m.Improve(choose)}
}

// learnsBy says what the policy of several decisions is made of, and why.
func (q *learnQuestion) learnsBy() string {
	if q.table != nil {
		apart := ", the same at all decisions"
		if q.byStep {
			apart = " and with each number of decisions left (step counts those before)"
		}
		return "The policy is the best in a model of what follows each action in each state" + apart + ", made of noisy counts. It supposes that the state says all that matters; the certificates do not."
	}
	return "What is learned is one improvement of the logged policy: the actions after which returns were largest under it. With less noise, by more persons, a larger epsilon or fewer states, it would be the best in a model of what follows."
}
