package discreet

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Values of data.on_violation.
const (
	onViolationRepair = "repair"
	onViolationReject = "reject"
)

// recordsComplete is the value of problem.records that says that nothing is lost.
const recordsComplete = "complete"

// complete tells that the curator states that nothing is lost; then nothing is repaired.
func (c Config) complete() bool { return c.Problem.Records == recordsComplete }

// validateRecords refuses keys that repair what is stated to need no repair.
func (c Config) validateRecords() error {
	if !c.complete() {
		if c.Problem.Records != "" {
			return fmt.Errorf("%w: problem.records is %q; want complete, or leave the key out", ErrConfig, c.Problem.Records)
		}
		return nil
	}
	refuse := func(key, value string) error {
		if value == "" || value == onViolationReject {
			return nil
		}
		return fmt.Errorf("%w: problem.records is complete, so that nothing is repaired, and %s is %s; leave one of them out", ErrConfig, key, value)
	}
	outside := ""
	if b := c.Problem.Reward; b != nil {
		outside = b.Outside
	}
	return errors.Join(refuse("data.on_violation", c.Data.OnViolation), refuse("data.missing", c.Data.Missing), refuse("problem.reward.outside", outside))
}

// repairs tells whether a record that violates what is asked is repaired. It is the
// default with privacy: that a run fails tells of the data, and costs nothing.
func (c Config) repairs() bool {
	if c.complete() {
		return false
	}
	if c.Data.OnViolation == "" {
		return !c.Privacy.None
	}
	return c.Data.OnViolation == onViolationRepair
}

// missingRule and outsideRule are what their keys say and, where they say nothing,
// what on_violation does.
func (c Config) missingRule() string {
	switch {
	case c.Data.Missing != "":
		return c.Data.Missing
	case c.repairs():
		return "zero"
	}
	return onViolationReject
}

func (c Config) outsideRule() string {
	switch b := c.Problem.Reward; {
	case b != nil && b.Outside != "":
		return b.Outside
	case c.repairs():
		return "clip"
	}
	return onViolationReject
}

// violationWords says to a reader of a release what became of records that violate
// what is asked; nothing for a reference that rejects them.
func (c Config) violationWords() string {
	if !c.repairs() {
		if c.Privacy.None {
			return ""
		}
		return "reject: an invalid record makes the run fail, which reveals something about the data outside the guarantee"
	}
	var words []string
	say := func(reject bool, refused, repaired string) {
		if reject {
			repaired = refused
		}
		words = append(words, repaired)
	}
	say(c.outsideRule() == onViolationReject, "a reward outside its range makes the run fail", "a reward outside its range is moved to the nearer end")
	switch c.missingRule() {
	case "mean":
		words = append(words, "a missing observation becomes the public mean of its column")
	default:
		say(c.missingRule() == onViolationReject, "a missing observation makes the run fail", "a missing observation becomes 0")
		if c.missingRule() == "zero" && c.encodesObservation() {
			words = append(words, "an episode with a missing word in an observation that is read by a vocabulary, as number for word, is left out")
		}
	}
	words = append(words, "an episode with any other unusable value is left out")
	return c.Privacy.unit().Words("repair: " + strings.Join(words, ", ") + "; the number of persons does not change")
}

// encodesObservation reports whether numbers of an observation stand for words, so that 0
// cannot stand for a missing one.
func (c Config) encodesObservation() bool {
	for name, v := range c.Data.Encode {
		switch name {
		case "action", "reward", "terminated", "truncated":
		default:
			if !v.OneHot {
				return true
			}
		}
	}
	return false
}

// probabilityColumns are the observations in which no value may be replaced.
func probabilityColumns(c Config) []string {
	var names []string
	for _, t := range c.asked() {
		if t.Kind == "columns" {
			names = append(names, t.Names...)
		}
	}
	if b := c.Data.Behavior; b != nil && b.Kind == "columns" {
		names = append(names, b.Names...)
	}
	return names
}

// allMeans asks for the public mean of every observation before the data are
// opened: to fail at the first missing value would tell of it.
func (c Config) allMeans(o *trajectory.Options) error {
	for _, name := range o.Observations {
		if _, ok := o.Means[name]; !ok && !slices.Contains(o.Whole, name) {
			return fmt.Errorf("%w: data.missing is mean, and data.means has no public mean of %s; give it", ErrConfig, name)
		}
	}
	return nil
}

// fit gives the data the probabilities of a behaviour policy that is known from
// elsewhere, and none where they are to be estimated. Where violations are repaired it
// leaves out the episodes that the policies or the features cannot read, and keeps
// which in unfit.
func (j *job) fit(d *trajectory.Dataset) (*trajectory.Dataset, error) {
	j.unfit = trajectory.Repaired{}
	if j.public.Behavior == nil {
		return j.fitted(d)
	}
	sure := *d
	sure.BehaviorProb = slices.Repeat([]float64{1}, d.Rows())
	kept, err := j.fitted(&sure)
	if err != nil {
		return nil, err
	}
	bare := *kept
	bare.BehaviorProb = nil
	return &bare, nil
}

func (j *job) fitted(d *trajectory.Dataset) (*trajectory.Dataset, error) {
	cells, err := j.public.Behavior.Map()
	if err != nil {
		return nil, err
	}
	if !j.options.Repair {
		if cells != nil {
			if err := feature.Check(cells, d); err != nil {
				return nil, err
			}
		}
		if j.behaviour == nil {
			return d, nil
		}
		return policy.WithBehavior(d, j.behaviour)
	}
	read, behaviour := d, j.behaviour
	for _, target := range policies(j.public) {
		all := read
		kept, n, err := policy.Repair(all, target, behaviour)
		if err != nil {
			return nil, err
		}
		j.leaveOut(all, kept, n, func(e int) trajectory.InputError { return j.unreadable(all, e) })
		read, behaviour = kept, nil // which has its probabilities now
	}
	if cells != nil {
		if read, err = j.seen(read, cells, "the cells of data.behavior"); err != nil {
			return nil, err
		}
	}
	if j.public.Features == nil {
		return read, nil
	}
	return j.seen(read, j.public.Features, "the features")
}

// seen leaves out the episodes that a map cannot read.
func (j *job) seen(d *trajectory.Dataset, m feature.Map, name string) (*trajectory.Dataset, error) {
	out, n, err := feature.Repair(m, d)
	if err != nil {
		return nil, err
	}
	j.leaveOut(d, out, n, func(int) trajectory.InputError {
		return trajectory.InputError{Column: strings.Join(m.Columns(), ", "), What: "has an observation that " + name + " cannot read",
			Remedy: "mend or drop these rows, or choose others in place of " + name, Kind: feature.ErrObservation}
	})
	return out, nil
}

// leaveOut notes the n episodes that a step of fit did not keep: where they begin,
// and why.
func (j *job) leaveOut(all, kept *trajectory.Dataset, n int, why func(episode int) trajectory.InputError) {
	if n == 0 {
		return
	}
	u := &j.unfit
	u.Episodes += n
	for e, k := 0, 0; e < all.Episodes(); e++ {
		if k < kept.Episodes() && all.FirstRow[e] == kept.FirstRow[k] && all.Origin[e] == kept.Origin[k] {
			k++
			continue
		}
		fault := why(e)
		u.Kinds = counted(u.Kinds, trajectory.FaultKind{Column: fault.Column, What: fault.What})
		if len(u.First) < toldLeftOut {
			fault.File, fault.Row = all.Origin[e], all.FirstRow[e]
			u.First = append(u.First, &fault)
		}
	}
}

// counted adds one fault to those of its kind.
func counted(kinds []trajectory.FaultKind, kind trajectory.FaultKind) []trajectory.FaultKind {
	i := slices.IndexFunc(kinds, func(k trajectory.FaultKind) bool { return k.Column == kind.Column && k.What == kind.What })
	if i < 0 {
		i, kinds = len(kinds), append(kinds, kind)
	}
	kinds[i].Faults++
	return kinds
}

// unreadable says why the policies cannot read an episode.
func (j *job) unreadable(d *trajectory.Dataset, episode int) trajectory.InputError {
	fault := trajectory.InputError{What: "has a decision for which a policy, the target or that of data.behavior, gives no probability",
		Remedy: "mend or drop these rows, or correct the policy", Kind: policy.ErrRow}
	for _, p := range append(policies(j.public), j.behaviour) {
		if _, any := p.(policy.Constant); any || p == nil || p.Actions() == 0 || d.Action == nil {
			continue
		}
		if slices.Max(d.Action[d.EpisodeStart[episode]:d.EpisodeStart[episode+1]]) >= int32(p.Actions()) {
			fault.What = fmt.Sprintf("has an action that a policy does not know, the target or that of data.behavior: its actions are 0 to %d", p.Actions()-1)
		}
	}
	return fault
}

// toldLeftOut is how many episodes that are left out are told with their place, and
// largeShare the share of them that is told first.
const (
	toldLeftOut = 20
	largeShare  = .05
)

// unfitNotice says to the curator how many of the episodes that were read fit left
// out, their share first where it is large; nothing where there are none.
func (j *job) unfitNotice(read int) []string {
	left := j.unfit.Episodes
	if left == 0 {
		return nil
	}
	notice := fmt.Sprintf("episodes with a decision that a policy or the features cannot read were left out: %d", left)
	if share := float64(left) / float64(read); share > largeShare {
		notice = fmt.Sprintf("%.3g%% OF THE EPISODES ARE LEFT OUT; validate --config shows them; %s of %d", 100*share, notice, read)
	}
	return []string{notice}
}
