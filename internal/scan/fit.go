package scan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/internal/spec"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Fit gives the data the probabilities of a behaviour policy that is known from
// elsewhere, and none where they are to be estimated. Where violations are repaired it
// leaves out the episodes that the policies or the features cannot read, and says which.
func Fit(s *spec.Spec, d *trajectory.Dataset) (*trajectory.Dataset, trajectory.Repaired, error) {
	f := fitting{Spec: s}
	data, err := f.fit(d)
	return data, f.leftOut, err
}

// fitting is one call of [Fit].
type fitting struct {
	*spec.Spec
	leftOut trajectory.Repaired
}

func (f *fitting) fit(d *trajectory.Dataset) (*trajectory.Dataset, error) {
	if f.Public.Behavior == nil {
		return f.known(d)
	}
	certain := *d
	certain.BehaviorProb = slices.Repeat([]float64{1}, d.Rows())
	kept, err := f.known(&certain)
	if err != nil {
		return nil, err
	}
	bare := *kept
	bare.BehaviorProb = nil
	return &bare, nil
}

// known fits data whose probabilities are a column or a policy.
func (f *fitting) known(d *trajectory.Dataset) (*trajectory.Dataset, error) {
	cells, err := f.Public.Behavior.Map()
	if err != nil {
		return nil, err
	}
	if !f.Reading.Repair {
		if cells != nil {
			if err := feature.Check(cells, d); err != nil {
				return nil, err
			}
		}
		if f.Behavior == nil {
			return d, nil
		}
		return policy.WithBehavior(d, f.Behavior)
	}
	read, behaviour := d, f.Behavior
	for _, target := range f.Policies() {
		all := read
		kept, n, err := policy.Repair(all, target, behaviour)
		if err != nil {
			return nil, err
		}
		f.leaveOut(all, kept, n, func(e int) trajectory.InputError { return f.unreadable(all, e) })
		read, behaviour = kept, nil // which has its probabilities now
	}
	if cells != nil {
		if read, err = f.readable(read, cells, "the cells of data.behavior"); err != nil {
			return nil, err
		}
	}
	if f.Public.Features == nil {
		return read, nil
	}
	return f.readable(read, f.Public.Features, "the features")
}

// readable leaves out the episodes that a map cannot read.
func (f *fitting) readable(d *trajectory.Dataset, m feature.Map, name string) (*trajectory.Dataset, error) {
	out, n, err := feature.Repair(m, d)
	if err != nil {
		return nil, err
	}
	f.leaveOut(d, out, n, func(int) trajectory.InputError {
		return trajectory.InputError{Column: strings.Join(m.Columns(), ", "), What: "has an observation that " + name + " cannot read",
			Remedy: "mend or drop these rows, or choose others in place of " + name, Kind: feature.ErrObservation}
	})
	return out, nil
}

// leaveOut notes the n episodes that a step did not keep: where they begin,
// and why.
func (f *fitting) leaveOut(all, kept *trajectory.Dataset, n int, why func(episode int) trajectory.InputError) {
	if n == 0 {
		return
	}
	u := &f.leftOut
	u.Episodes += n
	for e, k := 0, 0; e < all.Episodes(); e++ {
		if k < kept.Episodes() && all.FirstRow[e] == kept.FirstRow[k] && all.Origin[e] == kept.Origin[k] {
			k++
			continue
		}
		fault := why(e)
		u.Kinds = counted(u.Kinds, trajectory.FaultKind{Column: fault.Column, What: fault.What})
		if len(u.First) < mostListed {
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
func (f *fitting) unreadable(d *trajectory.Dataset, episode int) trajectory.InputError {
	fault := trajectory.InputError{What: "has a decision for which a policy, the target or that of data.behavior, gives no probability",
		Remedy: "mend or drop these rows, or correct the policy", Kind: policy.ErrRow}
	for _, p := range append(f.Policies(), f.Behavior) {
		if _, any := p.(policy.Constant); any || p == nil || p.Actions() == 0 || d.Action == nil {
			continue
		}
		if slices.Max(d.Action[d.EpisodeStart[episode]:d.EpisodeStart[episode+1]]) >= int32(p.Actions()) {
			fault.What = fmt.Sprintf("has an action that a policy does not know, the target or that of data.behavior: its actions are 0 to %d", p.Actions()-1)
		}
	}
	return fault
}

// mostListed is how many episodes that are left out are listed with their place, and
// largeShare the share of them that is said first.
const (
	mostListed = 20
	largeShare = .05
)

// leftOutNotice says to the curator how many of the episodes that were read were left out,
// their share first where it is large; nothing where there are none.
func leftOutNotice(left, read int) []string {
	if left == 0 {
		return nil
	}
	notice := fmt.Sprintf("episodes with a decision that a policy or the features cannot read were left out: %d", left)
	if share := float64(left) / float64(read); share > largeShare {
		notice = fmt.Sprintf("%.3g%% OF THE EPISODES ARE LEFT OUT; validate --config shows them; %s of %d", 100*share, notice, read)
	}
	return []string{notice}
}
