//go:build slow

// Faults in accounting: an event that costs more than is said.

package mutants

func accountMutants() []mutant {
	return []mutant{
		{name: "samples of any rate have digits", in: "dp/account", run: "SamplesRarer",
			edits: edits{{"	if rate < leastRate {\n		return fmt", "	if rate < 0 {\n		return fmt"}}},
		{name: "truncated_poisson_sampled: nobody is pushed out", in: "dp/account", run: "Truncated",
			edits: edits{{"cut, err := p.sampled(ctx, dp.ReplaceOne, e.Event, t.rate, v)", "cut, err := p.sampled(ctx, dp.AddRemoveOne, e.Event, t.rate, v)"}}},
		{name: "truncated_poisson_sampled: Renyi divergence at one distance", in: "dp/account", run: "Truncated",
			edits: edits{{"poissonRenyi(order, t.rate, 2*mu)", "poissonRenyi(order, t.rate, mu)"}}},
		{name: "report_noisy_max: one score moves", in: "dp/account", run: "NoisyMax",
			edits: edits{{"moves := 2.0", "moves := 1.0"}}},
		{name: "exponential: half of its range", in: "dp/account/internal/lossdist", by: "dp/account", run: "Exponential",
			edits: edits{{"uniformCuts(-l.Epsilon, l.Epsilon, coarse, 0)", "uniformCuts(-l.Epsilon, l.Epsilon/2, coarse, 0)"}}},
		{name: "tree_aggregation: the root is free", in: "dp/account", run: "TreeAggregation",
			edits: edits{{"width <= e.Steps; width *= 2", "2*width <= e.Steps; width *= 2"}}},
		{name: "tree_aggregation: steps in different nodes", in: "dp/account", run: "TreeAggregation",
			edits: edits{{"xmath.MulUp(n.Upper, xmath.MulUp(w.Upper, w.Upper))", "xmath.MulUp(n.Upper, w.Upper)"}}},
		{name: "odometer: a level too early", in: "dp/account", run: "Odometer",
			edits: edits{{"return s.sum <= f.limit &&", "return s.sum/8 <= f.limit &&"}}},
		{name: "FixDelta: each run has all of delta", in: "dp/account", run: "FixDelta",
			edits: edits{{"part: xmath.DivDown(delta, total)", "part: delta"}}},
		{name: "a cancelled query answers", in: "dp/account/internal/lossdist", by: "dp/account", run: "Cancelled",
			edits: edits{{"lower, upper = c.epsilon(ctx, delta, enough)\n\treturn lower, upper, ctx.Err()", "lower, upper = c.epsilon(ctx, delta, enough)\n\treturn lower, upper, nil"}}},
		{name: "pure_dp: a lower loss", in: "dp/account", run: "PureEvents",
			edits: edits{{"return lossdist.Approximate(epsilon, 0)", "return lossdist.Approximate(epsilon*.99, 0)"}}},
		{name: "permute_and_flip: of bounded range", in: "dp/account", run: "PureEvents",
			edits: edits{{"	case dp.PermuteAndFlip:\n\t\treturn e.Epsilon, true", "	case dp.PermuteAndFlip:\n\t\treturn e.Epsilon / 2, true"}}},
		{name: "privacy_loss: what masses lack is dropped", in: "dp/account/internal/lossdist", by: "dp/account", run: "Infinite",
			edits: edits{{"lack > 2*ulp {", "lack > 1 {"}}},
		{name: "rdp_curve: the lower order's bound", in: "dp/account", run: "RenyiCurve",
			edits: edits{{"return min(xmath.MulUp(chord/(order-1), 1+0x1p-48), e.Values[i])", "return min(chord/(order-1), e.Values[i-1])"}}},
		{name: "select_best: the other runs are free", in: "dp/account", run: "SelectBest",
			edits: edits{{"xmath.MulUp(1+eta, second)", "xmath.MulUp(eta, second)"}}},
		{name: "select_best: no run has no probability", in: "dp/account", run: "SelectBest",
			edits: edits{{"xmath.LogAdd(-mean, logMean+moment)", "logMean + moment"}}},
		{name: "calibrate: a rate rounded away from the budget", in: "dp/account", run: "Template",
			edits: edits{{"return Bracket{min(1/b.Upper, 1), min(1/b.Lower, 1)}, nil", "return Bracket{min(1.01/b.Upper, 1), min(1/b.Lower, 1)}, nil"}}},
		{name: "group: no person pays for the others", in: "dp/account", run: "Groups",
			edits: edits{{"factor = xmath.Up(math.Exp(sum), 4)", "factor = xmath.Up(math.Exp(0*sum), 4)"}}},
		{name: "shuffle: too many clones", in: "dp/account", run: "Shuffle",
			edits: edits{{"math.Exp(-e.LocalEpsilon), 4)", "math.Exp(-e.LocalEpsilon/2), 4)"}}},
		{name: "shuffle: ranges of clones from above", in: "dp/account", run: "Shuffle",
			edits: edits{{"clones{sum, c + 1}", "clones{sum, low + int64(end)}"}, {"width := sd / 32", "width := sd"}}},
		{name: "shuffle: undeclared", in: "dp", by: "dp/account", run: "Shuffle",
			edits: edits{{"if !e.UniformSlots {", "if e.Count < 0 {"}}},
	}
}
