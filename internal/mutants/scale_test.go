//go:build slow

package mutants

// scaleMutants are faults of data in shards.
func scaleMutants() []mutant {
	return []mutant{
		{"shards: a mask used twice", "scale/worker.go",
			[][2]string{{"if _, err := io.ReadFull(rand.Reader, n[:]); err != nil {", "if _, err := io.ReadFull(rand.Reader, n[:0]); err != nil {"}},
			"./scale", "NoMask"},
		{"shards: a shard counted twice", "scale/partial.go",
			[][2]string{{"if found {", "if found && m.Shard < 0 {"}},
			"./scale", "DoNotBelong"},
		{"shards: a transcript not synced", "scale/driver.go",
			[][2]string{{"n, err := s.run.store.keep(s.at, Noisy{Step: s.of.Step, Sigma: s.of.Sigma, Sum: noisy})", "n, err := Noisy{Step: s.of.Step, Sigma: s.of.Sigma, Sum: noisy}, error(nil)"}},
			"./scale", "StoppedDriver"},
		{"shards: noise drawn per shard", "scale/worker.go",
			[][2]string{{"r.sum.Values = slices.Clone(own.Values)", "r.sum.Values = slices.Clone(own.Values); r.sum.Values[0] += int64(noise.NewSeeded(1).Uint64() >> 40)"}},
			"./scale", "SevenShards"},
		{"shards: a second draw for a round", "dp/mechanism/joint.go",
			[][2]string{{"if noisy == nil {", "if all.Values = append(all.Values, make([]int64, len(a.sum))...)[:len(a.sum)]; noisy == nil || len(noisy) > 0 { all.Step, all.Sigma = a.grid.step, a.grid.sigma"}},
			"./dp/mechanism", "Joint"},
		{"shards: a person in two shards", "scale/shard.go",
			[][2]string{{"if !p.holds(id) {", "if !p.holds(id) && i < 0 {"}},
			"./scale", "NotTheirs"},
		{"shards: faults told to everybody", "scale/worker.go",
			[][2]string{{`%w: shard %d did not pass its check; %s tells its curator why", ErrShard, number, beside)`, `%w: shard %d did not pass its check; %s tells its curator why: %w", ErrShard, number, beside, found)`}},
			"./scale", "Curator"},
		{"shards: a sum that is gone drawn again", "scale/run.go",
			[][2]string{{"if err := s.whole(found, transcript); err != nil {", "if err := s.whole(found, transcript); err != nil && !found {"}},
			"./scale", "DrawnAgain"},
		{"shards: a draw that the ledger does not know", "scale/driver.go",
			[][2]string{{"return s.rounds.Add(s.ctx, s.at, sha256.Sum256(text))", "_ = sha256.Sum256(text); return nil"}},
			"./scale", "EarlierRun"},
		{"shards: an earlier run goes on", "scale/driver.go",
			[][2]string{{"case known > there:", "case known > there+mostRounds:"}},
			"./scale", "EarlierRun"},
		{"ledger: a round has two sums", "dp/ledger/rounds.go",
			[][2]string{{"if r.sums[number-1] != sum {", "if r.sums[number-1] != sum && number < 0 {"}},
			"./dp/ledger", "ARoundHasOneSum"},
		{"shards: a transcript without its MAC", "scale/run.go",
			[][2]string{{"!hmac.Equal(mac[:], file.MAC[:])", "!hmac.Equal(mac[:], mac[:])"}},
			"./scale", "AChangedFile"},
		{"shards: a directory of others taken", "scale/run.go",
			[][2]string{{"case len(entries) > 0:", "case len(entries) > 1<<20:"}},
			"./scale", "ThatIsNoRun"},
	}
}
