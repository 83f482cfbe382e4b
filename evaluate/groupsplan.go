package evaluate

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// groupPart marks a plan as that of one of several groups.
type groupPart struct {
	intervals int // that hold together with 95%; 0 for one, which is of all persons
	// moves tells that a replaced person may leave the group, or enter it, and guessed
	// that the number of persons is a guess.
	moves, guessed bool
	unread         float64 // standard deviation of the number of those whose group cannot be read
}

// across is by how much noise grows where two sums change.
const across = math.Sqrt2 * (1 + 0x1p-40)

// moved is by how much the noise of a stage grows where a replaced person may leave one
// group and enter another. Two groups then change at once, each by no more than by a
// person who comes or goes, and changes of two groups are orthogonal: sqrt 2. It holds
// within a group as well, where no two persons point in directions more than a right
// angle apart: the points of mechanism.Pair and of a histogram. A baseline's and a
// gradient's may, and have twice the length between them.
func (s groupPart) moved(n scalar.Stages) scalar.Stages {
	if !s.moves {
		return n
	}
	n.Behavior *= across
	n.Clip *= across
	n.Main *= across
	n.Baseline *= 2
	for k := range n.Rounds {
		n.Rounds[k] *= 2
	}
	return n
}

// dilution is by how much less of mu a group has to itself.
func (s groupPart) dilution() float64 {
	if !s.moves {
		return 1
	}
	return math.Sqrt2
}

// some tells that the plan is for a group and not for all persons.
func (s groupPart) some() bool { return s.intervals > 0 }

// grouped plans one release for several groups: that of each is a release of its own,
// and one person touches one of them, or two where persons may change group, so that the
// whole costs what one costs. The event is that of a single Gaussian release at the
// budget's mu, of which the stages of the groups a person touches are no more than parts. Whoever's group
// cannot be read is in none: they are one more part, which is counted.
func (p Public) grouped(method string, m Estimator) (draft, error) {
	p = p.counting()
	parts, drawn := make([]*Plan, len(p.By.Of)), dp.Composed{}
	unread, err := p.unread()
	if err != nil {
		return draft{}, err
	}
	sd := 0.0
	if unread != nil {
		sd = unread.SD()
		drawn.Events = append(drawn.Events, unread.Event())
	}
	for i, a := range p.By.Of {
		if parts[i], err = m.Plan(p.group(i, sd)); err != nil {
			return draft{}, fmt.Errorf("by: %s: %w", a.Name, err)
		}
		if parts[i].bounds == nil {
			return draft{}, fmt.Errorf("%w: %s: nothing is known of this form in groups; leave by out", ErrMethod, method)
		}
		drawn.Events = append(drawn.Events, parts[i].event)
	}
	all, err := multipliers(*p.Privacy, 1)
	if err != nil {
		return draft{}, err
	}
	return draft{
		method: method, public: p, event: gaussians(all...), prepare: grouping{p, parts, &sync.Pool{New: func() any { return new(subset) }}},
		outcome: func(r *Release) (*Release, error) { return p.groupsAgain(parts, r) },
		summary: p.aboutGroups(parts), drawn: drawn, estimates: true, lowers: true, needsEnds: parts[0].needsEnds,
	}, nil
}

// unread is an empty count of those whose group cannot be read; nil where they are not counted.
func (p Public) unread() (*mechanism.Histogram, error) {
	if !p.By.counts {
		return nil, nil
	}
	whole, err := p.Privacy.apart()
	if err != nil {
		return nil, err
	}
	return mechanism.NewHistogram(1, whole, dp.AddRemoveOne, p.Privacy.noise())
}

// apart is the noise multiplier, for the whole budget, of sums of different persons each: who comes or goes touches one of
// them. Who is replaced may touch two, or one twice where no two points are more than a right angle apart.
func (q Privacy) apart() (float64, error) {
	replaced := q.Adjacency == dp.ReplaceOne
	q.Adjacency = dp.AddRemoveOne
	whole, err := multipliers(q, 1)
	if err != nil {
		return 0, err
	}
	if replaced {
		whole[0] *= across
	}
	return whole[0], nil
}

// addUnread adds the noisy number of those whose group cannot be read to the size of each group, and makes its
// estimate again, which is post-processing.
func (p Public) addUnread(parts []*Plan, found []*Release, persons int64, src *noise.Source) error {
	count, err := p.unread()
	if count == nil || err != nil {
		return err
	}
	noisy, err := mechanism.Total(count, int(persons), func(int) error { return count.Add(0) }, src)
	if err != nil {
		return err
	}
	for i, r := range found {
		sums := *r.Diagnostics["sums"].(*scalar.Sums)
		sums.Persons += noisy[0]
		r.Diagnostics["sums"] = &sums
		if found[i], err = parts[i].outcome(r); err != nil {
			return err
		}
	}
	return nil
}

// Sizes counts the persons of d in each of the groups whose sizes are public, and after
// them those in none; nil of every other plan. No other size is asked for, and none may be:
// it is private.
func (p *Plan) Sizes(d *trajectory.Dataset) ([]int64, error) {
	by := p.public.groups()
	if !by.Fixed {
		return nil, nil
	}
	members, err := by.Members(d)
	if err != nil {
		return nil, err
	}
	out := make([]int64, len(by.Of)+1)
	for _, i := range members {
		if i < 0 {
			i = len(by.Of)
		}
		out[i]++
	}
	return out, nil
}

// CheckSizes holds the sizes of groups in all of the data, as [Plan.Sizes] counts them,
// against the public ones, which must be right. Of a person in none it is not known which
// group's size counts them: so many may be missing in all groups together.
func (p *Plan) CheckSizes(sizes []int64) error {
	by := p.public.groups()
	if !by.Fixed || !p.public.private() {
		return nil
	}
	if len(sizes) != len(by.Of)+1 {
		return fmt.Errorf("%w: sizes of %d groups, and of none; there are %d", ErrData, len(sizes)-1, len(by.Of))
	}
	none := sizes[len(by.Of)]
	for i, a := range by.Of {
		missing := a.Persons - sizes[i]
		if missing < 0 || missing > none {
			return fmt.Errorf("%w: by.persons says %d %ss of group %q and the data hold %d; where groups are fixed their sizes are public and must be right (whoever's rows name no group, or two, may be missing)",
				ErrData, a.Persons, p.public.unit(), a.Name, sizes[i])
		}
		none -= missing
	}
	return nil
}

// together is the release of all groups. It is post-processing of those of each.
func (p Public) together(parts []*Plan, found []*Release) (*Release, error) {
	refuted := slices.ContainsFunc(found, func(one *Release) bool { return one.first != "" })
	for i, one := range found {
		if refuted && !policy.OnPolicy(p.Target) {
			e, err := paid(one)
			if err != nil {
				return nil, err
			}
			e = parts[i].bounds.Doubt(e)
			one.estimate.Interval, one.estimate.Clipping = e.Interval, e.Clipping
		}
		one.estimate.Confidence = scalar.Confidence(len(parts))
	}
	return p.gathered(found), nil
}

// groupsAgain makes the answers of all groups again from their noisy sums.
func (p Public) groupsAgain(parts []*Plan, r *Release) (*Release, error) {
	if len(r.Answers) < len(parts) {
		return nil, fmt.Errorf("answers: %d, and there are %d groups", len(r.Answers), len(parts))
	}
	found := make([]*Release, len(parts))
	for i, part := range parts {
		var err error
		if found[i], err = part.outcome(r.Answers[i].run()); err != nil {
			return nil, fmt.Errorf("answers[%d]: %w", i, err)
		}
	}
	return p.together(parts, found)
}

// aboutGroups is what is known beforehand.
func (p Public) aboutGroups(parts []*Plan) summary {
	var expected []ExpectedAnswer
	var near []float64
	for i, part := range parts {
		a := ExpectedAnswer{
			Name: p.By.Of[i].Name, Kind: OfGroup, Range: p.Returns(), MaxWeight: part.bounds.Caps.At(0).Max,
			StdPrivacy: part.Expected.StdPrivacy, StdSampling: part.Expected.StdSampling,
			HalfWidth: part.Expected.HalfWidth,
		}
		if p.supposes {
			a.HalfWidth = part.bounds.Z() * math.Hypot(a.StdPrivacy, a.StdSampling)
		}
		if part.bounds.Noise.Clip != 0 {
			a.Choices = part.bounds.Caps.Steps + 1
		}
		expected, near = append(expected, a), append(near, a.Range.nearEnd(a.HalfWidth, a.StdPrivacy))
	}
	s := summary{facts: map[string]any{"answers": expected}, expected: Expected{Constant: p.Returns().Width() / 2}}
	if !p.supposes {
		s.facts["forecast"] = byWeights
		var dark, least []string
		why := ""
		for i, part := range parts {
			if part.Expected.HalfWidth == 0 {
				dark, why = append(dark, expected[i].Name), part.Outlook[0]
			}
			if part.least > 0 && part.Expected.HalfWidth > farLess*part.least {
				least = append(least, downTo(expected[i].Name, part.least))
			}
		}
		if len(dark) == len(parts) {
			s.outlook = append(s.outlook, why)
		} else if len(dark) > 0 {
			s.outlook = append(s.outlook, strings.Join(dark, ", ")+": "+why)
		}
		s.inMiddles(expected, near)
		s.inRareStates(least)
		if slices.Contains(parts[0].Outlook, goTogether) {
			s.outlook = append(s.outlook, goTogether)
		}
	}
	for _, fact := range []string{"clip", "confounding", "baseline", "baseline_share", "baseline_values"} {
		if v, ok := parts[0].Facts[fact]; ok {
			s.facts[fact] = v
		}
	}
	rests := ""
	if factor, _ := s.facts["confounding"].(float64); !p.onPolicy() {
		rests = whateverWords + p.restsOn(factor)
	}
	joint := fmt.Sprintf("All %d intervals, one per group, hold simultaneously with 95%% probability%s. A person is in at most one group, so groups divide the error probability but not the budget.", len(p.By.Of), rests)
	s.notes = append([]string{p.words(joint)}, p.episodesNote()...)
	s.estimated(p)
	if p.estimates() {
		s.notes = append(s.notes, p.words("The probabilities of each group are estimated from that group alone, so they may differ between groups."))
	}
	nobody := "A person whose rows name two groups or an unlisted value, or who has no row that can be read, is in no group, and no answer is about them."
	switch {
	case p.By.counts:
		nobody = "A person whose rows name two groups, or who has no row that can be read, is counted with noise, and every interval allows for any of them in any group. A person whose rows name a number that by does not list is in none."
	case p.By.Fixed:
		nobody = "A person whose rows name two groups or an unlisted value, or who has no row that can be read, adds nothing to any group; the interval of the group whose public size counts them allows for whatever they would have added."
	}
	s.notes = append(s.notes, p.words("A person is in the group that all of their rows name, those of episodes that were left out among them. "+nobody))
	if _, guarded := parts[0].Facts["tier"]; guarded {
		s = s.and(tier{number: 2, why: fewInGroup}.summary(p, nil))
	}
	if p.By.Fixed {
		s.notes = append(s.notes, p.words("Groups are fixed: the guarantee covers the exchange of a person for another of the same group. Who is in which group, and how many are, is not protected."))
	} else {
		s.notes = append(s.notes, p.words("The number of persons in a group is released only with noise. The interval of a small group covers most or all of the public range; nothing else in the release shows that the group is small. Forecasts use the guessed sizes, or equal ones; the intervals do not depend on them."))
	}
	return s
}
