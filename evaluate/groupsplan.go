package evaluate

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/dp/hook"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// share says of a plan that it is for one of several groups.
type share struct {
	intervals int // that hold together with 95%
	// moves tells that a replaced person may leave the group, or enter it, and guessed
	// that the number of persons is a guess.
	moves, guessed bool
}

// moved is by how much the noise of a stage grows where a replaced person may leave one
// group and enter another. Two groups then change at once, each by no more than by a
// person who comes or goes, and changes of two groups are orthogonal: sqrt 2. It holds
// within a group as well, where no two persons point in directions more than a right
// angle apart: the points of mechanism.Pair and of a histogram. A baseline's and a
// gradient's may, and have twice the length between them.
func (s *share) moved(n scalar.Stages) scalar.Stages {
	if s == nil || !s.moves {
		return n
	}
	const across = math.Sqrt2 * (1 + 0x1p-40)
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
func (s *share) dilution() float64 {
	if s == nil || !s.moves {
		return 1
	}
	return math.Sqrt2
}

// together is the number of intervals that hold with 95%, 0 for one.
func (s *share) together() int {
	if s == nil {
		return 0
	}
	return s.intervals
}

// group is the plan's facts for one group alone.
func (p Public) group(i int) Public {
	q := p.clone()
	q.By = nil
	q.Persons = p.By.size(i, p.Persons)
	q.Privacy.LargeDelta = true // delta is held against all persons
	q.share = &share{intervals: len(p.By.Of), guessed: !p.By.Fixed, moves: p.Privacy.Adjacency == dp.ReplaceOne && !p.By.Fixed}
	if q.share.moves {
		q.Privacy.Adjacency = dp.AddRemoveOne
	}
	return q
}

// grouped plans one release for several groups: that of each is a release of its own,
// and one person touches one of them, or two where persons may change group, so that the
// whole costs what one costs. The event is that of a single Gaussian release at the
// budget's mu, of which the stages of the groups a person touches are no more than parts.
func (p Public) grouped(method string, m Estimator) (*Plan, error) {
	if p.Behavior != nil {
		if policy.OnPolicy(p.Target) {
			return nil, fmt.Errorf("%w: %s: on-policy nothing is divided by the probabilities of logged actions, and to estimate them would be paid for in vain; leave data.behavior out", ErrMethod, method)
		}
		p.estimates = true
	}
	parts := make([]*Plan, len(p.By.Of))
	for i, a := range p.By.Of {
		var err error
		if parts[i], err = m.Plan(p.group(i)); err != nil {
			return nil, fmt.Errorf("by: %s: %w", a.Name, err)
		}
		if parts[i].bounds == nil {
			return nil, fmt.Errorf("%w: %s: nothing is known of this form in groups; leave by out", ErrMethod, method)
		}
	}
	all, err := multipliers(*p.Privacy, 1)
	if err != nil {
		return nil, err
	}
	plan, err := newPlan(method, p, gaussians(all...), func(ctx context.Context, d *trajectory.Dataset) (draw, error) {
		draws, err := p.split(ctx, parts, d)
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, src *noise.Source) (*Release, error) {
			found := make([]*Release, len(draws))
			for i, draw := range draws {
				if found[i], err = p.drawn(ctx, i, draw, src); err != nil {
					return nil, err
				}
			}
			return p.gathered(parts, found)
		}, nil
	})
	if err != nil {
		return nil, err
	}
	plan.outcome = func(r *Release) (*Release, error) { return p.groupsAgain(parts, r) }
	plan.needsEnds, plan.groups = parts[0].needsEnds, parts
	plan.describeGroups(parts)
	return plan, nil
}

// drawn is the release of group i. Where persons are spread over processes a sum is told
// of the number of all of them; what a fixed group rests on is its own, which is public.
func (p Public) drawn(ctx context.Context, i int, of draw, src *noise.Source) (*Release, error) {
	if x := src.Sums(); x != nil && p.By.Fixed {
		src.Join(sumsOfGroup{x, p.By.Of[i].Persons})
		defer src.Join(x)
	}
	return of(ctx, src)
}

// sumsOfGroup are sums of so many persons.
type sumsOfGroup struct {
	hook.Sums
	persons int64
}

// Gather implements [hook.Sums].
func (s sumsOfGroup) Gather(own hook.Sum) (hook.Sum, []int64, error) {
	all, noisy, err := s.Sums.Gather(own)
	all.Persons = s.persons
	return all, noisy, err
}

// Sizes counts the persons of d in each of the groups whose sizes are public, and after
// them those in none; nil of every other plan. No other size is asked for, and none may be:
// it is private.
func (p *Plan) Sizes(d *trajectory.Dataset) ([]int64, error) {
	by := p.public.By
	if by == nil || !by.Fixed {
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
	by := p.public.By
	if by == nil || !by.Fixed {
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

// split binds the plan of every group to the persons in it.
func (p Public) split(ctx context.Context, parts []*Plan, d *trajectory.Dataset) ([]draw, error) {
	members, err := p.By.Members(d)
	if err != nil {
		return nil, err
	}
	persons := make([][]int, len(parts))
	for person, i := range members {
		if i >= 0 {
			persons[i] = append(persons[i], person)
		}
	}
	none := int64(len(members))
	for _, of := range persons {
		none -= int64(len(of))
	}
	draws := make([]draw, len(parts))
	for i, part := range parts {
		group := d.Take(persons[i])
		if p.By.Fixed {
			k := min(p.By.Of[i].Persons-int64(len(persons[i])), none)
			none -= max(k, 0)
			pad(group, k)
		}
		if draws[i], err = part.prepare(ctx, group); err != nil {
			return nil, err
		}
	}
	return draws, nil
}

// pad adds persons without a row: those of a fixed group who are in none by their rows.
func pad(group *trajectory.Dataset, persons int64) {
	for range persons {
		group.PersonStart = append(group.PersonStart, group.Episodes())
		if group.PersonID != nil {
			group.PersonID = append(group.PersonID, "")
		}
	}
	group.KeepCounts()
}

// gathered is the release of all groups. It is post-processing of those of each.
func (p Public) gathered(parts []*Plan, found []*Release) (*Release, error) {
	r := &Release{JointConfidence: scalar.Confidence(1)}
	refuted := false
	for _, one := range found {
		refuted = refuted || one.first != ""
	}
	for i, one := range found {
		name := p.By.Of[i].Name
		if refuted && !policy.OnPolicy(p.Target) {
			e, err := paid(one)
			if err != nil {
				return nil, err
			}
			e = parts[i].bounds.Doubt(e)
			one.Estimate.Interval, one.Estimate.Clipping = e.Interval, e.Clipping
		}
		one.Estimate.Confidence = scalar.Confidence(len(parts))
		r.Answers = append(r.Answers, PolicyAnswer{Name: name, Kind: OfGroup, Estimate: one.Estimate, Diagnostics: one.Diagnostics})
		if one.first != "" && r.first == "" {
			r.first = name + ": " + one.first
		}
		for _, note := range one.Notes {
			r.Notes = append(r.Notes, name+": "+note)
		}
	}
	return r, nil
}

// groupsAgain makes the answers of all groups again from their noisy sums.
func (p Public) groupsAgain(parts []*Plan, r *Release) (*Release, error) {
	if len(r.Answers) < len(parts) {
		return nil, fmt.Errorf("answers: %d, and there are %d groups", len(r.Answers), len(parts))
	}
	found := make([]*Release, len(parts))
	for i, part := range parts {
		var err error
		found[i], err = part.outcome(&Release{Estimate: r.Answers[i].Estimate, Diagnostics: r.Answers[i].Diagnostics})
		if err != nil {
			return nil, fmt.Errorf("answers[%d]: %w", i, err)
		}
	}
	return p.gathered(parts, found)
}

// describeGroups tells what is known beforehand.
func (p *Plan) describeGroups(parts []*Plan) {
	var told []ExpectedAnswer
	for i, part := range parts {
		a := ExpectedAnswer{
			Name: p.public.By.Of[i].Name, Kind: OfGroup, Range: p.public.Returns(), MaxWeight: part.bounds.Caps.At(0).Max,
			StdPrivacy: part.Expected.StdPrivacy, StdSampling: part.Expected.StdSampling,
			HalfWidth: part.bounds.Z() * math.Hypot(part.Expected.StdPrivacy, part.Expected.StdSampling),
		}
		if part.bounds.Noise.Clip != 0 {
			a.Choices = part.bounds.Caps.Steps + 1
		}
		told = append(told, a)
	}
	p.Facts["answers"] = told
	for _, fact := range []string{"clip", "confounding"} {
		if v, ok := parts[0].Facts[fact]; ok {
			p.Facts[fact] = v
		}
	}
	p.Expected.Constant = p.public.Returns().Width() / 2
	p.Notes = append(p.Notes, p.words(p.groupsNote(len(parts), parts[0].bounds.Confounded)))
	p.describeEpisodes()
	if p.describeBehavior(parts[0].bounds.Logistic); p.public.Behavior != nil {
		p.Notes = append(p.Notes, p.words("The probabilities of each group are estimated from that group alone, so they may differ between groups."))
	}
	nobody := "is in no group, and no answer is about them."
	if p.public.By.Fixed {
		nobody = "adds nothing to any group; the interval of the group whose public size counts them allows for whatever they would have added."
	}
	p.Notes = append(p.Notes, p.words("A person is in the group that all of their rows name, those of episodes that were left out among them. A person whose rows name two groups or an unlisted value, or who has no row that can be read, "+nobody))
	if _, told := parts[0].Facts["tier"]; told {
		tier{number: 2, why: fewInGroup}.describe(p, nil)
	}
	if p.public.By.Fixed {
		p.Notes = append(p.Notes, p.words("Groups are fixed: the guarantee covers the exchange of a person for another of the same group. Who is in which group, and how many are, is not protected."))
	} else {
		p.Notes = append(p.Notes, p.words("The number of persons in a group is released only with noise. The interval of a small group covers most or all of the public range; nothing else in the release shows that the group is small. Forecasts use the guessed sizes, or equal ones; the intervals do not depend on them."))
	}
}

func (p *Plan) groupsNote(k int, confounded bool) string {
	rests := ""
	if !policy.OnPolicy(p.public.Target) {
		factor := 0.0
		if confounded {
			factor, _ = p.Facts["confounding"].(float64)
		}
		rests = whateverWords + p.restsOn(factor)
	}
	return fmt.Sprintf("All %d intervals, one per group, hold simultaneously with 95%% probability%s. A person is in at most one group, so groups divide the error probability but not the budget.", k, rests)
}

// errDiagnostics refuses diagnostics of groups.
func errDiagnostics(method string) error {
	return fmt.Errorf("%w: %s: diagnostics are of all persons; with by leave the parameter out", ErrMethod, method)
}
