package evaluate

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Outcome says what is observed of a person: the time to an event or to the end of follow-up,
// and which of the two it was. dp-survival estimates from it; docs/survival.md is the guide.
//
// Without Event the outcome is that of a person's only trajectory: its number of decisions, and
// whether it terminated, which is the event, or was truncated, which is censoring. With Event
// a person has one decision, whose reward is the time and whose observation Event is what ended
// it. A person whose time is negative or no number, or whose observation is not listed, has an
// outcome that cannot be used.
type Outcome struct {
	// Event is the observation that says what ended the time; "" where trajectories say it.
	Event string `json:"event,omitempty"`
	// Unit is the unit of time in words, such as days; "" where none is given.
	Unit string `json:"unit,omitempty"`
	// Causes are the events, and Censored the numbers that mean that follow-up ended before one.
	Causes   []Cause   `json:"causes"`
	Censored []float64 `json:"censored,omitempty"`
	// Strata divide every arm; nil for none. Curves are those of the strata, weighted by their
	// shares of the arm's persons, so that censoring may depend on the stratum.
	Strata *Strata `json:"strata,omitempty"`
	// Ends are the ends of the bins of time, increasing, the first bin starting at 0; a time
	// belongs to the first bin whose end it does not exceed, but of grouped times one that is
	// censored at an end was followed through that bin. Of trajectories they are 1, 2, ... decisions.
	Ends []float64 `json:"ends"`
	// Grouped says that a bin is a range of times, not one time: an event counts at its middle,
	// and intervals allow for every order of events and censoring within it. Without it an event
	// counts at the end of its bin, before the censoring of the same bin.
	Grouped bool `json:"grouped,omitempty"`
	// Censoring is what the curator states of it for a target policy: that it is independent of the time to the
	// event, that it is unanticipated, which is that nobody left because of a decision that was to
	// come, or nothing: any, which asks for limits. "" is assumed to be independent where a person has one decision, else any.
	Censoring string `json:"censoring,omitempty"`
}

// Cause is one of the events that compete to be a person's first.
type Cause struct {
	Name string `json:"name"`
	// Number is its value of Event.
	Number float64 `json:"number"`
}

// Strata are groups of persons by a baseline observation. A person whose rows do not name one of
// them has an outcome that cannot be used.
type Strata struct {
	// Column is the observation, and Values the numbers in it that make a stratum each.
	Column string    `json:"column"`
	Values []float64 `json:"values"`
}

// groups are the strata as groups of persons; none of nil.
func (s *Strata) groups() (g Groups) {
	if s == nil {
		return g
	}
	g.Column = s.Column
	for _, v := range s.Values {
		g.Of = append(g.Of, Group{Number: v})
	}
	return g
}

// Limits on what is asked of one outcome, for memory and for the noise.
const (
	mostTimes  = 400
	mostCauses = 6
	mostArms   = 8
	mostStrata = 32
	mostCells  = 10_000
	mostSums   = 3e8 // arms times strata times the cube of bins, for running sums
)

func (o *Outcome) clone() *Outcome {
	out := copied(o)
	if out != nil {
		out.Causes, out.Censored, out.Ends = slices.Clone(o.Causes), slices.Clone(o.Censored), slices.Clone(o.Ends)
		if out.Strata = copied(o.Strata); out.Strata != nil {
			out.Strata.Values = slices.Clone(o.Strata.Values)
		}
	}
	return out
}

// until is the last time of the outcome.
func (o *Outcome) until() float64 { return o.Ends[len(o.Ends)-1] }

// validate checks the outcome on its own, then beside the other facts.
func (o *Outcome) validate(p Public) error {
	if n := len(o.Ends); n < 1 || n > mostTimes {
		return fmt.Errorf("%w: data.outcome has %d bins; want 1 to %d", ErrPublic, n, mostTimes)
	}
	switch o.Censoring {
	case "", independentCensoring, unanticipatedCensoring, anyCensoring:
	default:
		return fmt.Errorf("%w: data.outcome.censoring is %q; want independent, unanticipated or any", ErrPublic, o.Censoring)
	}
	last := 0.0
	for i, e := range o.Ends {
		if !(e > last) || math.IsInf(e, 0) || e > largestReturn {
			return fmt.Errorf("%w: data.outcome.bins: end %d is %v after %v; want finite numbers above 0 that increase", ErrPublic, i+1, e, last)
		}
		last = e
	}
	if o.Unit != "" && !goodName(o.Unit) {
		return fmt.Errorf("%w: data.outcome.unit is %q; want a word such as days", ErrPublic, o.Unit)
	}
	if err := errors.Join(o.validateCauses(), o.Strata.validate()); err != nil {
		return err
	}
	return o.beside(p)
}

func (o *Outcome) validateCauses() error {
	if n := len(o.Causes); n < 1 || n > mostCauses {
		return fmt.Errorf("%w: data.outcome has %d causes; want 1 to %d", ErrPublic, n, mostCauses)
	}
	names, numbers := map[string]bool{}, map[float64]bool{}
	for _, x := range o.Censored {
		numbers[x] = true
	}
	for _, c := range o.Causes {
		switch {
		case !goodName(c.Name) || names[c.Name]:
			return fmt.Errorf("%w: data.outcome.causes: a name is %q; want up to %d printable characters, and each once", ErrPublic, c.Name, longestName)
		case o.Event != "" && (math.IsNaN(c.Number) || math.IsInf(c.Number, 0) || numbers[c.Number]):
			return fmt.Errorf("%w: data.outcome: %v stands for %q and for something else; give every cause, and censoring, a number of its own", ErrPublic, c.Number, c.Name)
		}
		names[c.Name], numbers[c.Number] = true, true
	}
	if o.Event == "" && (len(o.Causes) > 1 || o.Censored != nil) {
		return fmt.Errorf("%w: data.outcome: trajectories end by one cause; name the column of the event to tell causes apart", ErrPublic)
	}
	return nil
}

func (s *Strata) validate() error {
	if s == nil {
		return nil
	}
	numbers := map[float64]bool{}
	for _, v := range s.Values {
		if math.IsNaN(v) || math.IsInf(v, 0) || numbers[v] {
			return fmt.Errorf("%w: data.outcome.strata.values: %v; want finite numbers, each once", ErrPublic, v)
		}
		numbers[v] = true
	}
	if n := len(s.Values); s.Column == "" || n < 2 || n > mostStrata {
		return fmt.Errorf("%w: data.outcome.strata has %d values of column %q; want a column and 2 to %d values", ErrPublic, n, s.Column, mostStrata)
	}
	return nil
}

// beside checks the outcome beside what else is asked.
func (o *Outcome) beside(p Public) error {
	refuse := func(key, why string) error {
		return fmt.Errorf("%w: data.outcome and %s are given, and %s; leave %[2]s out", ErrPublic, key, why)
	}
	switch {
	case p.estimates():
		return fmt.Errorf("%w: data.outcome and data.behavior: {kind: estimate} are given, and the weights of survival need known probabilities; give them, in a column or by a design (data.behavior.source: logged or design), or ask for survival as it was (target: {kind: logged}) and leave data.behavior out", ErrPublic)
	case p.Design != nil && !p.weighted():
		return refuse("data.behavior", "nothing is divided by the probabilities of actions")
	case p.groups().some() && p.weighted():
		return refuse("by", "of a target policy, or of limits for any censoring, there is one curve for all persons")
	case p.targets().Best:
		return refuse("select", "no policy is named as the best by survival")
	case p.Discounts || p.Start != nil:
		return refuse("start or discounts", "time is not discounted")
	case p.Return != nil || p.Reward != Range{}:
		return refuse("problem.reward or problem.return", "the range of a restricted time follows from the bins")
	case p.Gamma != 1:
		return fmt.Errorf("%w: data.outcome is given, and problem.gamma is %v; time is not discounted, want 1", ErrPublic, p.Gamma)
	case p.unit() == Person && p.Horizon > 1 && p.Episodes != 1:
		return fmt.Errorf("%w: data.outcome is given, and a person has one time to an event; set problem.episodes to 1, so that the first episode of a person counts", ErrPublic)
	case p.EpisodeHorizon > 0:
		return fmt.Errorf("%w: problem.episode_horizon is given, and of an outcome a person has one trajectory; problem.horizon says how many of its decisions count", ErrPublic)
	case o.Event != "" && p.decisions() > 1:
		return fmt.Errorf("%w: data.outcome.event is a column, and a trajectory has %d decisions; an outcome from columns is read from one row a person", ErrPublic, p.decisions())
	case len(p.groups().Of) > mostArms:
		return fmt.Errorf("%w: by has %d groups; want at most %d with an outcome", ErrPublic, len(p.By.Of), mostArms)
	}
	if o.Event != "" {
		return nil
	}
	for i, e := range o.Ends {
		if e != float64(i+1) || o.Grouped {
			return fmt.Errorf("%w: data.outcome: the time of a trajectory is its number of decisions, in bins of one decision; leave bins out", ErrPublic)
		}
	}
	if int64(len(o.Ends)) != p.Horizon && p.Horizon > 0 {
		return fmt.Errorf("%w: data.outcome has %d bins and problem.horizon is %d; want one for each decision", ErrPublic, len(o.Ends), p.Horizon)
	}
	return nil
}

// exit is how a person left.
type exit struct {
	bin, cause int
	end        bool // followed beyond the last bin
	usable     bool
}

// exitOf is how the person of an episode left.
func (o *Outcome) exitOf(d *trajectory.Dataset, episode, column int) exit {
	from, to := d.EpisodeStart[episode], d.EpisodeStart[episode+1]
	if o.Event == "" {
		bin := to - from - 1
		switch {
		case d.Terminated[episode] && bin < len(o.Ends):
			return exit{bin: bin, cause: 1, usable: true}
		case bin >= len(o.Ends)-1:
			return exit{end: true, usable: true}
		}
		return exit{bin: bin, usable: true}
	}
	t, code := d.Reward[from], d.Observation(from)[column]
	cause := 1 + slices.IndexFunc(o.Causes, func(c Cause) bool { return c.Number == code })
	if !(t >= 0) || math.IsInf(t, 0) || cause == 0 && !slices.Contains(o.Censored, code) {
		return exit{}
	}
	bin, at := slices.BinarySearch(o.Ends, t)
	if at && o.Grouped && cause == 0 {
		bin++ // followed through all of its bin
	}
	return exit{bin: bin, cause: cause, end: bin == len(o.Ends), usable: true}
}

// words says in a line what the time is.
func (o *Outcome) words() string {
	var names []string
	for _, c := range o.Causes {
		names = append(names, c.Name)
	}
	if o.Event == "" {
		return "number of decisions until " + names[0]
	}
	words := "time until " + strings.Join(names, " or ")
	if o.Unit != "" {
		words += ", in " + o.Unit
	}
	return words
}

// replaced is by how much, in l1, the counts of a dataset change with one person.
func replaced(q *Privacy) float64 {
	if q.Adjacency == dp.ReplaceOne {
		return 2
	}
	return 1
}
