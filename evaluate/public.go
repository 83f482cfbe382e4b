package evaluate

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

// Sentinel errors. Everything this package returns wraps one of them or one of
// a package below.
var (
	// ErrPublic marks public facts that are missing or contradict each other.
	ErrPublic = fault.Input("invalid public facts")
	// ErrMethod marks an unknown method or a parameter it does not have.
	ErrMethod = fault.Input("invalid method")
	// ErrData marks data that does not fit the plan. The error is for the
	// curator alone.
	ErrData = fault.Input("data does not fit the plan")
	// errUsed marks a run that cannot start: it ran before, or has no source of
	// noise. Nothing was spent on it.
	errUsed = errors.New("run refused")
	// ErrOverBudget marks a plan whose event costs more than its budget: an
	// error of the program, caught before anything is spent.
	ErrOverBudget = errors.New("plan exceeds its budget")
)

// Returns outside these would overflow, or vanish, when they are squared.
const (
	largestReturn = 1e60
	smallestWidth = 1e-60
)

// Range is a closed interval of public bounds.
type Range struct {
	// Min is the lower end.
	Min float64 `json:"min" yaml:"min"`
	// Max is the upper end.
	Max float64 `json:"max" yaml:"max"`
}

// Width is Max - Min.
func (r Range) Width() float64 { return r.Max - r.Min }

// Mid is the middle of the range.
func (r Range) Mid() float64 { return r.Min + r.Width()/2 }

// clip moves a number outside to the nearer end.
func (r Range) clip(x float64) float64 { return min(max(x, r.Min), r.Max) }

func (r Range) validate(what string) error {
	if !(r.Min <= r.Max) || math.IsInf(r.Width(), 0) {
		return fmt.Errorf("%w: %s: [%v, %v]; want min <= max, both finite", ErrPublic, what, r.Min, r.Max)
	}
	if far := max(math.Abs(r.Min), math.Abs(r.Max)); r.Min < r.Max && r.Width() < far*leastWidth {
		return fmt.Errorf("%w: %s: [%v, %v] is narrower than 2^-40 of %v, so that float64 cannot tell its values apart; subtract %v in the data", ErrPublic, what, r.Min, r.Max, far, r.Min)
	}
	return nil
}

// leastWidth is the least width of a public range, of its farther end: discounts and sums of it round to 2^-53 of that.
const leastWidth = 0x1p-40

// Public holds what is known, and may be told, without looking at the data.
type Public struct {
	// Persons is the number of persons, or of whatever else the unit of privacy is,
	// under ReplaceOne, where it is public, and a public lower bound on it under
	// AddRemoveOne.
	Persons int64
	// Gamma is the discount, in (0, 1].
	Gamma float64
	// Discounts says that the data hold a discount for each decision, in [0, 1],
	// which takes the place of Gamma.
	Discounts bool
	// Reward bounds one reward.
	Reward Range
	// Return bounds the discounted return of a trajectory; nil derives it from
	// Reward, Gamma and EpisodeHorizon, or from Reward alone with OneDecision.
	Return *Range
	// Horizon is the largest number of decisions that a person contributes.
	Horizon int64
	// Episodes is the largest number of trajectories that a person contributes;
	// 0 when it is not capped other than by Horizon.
	Episodes int64
	// OneDecision says that every trajectory has one decision, as in the log of a
	// contextual bandit; Horizon is then how many trajectories a person contributes.
	OneDecision bool
	// EpisodeHorizon is the largest number of decisions of one trajectory; 0 means Horizon.
	// A longer one counts with its first decisions.
	EpisodeHorizon int64
	// Features maps observations to feature vectors; nil where a method needs none.
	Features feature.Map
	// Target is the policy to evaluate.
	Target policy.Policy
	// Targets asks for several policies, in place of Target.
	Targets *Targets
	// By asks for the value in each of several groups of persons; nil for that of all.
	By *Groups
	// Behavior asks to estimate the probabilities of the logged actions, and to pay for
	// it; nil where the data hold them.
	Behavior *EstimatedBehavior
	// BehaviorPrecision is by how much a recorded probability, of the logged action or of a
	// target that is a column ([policy.ProbColumn]), may differ from the true one; 0 where
	// they are exact. Off-policy dp-is, dp-pdis, dp-wis, dp-dr, dp-distribution and dp-learn allow for it.
	BehaviorPrecision float64
	// Start is a public distribution over the states that Features number: of a value
	// function the mean under it is wanted too, see [StartValue]. Nil asks for none.
	Start []float64
	// Design is what public policies say of the importance ratios; nil where they say
	// nothing. dp-is, dp-pdis, dp-wis and dp-dr use it.
	Design *Design
	// Outcome asks for survival; nil where a value is asked for.
	Outcome *Outcome
	// Complete says that nothing is lost: every decision of every person is in the data, no
	// episode was cut off (other than as Outcome counts it), and none of them, nor a value that is read, was left out or
	// replaced, but for rewards cut to their range and covariates of an experiment. Only whoever holds the data can say so; a check refuses data that show
	// otherwise.
	Complete bool
	// Privacy asks for a guarantee; nil asks for a non-private reference.
	Privacy *Privacy
	// Labels are further public facts that a release repeats, such as the target
	// policy in words.
	Labels map[string]any

	// parameters are what the method was asked for; nil until a plan starts.
	parameters map[string]any
	// answers is how many intervals hold together, and parts how many releases share the budget alike; 0 means 1.
	answers, parts int
	// judges is that of the half of persons who judge what is learned: each end of an interval fails with 5% by
	// itself, and they tell how often the first policy does otherwise than was done.
	judges bool
	// share tells of the facts of one group that the plan is for several.
	share groupPart
	// chosen is why auto chose the method; "" where it did not.
	chosen string
	// byCell are the probabilities by cell and action of each policy, nil of the logged one, where
	// a release states them, which replanned tells of: they do not follow from the policies there.
	byCell    [][]float64
	replanned bool
	// supposes is that of releases whose half widths suppose weights of which nothing is known.
	supposes bool
	// unsaid is that of releases that do not say what limits of probabilities suppose of those left out.
	unsaid bool
	// endless is that of releases that do not say how much of a person they count, and unranged that of those
	// that tell a range of rewards which nobody gave.
	endless, unranged bool
}

// clone copies what the caller could still change, so that a plan rests on the
// facts it was made from.
func (p Public) clone() Public {
	p.Return, p.Privacy, p.Behavior = copied(p.Return), copied(p.Privacy), copied(p.Behavior)
	p.Design = p.Design.clone()
	p.Labels = maps.Clone(p.Labels)
	p.Start = slices.Clone(p.Start)
	p.Targets = p.Targets.clone()
	p.By = p.By.clone()
	p.Outcome = p.Outcome.clone()
	return p
}

// copied is a copy of what is pointed to, nil of nil.
func copied[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

// asking is a copy that holds the parameters of the method that was asked for:
// that of a choice, not what it chose. A release repeats them, so that whoever
// has it can plan again.
func (p Public) asking(m Estimator) Public {
	p = p.clone()
	if p.Target == nil {
		p.Target = p.targets().first()
	}
	if p.parameters != nil {
		return p
	}
	p.parameters = map[string]any{}
	_ = fill(&p.parameters, m) // what JSON cannot hold is not a number, and the method refuses it
	return p
}

// because is a copy for the method that auto chose, and says why.
func (p Public) because(why string) Public {
	p.chosen = why
	return p
}

// unweighted is a copy that asks for survival as it was, whatever policies are asked for.
func (p Public) unweighted() Public {
	p = p.clone()
	p.Target, p.Targets, p.Design, p.Outcome.Censoring = policy.Logged{}, nil, nil, ""
	return p
}

// sharing is a copy for so many answers, which share the budget alike among so many releases.
func (p Public) sharing(answers, parts int) Public {
	p.answers, p.parts = answers, parts
	return p
}

// undesigned is a copy of which no design is known.
func (p Public) undesigned() Public {
	p.Design = nil
	return p
}

// judging is a copy for so many persons who judge several policies, each limit by itself.
func (p Public) judging(t *Targets, persons int64) Public {
	p = p.clone()
	p.Targets, p.Persons, p.judges = t, persons, true
	return p
}

// by is a copy of which another design is known.
func (p Public) by(d *Design) Public {
	p.Design = d
	return p
}

// withFirst is a copy whose first target is another policy.
func (p Public) withFirst(target policy.Policy) Public {
	p = p.clone()
	p.Targets.Policies[0].Policy = target
	return p
}

// after is a copy for what is left of episodes after so many decisions.
func (p Public) after(decisions int64) Public {
	p.OneDecision, p.EpisodeHorizon, p.Return = false, p.decisions()-decisions, nil
	return p
}

// featureless is a copy whose features are not computed.
func (p Public) featureless() Public {
	p.Features = nil
	return p
}

// withNoise is a copy with another family of noise.
func (p Public) withNoise(family NoiseFamily) Public {
	p = p.clone()
	p.Privacy.NoiseFamily = family
	return p
}

// withEpsilon is a copy with another budget.
func (p Public) withEpsilon(epsilon float64) Public {
	p = p.clone()
	p.Privacy.Budget.Epsilon = epsilon
	return p
}

// counting is a copy in which whoever's group cannot be read counts in all groups: they may be in any.
func (p Public) counting() Public {
	p = p.clone()
	p.By.counts = !p.By.Fixed && !p.By.uncounted && !p.Complete
	return p
}

// group is the plan's facts for one group alone, to whose size that of those whose group cannot be read is
// added, with noise of such a standard deviation.
func (p Public) group(i int, unread float64) Public {
	q := p.clone()
	q.By = nil
	q.Persons = p.By.size(i, p.Persons)
	q.Privacy.LargeDelta = true // delta is held against all persons
	q.share = groupPart{intervals: len(p.By.Of), guessed: !p.By.Fixed, moves: p.Privacy.Adjacency == dp.ReplaceOne && !p.By.Fixed, unread: unread}
	if q.share.moves {
		q.Privacy.Adjacency = dp.AddRemoveOne
	}
	return q
}

// Validate checks everything that does not depend on the method. Bounds on
// contributions (Reward, Horizon) are needed with privacy alone.
func (p Public) Validate() error {
	if !(p.Gamma > 0 && p.Gamma <= 1) {
		return fmt.Errorf("%w: problem.gamma is %v; want 0 < gamma <= 1", ErrPublic, p.Gamma)
	}
	if p.Persons < 0 || p.Episodes < 0 || p.Horizon < 0 || p.EpisodeHorizon < 0 {
		return fmt.Errorf("%w: problem.persons, horizon, episode_horizon and episodes must not be negative", ErrPublic)
	}
	switch k := p.EpisodeHorizon; {
	case k > 0 && p.OneDecision:
		return fmt.Errorf("%w: problem.episode_horizon is %d, and every trajectory has one decision (data.one_row_episodes); leave one of the two out", ErrPublic, k)
	case k > p.Horizon && p.Horizon > 0:
		return fmt.Errorf("%w: problem.episode_horizon is %d, and problem.horizon, which counts all decisions of a person, is %d; raise the second", ErrPublic, k, p.Horizon)
	}
	if err := p.Reward.validate("problem.reward"); err != nil {
		return err
	}
	if p.Return != nil {
		if err := p.Return.validate("problem.return"); err != nil {
			return err
		}
	}
	if err := p.targets().validate(); err != nil {
		return err
	}
	if p.Target == nil {
		return fmt.Errorf("%w: target is missing; use {kind: logged} to evaluate the policy that made the data", ErrPublic)
	}
	if p.estimates() {
		if err := p.Behavior.validate(p.Features); err != nil {
			return err
		}
	}
	if err := p.validatePrecision(); err != nil {
		return err
	}
	if p.Design != nil {
		if err := p.Design.validate(); err != nil {
			return err
		}
	}
	if err := p.By.validate(p); err != nil {
		return err
	}
	if p.Outcome != nil {
		if err := p.Outcome.validate(p); err != nil {
			return err
		}
	}
	return p.validatePrivacy()
}

// Returns is the public range of a trajectory's discounted return, or of an outcome's time: what rewards,
// discount and horizon allow to trajectories of one decision or more, cut to
// Return where that is given.
func (p Public) Returns() Range {
	if p.Outcome != nil {
		return Range{0, p.Outcome.until()}
	}
	if p.Return != nil && !(p.Reward.Width() > 0) {
		return *p.Return
	}
	steps := float64(p.decisions())
	most := steps
	if p.Gamma < 1 && !p.Discounts {
		most = -math.Expm1(steps*math.Log(p.Gamma)) / (1 - p.Gamma)
	}
	r := p.Reward
	if r.Min < 0 {
		r.Min *= most
	}
	if r.Max > 0 {
		r.Max *= most
	}
	if p.Return != nil {
		r.Min, r.Max = max(r.Min, p.Return.Min), min(r.Max, p.Return.Max)
	}
	return r
}

// decisions is the largest number of decisions of a trajectory.
func (p Public) decisions() int64 {
	switch {
	case p.OneDecision:
		return min(p.Horizon, 1)
	case p.EpisodeHorizon > 0:
		return p.EpisodeHorizon
	}
	return p.Horizon
}

// firstOnes is the public fact of releases that say how much of a person they count.
const firstOnes = "first"

// counted says how much of a person the answer is of; "" where nothing comes later, by records that are complete,
// of which the check refuses more, of times, which end at their horizon, of rows, and without a horizon.
func (p Public) counted() string {
	if p.Complete || p.endless || p.Horizon == 0 || p.Outcome != nil || p.unit() == Row {
		return ""
	}
	if p.Horizon == 1 {
		return p.words("Only a person's first decision counts; later ones are no part of the answer.")
	}
	first := fmt.Sprintf("a person's first %d decisions", p.Horizon)
	switch {
	case p.Episodes == 1:
		first += " in one episode"
	case p.Episodes > 1:
		first += fmt.Sprintf(" in %d episodes", p.Episodes)
	}
	if p.EpisodeHorizon > 0 && p.EpisodeHorizon < p.Horizon {
		first += fmt.Sprintf(", of an episode the first %d,", p.EpisodeHorizon)
	}
	return p.words(fmt.Sprintf("Only %s count; later ones are no part of the answer.", first))
}

// words says a sentence that is written of persons of the unit.
func (p Public) words(text string) string { return p.unit().Words(text) }

// unit is that of the guarantee.
func (p Public) unit() Unit { return cmp.Or(p.guarantee().Unit, Person) }

// facts lists the public parameters that every release repeats.
func (p Public) facts() map[string]any {
	f := map[string]any{}
	maps.Copy(f, p.Labels)
	f["gamma"], f["on_policy"] = p.Gamma, p.onPolicy()
	where := func(there bool, name string, fact any) {
		if there {
			f[name] = fact
		}
	}
	where(p.Discounts, "discounts", true)
	given(f, "targets", p.Targets.fact(!p.estimates()))
	where(p.targets().alone && p.Target.Actions() > 0, "actions", p.Target.Actions())
	where(len(p.parameters) > 0, "parameters", p.parameters)
	where(p.Horizon > 0, "horizon", p.Horizon)
	where(p.Horizon > 0 && p.Outcome == nil && (p.unranged || p.Return == nil || p.Reward != Range{}), "reward", p.Reward)
	where(p.Horizon > 0, "return", p.Returns())
	where(p.Horizon > 0 && p.Return != nil, "return_given", true)
	where(p.Persons > 0, p.unit().count(), p.Persons)
	where(p.Episodes > 0, "episodes", p.Episodes)
	given(f, "by", p.groupsFact())
	given(f, "estimated_behavior", p.Behavior)
	given(f, "design", p.Design)
	where(p.Design != nil && !p.supposes, "forecast", byWeights)
	given(f, "outcome", p.Outcome)
	where(p.Start != nil, "first_states", p.Start)
	where(p.OneDecision && p.Horizon > 1, "one_decision", true)
	where(p.EpisodeHorizon > 0, "episode_horizon", p.EpisodeHorizon)
	where(p.Complete, "records", "complete")
	where(p.counted() != "", "counted", firstOnes)
	where(p.BehaviorPrecision > 0, "behavior_precision", p.BehaviorPrecision)
	return f
}

// given adds what is pointed to; nothing of nil.
func given[T any](facts map[string]any, name string, fact *T) {
	if fact != nil {
		facts[name] = *fact
	}
}
