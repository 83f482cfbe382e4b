package scan

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/overview"
	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/trajectory/file"
)

// Validation is what [Validate] found; package discreet documents its fields.
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

// Validate reads the data as an evaluation would and says what is wrong with them: all
// faults at once ([trajectory.FaultsError]), what of them the method would not use,
// and how far they can answer the question. It reads the data twice.
func Validate(ctx context.Context, c config.Config, progress Progress) (*Validation, error) {
	s, err := spec.ForCurator(c)
	if err != nil {
		return nil, err
	}
	if err := CheckFiles(ctx, s); err != nil {
		return nil, err
	}
	o := s.Reading
	o.Progress = progress
	v := &Validation{Unit: evaluate.Person, Rule: spec.ViolationWords(s.Config)}
	if s.Public.Privacy != nil {
		v.Unit = s.Public.Privacy.Unit
	}
	v.Summary, err = file.Validate(ctx, s.Paths, s.Format, o)
	if err != nil && !v.Whole {
		return v, err
	}
	if spec.AsksNothing(c) {
		v.Notices = append(v.Notices, spec.NoQuestion)
	}
	if s.Public.Persons == 0 {
		s = s.Counted(v.Persons)
	}
	plan, planErr := s.Plan()
	if planErr != nil {
		return v, errors.Join(err, planErr)
	}
	v.leftOut(plan)
	faults := []error{err, plan.CheckEnds(!v.EndUnknown), plan.CheckPersons(int64(v.Persons))}
	if err == nil {
		faults = append(faults, v.overview(ctx, s, plan, progress)...)
	}
	return v, distinct(faults)
}

// overview takes the curator's look at the data, and checks them as an evaluation
// would. Where rewards are clipped to their bounds it looks at them as they are, so
// that those beyond are counted.
func (v *Validation) overview(ctx context.Context, s *spec.Spec, plan *evaluate.Plan, progress Progress) []error {
	q := asked{ready: true, warnings: !s.Reading.ClipRewards, report: true}
	a, err := readAll(ctx, s, plan, q, progress)
	if err == nil && a.leftOut > 0 && a.data == nil { // reasons are listed
		if a, err = asOne(ctx, s, progress); err == nil {
			a.bind(ctx, plan, q)
		}
	}
	if err != nil {
		return []error{err}
	}
	v.used(a)
	v.Notices = append(v.Notices, a.notices()...)
	if a.kept == 0 {
		return v.nothing()
	}
	faults := []error{a.fault}
	if a.fault != nil { // it is the first of what may be several
		for _, target := range s.Policies() {
			faults = append(faults, policy.Check(target, a.data))
		}
		if s.Method.NeedFeatures {
			faults = append(faults, feature.Check(s.Public.Features, a.data))
		}
	}
	if s.Reading.ClipRewards {
		if a, err = readAll(ctx, s.Unclipped(), plan, asked{warnings: true, report: true}, progress); err != nil {
			return []error{err}
		}
	}
	if v.Overview, err = a.describe(ctx); err == nil && v.Repaired.Episodes > 0 {
		v.Overview.Warnings = append([]string{v.leftOutShare(a)}, v.Overview.Warnings...)
	}
	return append(faults, err)
}

// used counts what an evaluation would use, without the episodes that the policies
// or the features cannot read.
func (v *Validation) used(a *assembly) {
	v.Episodes, v.Rows = a.kept, a.rows
	r := &v.Repaired
	r.Episodes += a.leftOut
	r.Kinds = append(slices.Clone(r.Kinds), a.repaired.Kinds...)
	r.First = append(slices.Clone(r.First), a.repaired.First...)
	r.First = r.First[:min(len(r.First), mostListed)]
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

// leftOutShare says how much of the data is left out.
func (v *Validation) leftOutShare(a *assembly) string {
	left, all := v.Repaired.Episodes, v.Repaired.Episodes+a.kept
	words := fmt.Sprintf("%s of the episodes, %d of %d, are left out", overview.Percent(float64(left)/float64(all)), left, all)
	if v.Unit != "" && v.Unit != evaluate.Person {
		return words + ": mend the data; the notes of a plan say whether its interval allows for them"
	}
	if v.Overview != nil && v.Overview.Outcome != nil {
		return words + "; what became of persons is counted by arm"
	}
	return words + fmt.Sprintf(", and %d of %d persons have none left: mend the data; the notes of a plan say whether its interval allows for them", a.persons-a.usable, a.persons)
}

// distinct joins errors that say different things: what is checked alone may be
// checked again as part of something else.
func distinct(errs []error) error {
	var texts []string
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool {
		if err == nil || slices.Contains(texts, err.Error()) {
			return true
		}
		texts = append(texts, err.Error())
		return false
	})...)
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
	add(v.Unused.EpisodeDecisions, "beyond the cap on decisions of one episode (problem.episode_horizon)")
	if plan.Bootstraps() && !v.EndUnknown {
		add(v.Unfollowed, "the last of an episode that was cut off, whose next observation is not known: "+plan.Method+" leaves it out with its reward; add next_obs columns, or a last row with the observation alone")
	}
}
