package trajectory

import "slices"

// Nobody is a dataset with the columns of d and none of its persons. What follows from
// the columns alone, such as whether the data say how episodes end, is as in d.
func (d *Dataset) Nobody() *Dataset {
	out := *d
	out.PersonStart, out.EpisodeStart, out.LeftOut, out.Lost = []int{0}, []int{0}, none(d.LeftOut), none(d.Lost)
	out.Obs, out.Action, out.Reward = none(d.Obs), none(d.Action), none(d.Reward)
	out.BehaviorProb, out.ActionProbs, out.TargetProb, out.Discount = none(d.BehaviorProb), none(d.ActionProbs), none(d.TargetProb), none(d.Discount)
	out.Terminated, out.Final, out.HasFinal = none(d.Terminated), nil, nil
	out.Lacks = none(d.Lacks)
	out.PersonID, out.EpisodeID, out.Origin, out.FirstRow = none(d.PersonID), none(d.EpisodeID), none(d.Origin), none(d.FirstRow)
	return &out
}

// none is an empty column, nil where there is no such column.
func none[T any](column []T) []T {
	if column == nil {
		return nil
	}
	return []T{}
}

// Take is a dataset of the persons with these numbers, in this order, with all that d
// says of them. It may write over memory, if any is given.
func (d *Dataset) Take(persons []int, memory ...*Dataset) *Dataset {
	out, old := d.Nobody(), Dataset{}
	if len(memory) > 0 {
		old = *memory[0]
	}
	w := len(d.Columns)
	if d.Final != nil {
		out.Final, out.HasFinal = []float64{}, []bool{}
	}
	rows, episodes := 0, 0
	for _, p := range persons {
		episodes += d.PersonStart[p+1] - d.PersonStart[p]
		rows += d.EpisodeStart[d.PersonStart[p+1]] - d.EpisodeStart[d.PersonStart[p]]
	}
	out.PersonStart = append(with(out.PersonStart, old.PersonStart, len(persons)+1)[:0], 0)
	out.EpisodeStart = append(with(out.EpisodeStart, old.EpisodeStart, episodes+1)[:0], 0)
	out.Obs, out.Action, out.Reward = with(out.Obs, old.Obs, rows*w), with(out.Action, old.Action, rows), with(out.Reward, old.Reward, rows)
	out.BehaviorProb, out.Terminated = with(out.BehaviorProb, old.BehaviorProb, rows), with(out.Terminated, old.Terminated, episodes)
	for _, p := range persons {
		e, f := d.PersonStart[p], d.PersonStart[p+1]
		lo, hi := d.EpisodeStart[e], d.EpisodeStart[f]
		for i := e; i < f; i++ {
			out.EpisodeStart = append(out.EpisodeStart, out.EpisodeStart[len(out.EpisodeStart)-1]+d.EpisodeStart[i+1]-d.EpisodeStart[i])
		}
		out.PersonStart = append(out.PersonStart, len(out.EpisodeStart)-1)
		more(&out.LeftOut, d.LeftOut, p, p+1)
		more(&out.Lost, d.Lost, p*w, (p+1)*w)
		more(&out.Obs, d.Obs, lo*w, hi*w)
		more(&out.Action, d.Action, lo, hi)
		more(&out.Reward, d.Reward, lo, hi)
		more(&out.BehaviorProb, d.BehaviorProb, lo, hi)
		more(&out.ActionProbs, d.ActionProbs, lo*d.Actions, hi*d.Actions)
		more(&out.TargetProb, d.TargetProb, lo, hi)
		more(&out.Discount, d.Discount, lo, hi)
		more(&out.Terminated, d.Terminated, e, f)
		more(&out.Final, d.Final, e*w, f*w)
		more(&out.HasFinal, d.HasFinal, e, f)
		more(&out.Lacks, d.Lacks, e, f)
		more(&out.PersonID, d.PersonID, p, p+1)
		more(&out.EpisodeID, d.EpisodeID, e, f)
		more(&out.Origin, d.Origin, e, f)
		more(&out.FirstRow, d.FirstRow, e, f)
	}
	return out
}

// with is a column with room for n values, in memory if that has it; nil if there is no such column.
func with[T any](column, memory []T, n int) []T {
	switch {
	case column == nil:
		return nil
	case cap(memory) < max(n, 1):
		return slices.Grow(column, n)
	}
	return memory[:0]
}

// more adds a part of a column, if there is such a column.
func more[T any](to *[]T, column []T, from, end int) {
	if column != nil {
		*to = append(*to, column[from:end]...)
	}
}
