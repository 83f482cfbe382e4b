package examine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/audit"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/replay"
	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/internal/rl/trajectory/probe"
	"github.com/discreet-rl/discreet/rl/policy"
)

// ErrJob marks a plan that cannot be audited.
var ErrJob = fault.Input("cannot be audited")

const (
	// few persons take part in runs where the plan for them costs what that of the
	// configuration does: one counts for most among few, and runs are quick.
	few = 6
	// pairsTried of them, and pairsWhole of as many persons as the configuration has,
	// where these have few enough decisions.
	pairsTried = 140
	pairsWhole = 14
	// pairsOutside are tried where a release is looked at from outside, a few of them at length.
	pairsOutside = 14
	rowsWhole    = 20_000
	// runsBrief of each of them test the law of the noise.
	runsBrief = 4
	// runsSelf is the number of runs of each world in the self-test.
	runsSelf = 2000
	// share of mu that a lower bound is to show, with at most mostRuns of each world;
	// blindRuns where a release is looked at from outside.
	share     = 0.93
	mostRuns  = 400_000
	blindRuns = 20_000
	// slowest is how long a run may take, so that an audit ends.
	slowest = 20 * time.Millisecond
)

// Job is a plan to audit.
type Job struct {
	Estimator evaluate.Estimator
	Public    evaluate.Public
	// Columns names the observations that features and policies read, and Behaviour is
	// the policy that made the data, nil where its probabilities are recorded.
	Columns   []string
	Behaviour policy.Policy
	// Seed makes another audit; the same one gets the same answer.
	Seed uint64
	// Runs of each world for the lower bound; 0 for as many as are expected to show 93%
	// of mu, at most 400,000.
	Runs int
	// Reading is how the data are read; nil where that is not looked at.
	Reading *probe.Job
	// Progress is called before each part; nil for none.
	Progress func(part string)

	persons int64 // that take part in runs
}

// Report says what was done and seen.
type Report struct {
	Method    string       `json:"method"`
	Adjacency dp.Adjacency `json:"adjacency"`
	Event     dp.Event     `json:"event"`
	Claim     audit.Claim  `json:"claim"`
	// Persons took part in runs. SameEvent tells whether the plan for so many has the
	// event of the configuration, noise for noise.
	Persons   int64 `json:"persons"`
	SameEvent bool  `json:"same_event"`
	// SelfTest has one line for each mistake that could be planted.
	SelfTest []Planted `json:"self_test"`
	// Missed names the mistakes that the self-test did not find: of such this audit would
	// not tell in the plan either.
	Missed []string `json:"missed"`
	// Replayed pairs, of which the worst needs Worst of the mu^2 that is paid for, or of
	// the epsilon of a choice; 0 where a replay cannot follow the plan.
	Replayed  int     `json:"replayed_pairs"`
	Worst     float64 `json:"worst_share_of_mu_squared"`
	WorstKind string  `json:"worst_pair"`
	// Found is the lower bound and Power what so many runs can find, of a claim with a mu.
	Found *audit.Found `json:"found,omitempty"`
	Runs  int          `json:"runs"`
	Power *audit.Power `json:"power,omitempty"`
	// Reading is what was seen of reading; nil where it was not looked at.
	Reading *probe.Report `json:"reading,omitempty"`
	// Broken lists what refutes the claim, or is wrong about reading, and Missing what was not looked at.
	Broken  []string `json:"broken"`
	Missing []string `json:"not_looked_at"`
	Seconds float64  `json:"seconds"`
}

// Verdict says in a line what became of the claim, and what the self-test did not find.
func (r *Report) Verdict() string {
	switch {
	case len(r.Broken) > 0:
		return "the claim is refuted"
	case len(r.Missed) == 0:
		return "within the claim, as far as was tested"
	}
	return fmt.Sprintf("within the claim, as far as was tested; the self-test missed %d of %d planted bugs: %s", len(r.Missed), len(r.SelfTest), strings.Join(r.Missed, ", "))
}

// Planted is a mistake of the self-test.
type Planted struct {
	Mistake string `json:"mistake"`
	Found   bool   `json:"found"`
	By      string `json:"by,omitempty"`
}

// Plan audits.
func Plan(ctx context.Context, j Job) (*Report, error) {
	began := time.Now()
	whole, err := j.Estimator.Plan(j.Public)
	if err != nil {
		return nil, err
	}
	if whole.Privacy == nil {
		return nil, fmt.Errorf("%w: privacy: none claims nothing", ErrJob)
	}
	if err := j.enough(whole); err != nil {
		return nil, err
	}
	s, err := j.subject(ctx)
	if err != nil {
		return nil, err
	}
	r := &Report{Method: whole.Method, Adjacency: whole.Privacy.Adjacency, Event: whole.Event, Claim: s.claim, Persons: j.persons,
		SameEvent: reflect.DeepEqual(s.event, whole.Event), Broken: []string{}, Missed: []string{}, Missing: j.missing(whole, s)}
	if err := j.selfTest(ctx, s, r); err != nil {
		return nil, err
	}
	if err := j.looks(ctx, s, r); err != nil {
		return nil, err
	}
	if err := j.whole(ctx, whole, s, r); err != nil {
		return nil, err
	}
	if err := j.reading(ctx, r); err != nil {
		return nil, err
	}
	if err := r.entropy(); err != nil {
		return nil, err
	}
	r.Seconds = time.Since(began).Seconds()
	return r, nil
}

// reading looks at how small files are read in which one record is odd.
func (j *Job) reading(ctx context.Context, r *Report) error {
	if j.Reading == nil {
		r.Missing = append(r.Missing, "reading: whether a record changes how others are read")
		return nil
	}
	j.tell("reading")
	seen, err := probe.Reader(ctx, *j.Reading)
	if errors.Is(err, probe.ErrJob) {
		r.Missing = append(r.Missing, "reading: "+err.Error())
		return nil
	}
	if err != nil {
		return err
	}
	r.Reading = seen
	if !seen.Stretches {
		r.Missing = append(r.Missing, "reading: long files by stretches (tested of csv alone, where records of these options are accepted)")
	}
	for _, m := range seen.SelfTest {
		planted := Planted{Mistake: m.Mistake, Found: m.Found}
		if m.Found {
			planted.By = "reader replay"
		} else {
			r.Missed = append(r.Missed, m.Mistake)
		}
		r.SelfTest = append(r.SelfTest, planted)
	}
	for _, b := range seen.Broken {
		r.Broken = append(r.Broken, "reader replay: "+b)
	}
	return nil
}

func (j *Job) tell(format string, args ...any) {
	if j.Progress != nil {
		j.Progress(fmt.Sprintf(format, args...))
	}
}

// enough finds a small number of persons whose plan there is and has the event and the parts of
// the whole one, by factors of eight: where noise depends on their number, runs are of all, as long
// as these are not too many. If none has all parts, runs are of the fewest with the event.
func (j *Job) enough(whole *evaluate.Plan) error {
	var first error
	var withEvent int64
	for n := int64(few); ; n *= 8 {
		j.persons = min(n, j.Public.Persons)
		if j.persons > few && float64(j.persons)*float64(j.Public.Horizon) > rowsWhole {
			break
		}
		plan, err := j.Estimator.Plan(j.small())
		if err == nil && reflect.DeepEqual(plan.Event, whole.Event) {
			if len(lacking(whole, plan)) == 0 {
				return nil
			}
			withEvent = cmp.Or(withEvent, j.persons)
		}
		if first == nil {
			first = err
		}
		if j.persons == j.Public.Persons {
			break
		}
	}
	if j.persons = withEvent; j.persons > 0 {
		return nil
	}
	j.persons = min(few, j.Public.Persons)
	if first != nil {
		return fmt.Errorf("%w: %d persons are too many to run, and of the plan for %d: %w", ErrJob, j.Public.Persons, j.persons, first)
	}
	return nil
}

// lacking names the facts of a plan that another does not tell.
func lacking(whole, plan *evaluate.Plan) (names []string) {
	for name := range whole.Facts {
		if _, ok := plan.Facts[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// small are the facts with the persons who take part in runs.
func (j *Job) small() evaluate.Public {
	p := j.Public
	if p.Persons = j.persons; j.persons != j.Public.Persons {
		p.By = p.By.Shrunk(j.persons)
	}
	privacy := *p.Privacy
	privacy.LargeDelta = true // for few persons any delta is large
	p.Privacy = &privacy
	return p
}

// replacing are facts under which a person is replaced.
func replacing(p evaluate.Public) evaluate.Public {
	privacy := *p.Privacy
	privacy.Adjacency = dp.ReplaceOne
	p.Privacy = &privacy
	return p
}

// subject is the plan that runs, as it is.
func (j *Job) subject(ctx context.Context) (*subject, error) {
	public := j.small()
	plan, err := j.Estimator.Plan(public)
	if err != nil {
		return nil, fmt.Errorf("%w: the plan for %d persons: %w", ErrJob, public.Persons, err)
	}
	s := &subject{plan: plan, event: plan.Event, seed: j.Seed}
	if s.claim, err = audit.NewClaim(plan.Event, public.Privacy.Adjacency, public.Privacy.Budget.Delta); err != nil {
		return nil, err
	}
	if s.pairs, err = j.pairs(plan, public, pairsTried); err != nil {
		return nil, err
	}
	s.sums = s.claim.Mu > 0 && !public.Privacy.Fast
	s.counts, s.counted = replay.LaplaceEpsilon(plan.Event, public.Privacy.Adjacency)
	s.joins = (s.sums || s.counts > 0) && plan.InParts() == nil
	if e, ok := plan.Event.(dp.PermuteAndFlip); ok {
		s.chooses = e.Epsilon
	}
	if e, ok := plan.Event.(dp.ApproximateDP); ok && e.Delta > 0 {
		s.halves = dp.Budget(e)
	}
	if !s.sums {
		s.pairs, s.outside = s.pairs[:pairsOutside], 2
	}
	if s.runs = j.Runs; s.runs == 0 {
		s.runs = blindRuns
		if s.sums {
			s.runs = audit.Enough(s.claim.Mu, share, audit.DefaultFalseAlarm/2, mostRuns)
		}
	}
	if err := s.quick(ctx); err != nil || s.sums {
		return s, err
	}
	j.tell("choosing neighbours")
	return s, s.choose(ctx)
}

// quick refuses a plan of which even the quickest of some runs takes too long to be
// made thousands of times.
func (s *subject) quick(ctx context.Context) error {
	least := time.Duration(math.MaxInt64)
	for i := range 5 {
		began := time.Now()
		if _, err := s.pairs[0].run(ctx, false, s.seeded(0, i)); err != nil {
			return err
		}
		if least = min(least, time.Since(began)); least <= slowest {
			return nil
		}
	}
	return fmt.Errorf("%w: one run takes %v, and an audit makes thousands; audit fewer iterations or states", ErrJob, least.Round(time.Millisecond))
}

// selfTest plants every mistake that this plan can have.
func (j *Job) selfTest(ctx context.Context, s *subject, r *Report) error {
	width := 0
	if s.sums {
		shown, err := replay.Draw(ctx, s.pairs[0].run, false, s.seed)
		if err != nil {
			return nil // a replay of the plan itself will say so
		}
		for _, sum := range shown.Noise {
			width += len(sum)
		}
	}
	for _, m := range mistakes {
		if err := ctx.Err(); err != nil {
			return err
		}
		j.tell("self-test: %s", m.name)
		planted := *s
		planted.runs = min(s.runs, runsSelf)
		spoiled, err := m.plant(j, planted, width)
		if err != nil {
			return err
		}
		if spoiled == nil {
			continue
		}
		o, err := spoiled.examine(ctx, true)
		if err != nil {
			return fmt.Errorf("self-test, %s: %w", m.name, err)
		}
		r.SelfTest = append(r.SelfTest, Planted{m.name, o.by != "", o.by})
		if o.by == "" {
			r.Missed = append(r.Missed, m.name)
		}
	}
	return nil
}

// looks at the plan as it is.
func (j *Job) looks(ctx context.Context, s *subject, r *Report) error {
	j.tell("the plan itself: %d pairs of neighbouring datasets, %d runs on each dataset of the worst pair", len(s.pairs), s.runs)
	o, err := s.examine(ctx, false)
	if err != nil {
		return err
	}
	r.Broken = append(r.Broken, o.broken...)
	r.WorstKind = s.pairs[o.at].Kind
	if s.followed() {
		r.Replayed, r.Worst = len(s.pairs), o.worst
	}
	if o.sampled {
		r.Found, r.Runs = &o.found, s.runs
	}
	if o.sampled && s.claim.Mu > 0 {
		power := s.claim.Power(s.runs, audit.DefaultFalseAlarm/2)
		r.Power = &power
	}
	return nil
}
