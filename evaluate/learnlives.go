package evaluate

import (
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/survival"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/internal/xmath"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// oneSidedZ is at which each limit of an answer fails with 5%.
var oneSidedZ = xmath.NormQuantile(0.95)

// follows plans the other half where the outcome is a time: a person adds 1 to one cell, of the arm, the action
// that the rule would take, and how the person left.
func (q *learnQuestion) follows(m DPLearn, method string, persons int64) error {
	p := q.public
	refuse := func(sentinel error, text string, args ...any) error {
		return fmt.Errorf("%w: %s: "+text, append([]any{sentinel, method}, args...)...)
	}
	o := p.Outcome
	switch d := p.Design; {
	case o.Event == "":
		return refuse(ErrPublic, "data.outcome counts decisions of trajectories, and a rule for the time to an event is learned of one decision; name the columns time and event")
	case o.Strata != nil:
		return refuse(ErrPublic, "data.outcome.strata is given, and the parts of the rule are the strata here; leave it out, and give the rule the column as one of features")
	case m.MaxWeight != 0:
		return refuse(ErrMethod, "max_weight caps weights, and with data.outcome the half that judges has none; leave it out")
	case d == nil || !d.Supported || d.Varies:
		return refuse(ErrPublic, "with data.outcome arms are compared within parts of the rule, as if drawn by lot there; give data.behavior as {source: design, kind: uniform, actions: %d}, or other probabilities above 0 that are the same for all", q.grid.Actions)
	}
	judged := p.judging(nil, persons)
	if q.epsilons != nil {
		judged = judged.withNoise("") // the family of draws is not that of counts
	} else if p.Privacy.NoiseFamily == "" {
		judged = judged.withNoise(GaussianNoise)
	}
	k := q.grid.Actions
	one := survivalQuestion{public: judged}
	one.Layout = survival.Layout{Arms: k, Strata: k, Bins: len(o.Ends), Causes: 1, Missing: !p.Complete}
	one.Ends, one.Grouped, one.Control, one.Until = o.Ends, o.Grouped, -1, len(o.Ends)
	q.most = slices.Max(p.Design.Ratios)
	one.Rarest = q.most
	if o.Censoring == anyCensoring || o.Censoring == unanticipatedCensoring {
		one.Form = survival.Lived
	}
	if n := one.Cells(); n > mostCells {
		return refuse(ErrPublic, "actions and bins make %d cells; want at most %d: take fewer bins", n, mostCells)
	}
	all, err := one.noises()
	if err != nil {
		return err
	}
	width := math.Inf(1)
	for i := range all {
		q.lives = &all[i]
		wide := 0.0
		for _, a := range q.expectedLives() {
			wide += a.HalfWidth
		}
		if wide *= 1 + 1e-6*all[i].SD; wide < width {
			one, width = all[i], wide
		}
	}
	q.lives, q.judge.public = &one, judged
	h, err := one.histogram()
	if err != nil {
		return err
	}
	q.judge.event = h.Event()
	return nil
}

// lifeNames are those of the answers, that over the logged policy first.
func (q *learnQuestion) lifeNames() []string {
	names := []string{learnedName + contrastSign + loggedPolicy}
	for a := range q.grid.Actions {
		names = append(names, learnedName+contrastSign+fmt.Sprintf(actionName, a))
	}
	return names
}

// expectedLives is what is expected where all parts and arms are alike.
func (q *learnQuestion) expectedLives() (all []ExpectedAnswer) {
	x, total := q.lives, q.public.Outcome.until()
	cells := x.guessedOf(nil, func(int) float64 { return float64(x.public.Persons) / float64(x.Arms) })
	for i, g := range x.Gains(cells, everyPart(x.Strata), 0, oneSidedZ) {
		all = append(all, ExpectedAnswer{Name: q.lifeNames()[i], Kind: OfContrast, Range: Range{-total, total}, StdPrivacy: g.StdPrivacy, HalfWidth: (g.Upper - g.Lower) / 2})
	}
	return all
}

func everyPart(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// aboutLives is what is known beforehand.
func (q *learnQuestion) aboutLives() summary {
	x, p, total := q.lives, q.public, q.public.Outcome.until()
	answers := q.expectedLives()
	s := summary{facts: map[string]any{"answers": answers, "until": total, "form": "curves"}}
	s.expected.Constant = total
	for _, a := range answers[1:] {
		s.expected.StdPrivacy, s.expected.HalfWidth = max(s.expected.StdPrivacy, a.StdPrivacy), max(s.expected.HalfWidth, a.HalfWidth)
	}
	rests := "Assumes that arms were drawn by lot, and that censoring is independent of the time to the event within each arm of each part of the rule: whoever left at some time would have fared like those who stayed. If they left because they did badly, or well, certificates are wrong, and nothing in this release shows it. Censoring may differ between arms and parts."
	if x.Form != survival.Curves {
		s.facts["form"] = "limits"
		rests = "Assumes that arms were drawn by lot, and nothing of censoring: of those who get what the rule says the censored count as alive until they left, of the others to the end."
	}
	s.heading = []string{p.words(rests)}
	s.notes = []string{"", p.words(fmt.Sprintf("A gain is one in the mean of the %s, or of %g where that is less. What is expected of intervals supposes that half of the persons would have an event by the last bin, that half would leave by then for other reasons, and that every part of the rule is as large.", p.Outcome.words(), total))}
	if x.Missing {
		s.notes = append(s.notes, p.words("Persons whose outcome cannot be used are counted with noise, and certificates allow for whatever became of them."))
	}
	return s
}

// sole is the row of a person of whom all is known, and how the person left. It looks at that person's records alone.
func (q *learnQuestion) sole(d *trajectory.Dataset, person, event int, columns []int) (row int, x exit, ok bool) {
	e := d.PersonStart[person]
	if d.PersonStart[person+1] != e+1 || d.LeftOut != nil && d.LeftOut[person] > 0 || d.EpisodeStart[e+1] != d.EpisodeStart[e]+1 {
		return 0, x, false
	}
	row = d.EpisodeStart[e]
	x = q.public.Outcome.exitOf(d, e, event)
	_, known := q.place(nil, d.Observation(row), columns)
	return row, x, known && x.usable && d.Action[row] >= 0 && int(d.Action[row]) < q.grid.Actions
}

// eventColumn is where the data say what ended a time.
func (q *learnQuestion) eventColumn(d *trajectory.Dataset) (int, error) {
	name := q.public.Outcome.Event
	column := d.Column(name)
	if column < 0 {
		return 0, fmt.Errorf("%w: data.outcome.event: the data were read without %s", ErrData, name)
	}
	return column, nil
}

// lost counts the persons of whom not all is known.
func (q *learnQuestion) lost(d *trajectory.Dataset) (n int, err error) {
	event, err := q.eventColumn(d)
	if err != nil {
		return 0, err
	}
	columns, err := q.columns(d)
	if err != nil {
		return 0, err
	}
	for person := range d.Persons() {
		if _, _, ok := q.sole(d, person, event, columns); !ok {
			n++
		}
	}
	return n, nil
}

// followUp adds the persons who judge to the cells, and releases what follows.
func (q *learnQuestion) followUp(parts []*value.Part, judge []int, learned policy.Policy, sums [][]float64, src *noise.Source) (*Release, error) {
	h, err := q.lives.histogram()
	if err != nil {
		return nil, err
	}
	var at []int
	before := 0
	chances := make([]float64, q.grid.Actions)
	for d := range value.Datasets(parts) {
		event, err := q.eventColumn(d)
		if err != nil {
			return nil, err
		}
		columns, err := q.columns(d)
		if err != nil {
			return nil, err
		}
		says, err := learned.Bind(d)
		if err != nil {
			return nil, err
		}
		for ; len(judge) > 0 && judge[0] < before+d.Persons(); judge = judge[1:] {
			row, x, ok := q.sole(d, judge[0]-before, event, columns)
			if ok = ok && says.Distribution(chances, row); !ok {
				at = append(at, q.lives.Unknown())
				continue
			}
			part, arm := slices.Index(chances, slices.Max(chances)), int(d.Action[row])
			if x.end {
				at = append(at, q.lives.End(arm, part))
			} else {
				at = append(at, q.lives.Exit(arm, part, x.bin, min(x.cause, 1)))
			}
		}
		before += d.Persons()
	}
	share := []float64{1}
	noisy, err := mechanism.Total(h, len(at), func(i int) error {
		if at[i] < 0 {
			return nil
		}
		return h.AddShares(at[i:i+1], share)
	}, src)
	if err != nil {
		return nil, err
	}
	return q.certified(q.judged(noisy, sums), sums), nil
}

// judged is the release of noisy cells.
func (q *learnQuestion) judged(noisy []float64, sums [][]float64) *Release {
	x, lost := q.lives, 0.0
	if x.Missing {
		lost = noisy[x.Unknown()]
	}
	r := &Release{Diagnostics: map[string]any{cellsName: noisy}}
	found := x.Gains(noisy, q.parts(sums), lost, oneSidedZ)
	r.JointConfidence = max(1-0.1*float64(len(found)), 0.1)
	for i, g := range found {
		e := x.estimate(g, 1)
		e.Confidence = 0.9
		r.Answers = append(r.Answers, PolicyAnswer{Name: q.lifeNames()[i], Kind: OfContrast, Estimate: e})
	}
	return r
}

// parts are the actions that the rule gives to anybody.
func (q *learnQuestion) parts(sums [][]float64) (taken []int) {
	f := q.policy(sums)
	if f.Nodes == nil {
		return everyPart(q.grid.Actions)
	}
	for a := range q.grid.Actions {
		if slices.ContainsFunc(f.Nodes, func(n policy.Node) bool { return n.Threshold == nil && n.Probs[a] == 1 }) {
			taken = append(taken, a)
		}
	}
	return taken
}

// followedAgain makes the release of its noisy cells.
func (q *learnQuestion) followedAgain(r *Release, sums [][]float64) (*Release, error) {
	noisy, err := q.lives.countsOf(r)
	if err != nil {
		return nil, err
	}
	return q.judged(noisy, sums), nil
}
