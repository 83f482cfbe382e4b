package trajectory

import "slices"

// LeaveOut returns the dataset without the episodes that have a row which bad
// reports, and how many these are. Their persons stay, and [Dataset.LeftOut] counts
// them. Nothing is copied where
// there are none; d is not changed.
func (d *Dataset) LeaveOut(bad func(row int) bool) (*Dataset, int) {
	keep, out := make([]bool, d.Episodes()), 0
	for e := range keep {
		keep[e] = true
		for row := d.EpisodeStart[e]; keep[e] && row < d.EpisodeStart[e+1]; row++ {
			keep[e] = !bad(row)
		}
		if !keep[e] {
			out++
		}
	}
	if out == 0 {
		return d, 0
	}
	return d.subset(keep), out
}

// subset copies the episodes to keep.
func (d *Dataset) subset(keep []bool) *Dataset {
	c := *d
	c.PersonStart, c.EpisodeStart = []int{0}, []int{0}
	c.LeftOut, c.Lost = slices.Clone(d.LeftOut), slices.Clone(d.Lost)
	c.keepCounts(d.Persons(), len(d.Columns))
	rows := make([]bool, 0, d.Rows())
	for p := range d.Persons() {
		for e := d.PersonStart[p]; e < d.PersonStart[p+1]; e++ {
			n := d.EpisodeStart[e+1] - d.EpisodeStart[e]
			for range n {
				rows = append(rows, keep[e])
			}
			if keep[e] {
				c.EpisodeStart = append(c.EpisodeStart, c.EpisodeStart[len(c.EpisodeStart)-1]+n)
			} else {
				w := len(d.Columns)
				left := Episode{Columns: d.Columns, Obs: d.Obs[d.EpisodeStart[e]*w : d.EpisodeStart[e+1]*w]}
				c.lose(p, w, left.Common())
			}
		}
		c.PersonStart = append(c.PersonStart, len(c.EpisodeStart)-1)
	}
	w := len(d.Columns)
	c.Obs, c.ActionProbs = chosen(d.Obs, rows, w), chosen(d.ActionProbs, rows, d.Actions)
	c.Action, c.Reward = chosen(d.Action, rows, 1), chosen(d.Reward, rows, 1)
	c.BehaviorProb, c.TargetProb, c.Discount = chosen(d.BehaviorProb, rows, 1), chosen(d.TargetProb, rows, 1), chosen(d.Discount, rows, 1)
	c.Terminated, c.HasFinal, c.Final = chosen(d.Terminated, keep, 1), chosen(d.HasFinal, keep, 1), chosen(d.Final, keep, w)
	c.Lacks = chosen(d.Lacks, keep, 1)
	c.EpisodeID, c.Origin, c.FirstRow = chosen(d.EpisodeID, keep, 1), chosen(d.Origin, keep, 1), chosen(d.FirstRow, keep, 1)
	return &c
}

// chosen copies the rows of width values that are kept; nil stays nil.
func chosen[T any](values []T, keep []bool, width int) []T {
	if values == nil {
		return nil
	}
	out := []T{}
	for i, k := range keep {
		if k {
			out = append(out, values[i*width:(i+1)*width]...)
		}
	}
	return out
}
