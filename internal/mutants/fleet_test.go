//go:build slow

package mutants

// fleetMutants are faults of devices that train over a network, and of what they verify.
func fleetMutants() []mutant {
	return []mutant{
		{name: "fleet: a spec that nobody signed", in: "internal/fleet", run: "FlippedBit",
			edits: edits{{"!ed25519.Verify(key, append([]byte(context), s.GetSpec()...), s.GetSignature())", "len(append([]byte(context), s.GetSignature()...)) < 64"}}},
		{name: "fleet: a round of another chain", in: "internal/fleet", run: "TwoChains",
			edits: edits{{"case round.Number != before.Round+1 || !bytes.Equal(s.GetPrevious(), before.Hash[:]):", "case round.Number != before.Round+1:"}}},
		{name: "fleet: a round by another randomiser", in: "internal/fleet", run: "RoundsThatNobody",
			edits: edits{{"asks != agreed || s.GetEpsilon()", "asks.Mechanism != agreed.Mechanism || s.GetEpsilon()"}}},
		{name: "fleet: weights of another hash", in: "internal/fleet", run: "WeightsAre",
			edits: edits{{"len(theta) != r.run.Dim || Hash(train.HashWeights(theta)) != r.WeightsHash", "len(theta) != r.run.Dim || Hash(train.HashWeights(theta)) == (Hash{})"}}},
		{name: "fleet: a run of more reports than agreed", in: "internal/fleet", run: "ConsentIs",
			edits: edits{{"case r.Reports != c.Reports:", "case r.Reports < c.Reports:"}}},
		{name: "fleet: a seed that the beacon does not make", in: "internal/fleet", run: "Seeds",
			edits: edits{{"b = append(b, r.Beacon[:]...)", "b = append(b, make([]byte, 32)...)"}}},
		{name: "fleet: a report goes when it is ready", in: "fleet/device", run: "SilenceTells",
			edits: edits{{"if err := until(ctx, k.sendAt); err != nil {", "if err := until(ctx, round.TrainBy); err != nil {"}}},
		{name: "fleet: a learner that fails is silent", in: "fleet/device", run: "SilenceTells",
			edits: edits{{`return neutral(c, w.Evaluate), "failed", nil`, `return nil, "", r.err`}}},
		{name: "fleet: an older wallet is taken", in: "fleet/device", run: "AWalletThat",
			edits: edits{{"if spent.Epsilon < id.debited {", "if spent.Epsilon < 0 {"}}},
		{name: "fleet: a clock that is off", in: "fleet/device", run: "NothingIsPaid",
			edits: edits{{"d > mostSkew || d < -mostSkew", "d > mostSkew && d < -mostSkew"}}},
		{name: "fleet: what is kept is sealed again", in: "fleet/device", run: "Stopped|TheSame|Codec",
			edits: edits{{"proto.Unmarshal(k.upload, &request); err != nil {", "proto.Unmarshal(k.upload, &request); err != nil || func() bool { request.Sealed[40] ^= byte(time.Now().UnixNano()) | 1; return false }() {"}}},
	}
}
