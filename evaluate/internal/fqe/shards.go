package fqe

// inShards adds persons by so many shards, each to a sum of its own from fresh, and joins these to
// all, which takes the first.
func inShards[S interface{ Merge(S) error }](all S, fresh func() (S, error), persons, shards int, add func(part S, person int) error) error {
	for shard := range shards {
		part := all
		if shard > 0 {
			var err error
			if part, err = fresh(); err != nil {
				return err
			}
		}
		for p := shard; p < persons; p += shards {
			if err := add(part, p); err != nil {
				return err
			}
		}
		if shard > 0 {
			if err := all.Merge(part); err != nil {
				return err
			}
		}
	}
	return nil
}
