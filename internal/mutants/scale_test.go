//go:build slow

package mutants

// scaleMutants are faults of data in shards.
func scaleMutants() []mutant {
	return []mutant{
		{name: "shards: a mask used twice", in: "scale", run: "NoMask",
			edits: edits{{"if _, err := io.ReadFull(rand.Reader, n[:]); err != nil {", "if _, err := io.ReadFull(rand.Reader, n[:0]); err != nil {"}}},
		{name: "shards: a shard counted twice", in: "scale", run: "DoNotBelong",
			edits: edits{{"if found {", "if found && m.Shard < 0 {"}}},
		{name: "shards: a transcript not synced", in: "scale", run: "StoppedDriver",
			edits: edits{{"n, err := s.run.store.keep(s.at, noisySum{Step: s.of.Step, Sigma: s.of.Sigma, Sum: noisy})", "n, err := noisySum{Step: s.of.Step, Sigma: s.of.Sigma, Sum: noisy}, error(nil)"}}},
		{name: "shards: noise drawn per shard", in: "scale", run: "SevenShards",
			edits: edits{{"r.sum.Values = slices.Clone(own.Values)", "r.sum.Values = slices.Clone(own.Values); r.sum.Values[0] += 1 << 20"}}},
		{name: "shards: a second draw for a round", in: "internal/dp/mechanism", run: "Joint",
			edits: edits{{"if noisy == nil {\n\t\tif", "if all.Values = append(all.Values, make([]int64, len(a.sum))...)[:len(a.sum)]; noisy == nil || len(noisy) > 0 { all.Step, all.Sigma = a.grid.step, a.grid.sigma\n\t\tif"}}},
		{name: "shards: a second draw where its scale is private", in: "internal/dp/mechanism", run: "Joint",
			edits: edits{{"if noisy == nil {\n\t\tswitch", "if all.Step, all.Values = s.Step, append(all.Values, make([]int64, len(own.Values))...)[:len(own.Values)]; noisy == nil || len(noisy) > 0 {\n\t\tswitch"}}},
		{name: "shards: the scale of noise told to all", in: "internal/dp/mechanism", run: "Scale",
			edits: edits{{"return nil, fmt.Errorf(\"%w: the noise does not fit the public lattice of step %v\", ErrParameter, s.Step)", "return nil, fmt.Errorf(\"%w: the noise does not fit the public lattice of step %v: %v\", ErrParameter, s.Step, sd)"}}},
		{name: "shards: sizes of fixed groups not looked at", in: "internal/evaluation", by: "scale", run: "SizesOfFixedGroups",
			edits: edits{{"if err := plan.CheckSizes(found.Sizes); err != nil {", "if err := plan.CheckSizes(found.Sizes); err != nil && found.Persons < 0 {"}}},
		{name: "shards: a person in two shards", in: "scale", run: "NotTheirs",
			edits: edits{{"if !p.holds(id) {", "if !p.holds(id) && i < 0 {"}}},
		{name: "shards: faults told to everybody", in: "scale", run: "Curator",
			edits: edits{{`%w: shard %d did not pass its check; %s tells its curator why", ErrShard, number, beside)`, `%w: shard %d did not pass its check; %s tells its curator why: %w", ErrShard, number, beside, found)`}}},
		{name: "shards: a sum that is gone drawn again", in: "scale", run: "DrawnAgain",
			edits: edits{{"if err := s.whole(found, transcript); err != nil {", "if err := s.whole(found, transcript); err != nil && !found {"}}},
		{name: "shards: a draw that the ledger does not know", in: "scale", run: "EarlierRun",
			edits: edits{{"return s.rounds.Add(s.ctx, s.at, sha256.Sum256(text))", "_ = sha256.Sum256(text); return nil"}}},
		{name: "shards: an earlier run goes on", in: "scale", run: "EarlierRun",
			edits: edits{{"case known > there:", "case known > there+mostRounds:"}}},
		{name: "ledger: a round has two sums", in: "dp/ledger", run: "ARoundHasOneSum",
			edits: edits{{"if r.sums[number-1] != sum {", "if r.sums[number-1] != sum && number < 0 {"}}},
		{name: "shards: a transcript without its MAC", in: "scale", run: "AChangedFile",
			edits: edits{{"!hmac.Equal(mac[:], file.MAC[:])", "!hmac.Equal(mac[:], mac[:])"}}},
		{name: "shards: another object taken for that of the check", in: "scale", run: "ObjectsAreShards",
			edits: edits{{`"object %q %q %d", path, v, info.Size())`, `"object %q %q %d", path, v[:0], len(v[:0]))`}}},
		{name: "data: another object taken for the one that was opened", in: "internal/source", by: "scale", run: "ObjectsAreShards",
			edits: edits{{"return b.Sys() == v", "return v != \"\" || b.Sys() == v"}}},
		{name: "shards: what is built of rows is not counted", in: "evaluate", by: "scale", run: "WhatIsKept",
			edits: edits{{"prepare.built = s.Built", "_ = s.Built"}}},
		{name: "shards: a directory of others taken", in: "scale", run: "ThatIsNoRun",
			edits: edits{{"case len(entries) > 0:", "case len(entries) > 1<<20:"}}},
	}
}
