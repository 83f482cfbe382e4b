//go:build slow

package mutants

// fleetMutants are faults of devices that train over a network, and of what they verify.
func fleetMutants() []mutant {
	return []mutant{
		{"fleet: a spec that nobody signed", "internal/fleet/sign.go",
			[][2]string{{"!ed25519.Verify(key, append([]byte(context), s.GetSpec()...), s.GetSignature())", "len(append([]byte(context), s.GetSignature()...)) < 64"}},
			"./internal/fleet", "FlippedBit"},
		{"fleet: a round of another chain", "internal/fleet/round.go",
			[][2]string{{"case round.Number != before.Round+1 || !bytes.Equal(s.GetPrevious(), before.Hash[:]):", "case round.Number != before.Round+1:"}},
			"./internal/fleet", "TwoChains"},
		{"fleet: a round by another randomiser", "internal/fleet/round.go",
			[][2]string{{"asks != agreed || s.GetEpsilon()", "asks.Mechanism != agreed.Mechanism || s.GetEpsilon()"}},
			"./internal/fleet", "RoundsThatNobody"},
		{"fleet: weights of another hash", "internal/fleet/round.go",
			[][2]string{{"len(theta) != r.run.Dim || Hash(train.HashWeights(theta)) != r.WeightsHash", "len(theta) != r.run.Dim || Hash(train.HashWeights(theta)) == (Hash{})"}},
			"./internal/fleet", "WeightsAre"},
		{"fleet: a run of more reports than agreed", "internal/fleet/consent.go",
			[][2]string{{"case r.Reports != c.Reports:", "case r.Reports < c.Reports:"}},
			"./internal/fleet", "ConsentIs"},
		{"fleet: a seed that the beacon does not make", "internal/fleet/seal.go",
			[][2]string{{"b = append(b, r.Beacon[:]...)", "b = append(b, make([]byte, 32)...)"}},
			"./internal/fleet", "Seeds"},
		{"fleet: a report goes when it is ready", "fleet/device/round.go",
			[][2]string{{"if err := until(ctx, k.sendAt); err != nil {", "if err := until(ctx, round.TrainBy); err != nil {"}},
			"./fleet/device", "SilenceTells"},
		{"fleet: a learner that fails is silent", "fleet/device/learner.go",
			[][2]string{{`return neutral(c, w.Evaluate), "failed", nil`, `return nil, "", r.err`}},
			"./fleet/device", "SilenceTells"},
		{"fleet: an older wallet is taken", "fleet/device/agent.go",
			[][2]string{{"if spent.Epsilon < id.debited {", "if spent.Epsilon < 0 {"}},
			"./fleet/device", "AWalletThat"},
		{"fleet: a clock that is off", "fleet/device/run.go",
			[][2]string{{"d > mostSkew || d < -mostSkew", "d > mostSkew && d < -mostSkew"}},
			"./fleet/device", "NothingIsPaid"},
		{"fleet: what is kept is sealed again", "fleet/device/round.go",
			[][2]string{{"proto.Unmarshal(k.upload, &request); err != nil {", "proto.Unmarshal(k.upload, &request); err != nil || func() bool { request.Sealed[40] ^= byte(time.Now().UnixNano()) | 1; return false }() {"}},
			"./fleet/device", "Stopped|TheSame|Codec"},
	}
}
