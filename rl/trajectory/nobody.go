package trajectory

// Nobody is a dataset with the columns of d and none of its persons. What follows from
// the columns alone, such as whether the data say how episodes end, is as in d.
func (d *Dataset) Nobody() *Dataset {
	out := *d
	out.PersonStart, out.EpisodeStart = []int{0}, []int{0}
	out.Obs, out.Action, out.Reward = none(d.Obs), none(d.Action), none(d.Reward)
	out.BehaviorProb, out.ActionProbs, out.TargetProb, out.Discount = none(d.BehaviorProb), none(d.ActionProbs), none(d.TargetProb), none(d.Discount)
	out.Terminated, out.Final, out.HasFinal = none(d.Terminated), nil, nil
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
