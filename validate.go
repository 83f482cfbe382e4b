package discreet

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/overview"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// Validation is what [Validate] found. It is for the curator of the data alone.
type Validation struct {
	file.Summary
	// Unit is what Persons counts.
	Unit evaluate.Unit
	// Rule says in words what becomes of records that violate what is asked, "" where
	// they are rejected without privacy.
	Rule string
	// NotUsed lists decisions that the method would leave out.
	NotUsed []NotUsed
	// Overview describes the data as the evaluation would use them; nil where they
	// cannot be evaluated.
	Overview *overview.Report
}

// NotUsed counts decisions that are left out for one reason.
type NotUsed struct {
	Decisions int    `json:"decisions"`
	Why       string `json:"why"`
}

// Validate reads the data as [Evaluate] would and says what is wrong with them, all
// faults at once ([trajectory.FaultsError]), what of them the method would not use,
// and how far they can answer the question. It reads the data twice. Nothing is
// released; counts and notices are for the curator alone.
//
// A configuration without target and method, such as a contract is made from, is
// looked at as far as no question is needed; a notice says so.
func Validate(ctx context.Context, c Config, options ...Option) (*Validation, error) {
	alone := c.asksNothing()
	if alone {
		c = c.standIn()
	}
	j, err := newJob(c)
	if err != nil {
		return nil, err
	}
	if alone {
		j.options.Need |= c.Data.stated()
	}
	j.set(options)
	if err := j.readable(); err != nil {
		return nil, err
	}
	o := j.options
	o.Progress = j.progress
	v := &Validation{Unit: evaluate.Person, Rule: c.violationWords()}
	if j.public.Privacy != nil {
		v.Unit = j.public.Privacy.Unit
	}
	v.Summary, err = file.Validate(ctx, j.paths(), c.Data.Format, o)
	if err != nil && !v.Whole {
		return v, err
	}
	if alone {
		v.Notices = append(v.Notices, noQuestion)
	}
	if j.public.Persons == 0 {
		j.public.Persons = int64(v.Persons)
	}
	plan, planErr := j.estimator.Plan(j.public)
	if planErr != nil {
		return v, errors.Join(err, planErr)
	}
	v.leftOut(plan)
	facts := []error{err, plan.CheckEnds(!v.EndUnknown), plan.CheckPersons(int64(v.Persons))}
	if err == nil {
		facts = append(facts, j.overview(ctx, plan, v)...)
	}
	return v, distinct(facts)
}

// overview takes the curator's look at the data, and checks them as an evaluation
// would. Where rewards are clipped to their bounds it looks at them as they are, so
// that those beyond are counted.
func (j *job) overview(ctx context.Context, plan *evaluate.Plan, v *Validation) []error {
	data, _, err := j.read(ctx)
	if err != nil {
		return []error{err}
	}
	v.used(data, j.unfit)
	v.Notices = append(v.Notices, j.unfitNotice(data.Episodes()+j.unfit.Episodes)...)
	if data.Episodes() == 0 {
		return v.nothing()
	}
	_, fault := plan.Check(ctx, data)
	faults := []error{fault}
	if fault != nil { // it is the first of what may be several
		for _, target := range policies(j.public) {
			faults = append(faults, policy.Check(target, data))
		}
		if j.method.NeedFeatures {
			faults = append(faults, feature.Check(j.public.Features, data))
		}
	}
	if j.options.ClipRewards {
		j.options.Reward, j.options.ClipRewards = nil, false
		if data, _, err = j.read(ctx); err != nil {
			return []error{err}
		}
	}
	if v.Overview, err = j.look(ctx, data, plan); err == nil && v.Repaired.Episodes > 0 {
		v.Overview.Warnings = append([]string{v.share(data)}, v.Overview.Warnings...)
	}
	return append(faults, err)
}

// used counts what an evaluation would use, without the episodes that the policies
// or the features cannot read.
func (v *Validation) used(data *trajectory.Dataset, unfit trajectory.Repaired) {
	v.Episodes, v.Rows = data.Episodes(), data.Rows()
	r := &v.Repaired
	r.Episodes += unfit.Episodes
	r.Kinds = append(slices.Clone(r.Kinds), unfit.Kinds...)
	r.First = append(slices.Clone(r.First), unfit.First...)
	r.First = r.First[:min(len(r.First), toldLeftOut)]
}

// nothing says that all episodes are left out, and for what: an evaluation would
// answer from none, and so it does not fail, which would tell of the data.
func (v *Validation) nothing() []error {
	faults := &trajectory.FaultsError{First: v.Repaired.First, Kinds: v.Repaired.Kinds}
	for _, k := range faults.Kinds {
		faults.Total += k.Faults
	}
	return []error{&trajectory.InputError{What: "no episode can be used: all are left out for what follows", Remedy: "an evaluation would answer from noise alone", Kind: trajectory.ErrEmpty}, faults}
}

// share says how much of the data is left out.
func (v *Validation) share(data *trajectory.Dataset) string {
	left, all := v.Repaired.Episodes, v.Repaired.Episodes+data.Episodes()
	words := fmt.Sprintf("%s of the episodes, %d of %d, are left out", overview.Percent(float64(left)/float64(all)), left, all)
	if v.Unit != "" && v.Unit != evaluate.Person {
		return words + ", and count as nothing: mend the data, or the answer is about the rest"
	}
	none := 0
	for p := range data.Persons() {
		if data.PersonStart[p] == data.PersonStart[p+1] {
			none++
		}
	}
	return words + fmt.Sprintf(", and %d of %d persons have none left and count as nothing: mend the data, or the answer is about the rest", none, data.Persons())
}

// distinct joins errors that say different things: what is checked alone may be
// checked again as part of something else.
func distinct(errs []error) error {
	var told []string
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool {
		if err == nil || slices.Contains(told, err.Error()) {
			return true
		}
		told = append(told, err.Error())
		return false
	})...)
}

// look describes the data for their curator.
func (j *job) look(ctx context.Context, data *trajectory.Dataset, plan *evaluate.Plan) (*overview.Report, error) {
	r, err := lookAt(j, data, j.publicFacts(plan), overview.Look, func(r *overview.Report) *[]string { return &r.Warnings })
	if err != nil {
		return nil, err
	}
	r.Warnings, err = j.doubted(ctx, r.Warnings)
	return r, err
}

// doubts are the warnings that look would give.
func (j *job) doubts(ctx context.Context, data *trajectory.Dataset, plan *evaluate.Plan) ([]string, error) {
	warn := func(d *trajectory.Dataset, f overview.Facts) (*[]string, error) {
		told, err := overview.Warn(d, f)
		return &told, err
	}
	told, err := lookAt(j, data, j.publicFacts(plan), warn, func(told *[]string) *[]string { return told })
	if err != nil {
		return nil, err
	}
	return j.doubted(ctx, *told)
}

// doubted adds what contradicts the configuration.
func (j *job) doubted(ctx context.Context, told []string) ([]string, error) {
	for _, look := range []func(context.Context) (string, error){j.contradiction, j.cutOff} {
		doubt, err := look(ctx)
		if err != nil {
			return told, err
		}
		if doubt != "" {
			told = append(told, doubt)
		}
	}
	return told, nil
}

// publicFacts are what the data are held against, but for a target policy where there
// are several.
func (j *job) publicFacts(plan *evaluate.Plan) overview.Facts {
	p := j.config.Problem
	f := overview.Facts{Persons: p.Persons, Gamma: j.public.Gamma, Horizon: p.Horizon, Return: p.Return, Target: j.public.Target}
	f.Lower = j.public.Privacy != nil && j.public.Privacy.Adjacency == dp.AddRemoveOne
	if j.public.OneDecision {
		f.Horizon = 1
	}
	if p.Reward != nil {
		f.Reward = &p.Reward.Range
	}
	f.Cap = plan.TrajectoryCap()
	f.Words = j.config.Data.words()
	f.Estimated, f.Features = j.public.Behavior, j.public.Features
	return f
}

// lookAt describes the data beside the policy, or beside the first that is not the
// logged one; what is doubtful about another of several is a warning with its name.
func lookAt[T any](j *job, data *trajectory.Dataset, f overview.Facts, look func(*trajectory.Dataset, overview.Facts) (*T, error), warnings func(*T) *[]string) (*T, error) {
	if j.public.Targets == nil {
		return look(data, f)
	}
	var first *T
	for _, a := range j.public.Targets.Policies {
		if policy.OnPolicy(a.Policy) {
			continue
		}
		f.Target = a.Policy
		r, err := look(data, f)
		if err != nil {
			return nil, err
		}
		if first == nil {
			first = r
			continue
		}
		told := warnings(first)
		for _, w := range *warnings(r) {
			if !slices.Contains(*told, w) {
				*told = append(*told, "policy "+a.Name+": "+w)
			}
		}
	}
	return first, nil
}

// leftOut lists what the caps and the method leave out.
func (v *Validation) leftOut(plan *evaluate.Plan) {
	add := func(n int, why string) {
		if n > 0 {
			v.NotUsed = append(v.NotUsed, NotUsed{n, why})
		}
	}
	add(v.Unused.Episodes, "beyond the cap on episodes (problem.episodes)")
	add(v.Unused.Horizon, "beyond the cap on decisions (problem.horizon)")
	if plan.Bootstraps() && !v.EndUnknown {
		add(v.Unfollowed, "the last of an episode that was cut off, whose next observation is not known: "+plan.Method+" leaves it out with its reward; add next_obs columns, or a last row with the observation alone")
	}
}
