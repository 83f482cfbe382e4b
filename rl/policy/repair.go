package policy

import (
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Repair returns d without the episodes that have a row which [WithBehavior] or
// [Check] would complain of, and how many these are; their persons stay. Where
// behaviour is not nil its probabilities take the place of the column, as in
// WithBehavior. Whether an episode is left out depends on that episode alone. It
// fails where a column is missing, whatever the rows.
func Repair(d *trajectory.Dataset, target, behaviour Policy) (*trajectory.Dataset, int, error) {
	left := 0
	if behaviour != nil {
		b, err := behaviour.Bind(d)
		if err != nil {
			return nil, 0, err
		}
		with := *d
		with.BehaviorProb = make([]float64, d.Rows())
		d, left = with.LeaveOut(func(row int) bool {
			p, ok := b.Prob(row)
			with.BehaviorProb[row] = p
			return !ok || !(p > 0)
		})
	}
	if OnPolicy(target) {
		return d, left, nil
	}
	b, err := bindForRatios(target, d)
	if err != nil {
		return nil, 0, err
	}
	all := d
	d, more := all.LeaveOut(func(row int) bool { _, ok := ratio(b, all, row); return !ok })
	return d, left + more, nil
}
