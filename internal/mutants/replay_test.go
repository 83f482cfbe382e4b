//go:build slow

package mutants

// replayMutants are faults that a replay of neighbouring datasets finds, and faults
// of caps and capacities.
func replayMutants() []mutant {
	const bind = "(*Ready, error) {\n\t"
	tells := func(body string) edits {
		return edits{{bind + "run, err := p.prepare(ctx, d)", bind + "prepared, err := p.prepare(ctx, d)\n\t" +
			"run := func(ctx context.Context, src *noise.Source) (*Release, error) { r, err := prepared(ctx, src); if err == nil { " + body + " }; return r, err }"}}
	}
	return []mutant{
		{name: "replay: halved noise", in: "internal/dp/mechanism", by: "internal/evaluate/replay", run: "Pairs",
			edits: edits{{"sigma: math.Nextafter(sd/step, math.Inf(1))", "sigma: math.Nextafter(sd/step/2, math.Inf(1))"}}},
		{name: "replay: clip 5% too long", in: "internal/dp/mechanism", by: "internal/evaluate/replay", run: "Pairs",
			edits: edits{{"radius: uint64(radius / step)", "radius: uint64(1.05 * radius / step)"}}},
		{name: "replay: a round uncharged", in: "evaluate", by: "internal/evaluate/replay", run: "Pairs",
			edits: edits{{"gaussians(r.Schedule.Multipliers...)", "gaussians(r.Schedule.Multipliers[1:]...)"}}},
		{name: "replay: unpaid count", in: "evaluate", by: "internal/evaluate/replay", run: "Pairs",
			edits: tells(`r.Diagnostics = map[string]any{"rows": d.Rows()}`)},
		{name: "survival: Laplace noise at half its scale", in: "evaluate", by: "internal/evaluate/replay", run: "Pairs",
			edits: edits{{"one.scale = replaced(g) * float64(q.tables()) / g.Budget.Epsilon * (1 + 0x1p-44)", "one.scale = replaced(g) * float64(q.tables()) / g.Budget.Epsilon / 2"}}},
		{name: "survival: Laplace noise drawn at half its scale", in: "internal/dp/mechanism", by: "internal/evaluate/replay", run: "Laplace",
			edits: edits{{"noise.NewDiscreteLaplace(a.grid.sigma)", "noise.NewDiscreteLaplace(a.grid.sigma / 2)"}}},
		{name: "survival: unusable outcomes leak into another's cell", in: "evaluate", run: "OneCell",
			edits: edits{{"members[person] = q.Unusable(arm)", "members[person] = q.Exit(arm, 0, 0, 0)"}}},
		{name: "survival: two rows of a person taken for one", in: "evaluate", run: "TwoRows",
			edits: edits{{"lost := to-from != 1 ||", "lost := to == from ||"}}},
		{name: "survival: Laplace sums of unlike noise merge", in: "internal/dp/mechanism", run: "LaplaceHistogram",
			edits: edits{{"|| a.laplace != b.laplace", ""}}},
		{name: "survival: curves without their noise", in: "evaluate/internal/survival", run: "Hold",
			edits: edits{{"return v * w.q.SD * w.q.SD * doubt", "return 0 * v * doubt"}}},
		{name: "survival: curves without sampling", in: "evaluate/internal/survival", run: "Hold",
			edits: edits{{"k := c * c / persons", "k := c * c / (1000 * persons)"}}},
		{name: "survival: missing outcomes forgotten", in: "evaluate", run: "MissingOutcomes",
			edits: edits{{"q.Unknown()\n\t\t\tunusable++", "-1\n\t\t\tunusable++"}}},
		{name: "survival: the order within a bin taken for known", in: "evaluate/internal/survival", run: "EveryOrder|Whatever",
			edits: edits{{"least.v, least.slope, most.v, most.slope = s.bounds(s.low, s.high, cause)", ""}}},
		{name: "survival: the rest of an arm that ends guessed", in: "evaluate/internal/survival", run: "NearTheEnd",
			edits: edits{{"w.low, w.high = survival(lowPath, nothing), survival(highPath, stays)", "w.low, w.high = survival(lowPath, stays), survival(highPath, stays)"}}},
		{name: "survival: rare events without their limit", in: "evaluate/internal/survival", run: "RareEvents|FewDecide",
			edits: edits{{"e.sampling, e.third = e.sampling+few*rare*rare, e.third+few*rare*rare*rare", "_ = rare"}}},
		{name: "survival: a difference at pointwise limits", in: "evaluate/internal/survival", run: "OneArmEnds",
			edits: edits{{"farMine := x.survival(x.critical(x.valueHighest, miss/4))", "farMine := x.survival(quantile(1))"}}},
		{name: "survival: a person who adds to two policies pays for one", in: "evaluate", run: "SeveralPolicies",
			edits: edits{{"t.most = overlapping(t.of)", "t.most = 1"}}},
		{name: "survival: a curve of a policy that the logs do not support", in: "evaluate", run: "CurvesOrLimits",
			edits: edits{{"case !d.Supported:\n\t\twhy = \"the design does not ensure that every action of the policy", "case false:\n\t\twhy = \"the design does not ensure that every action of the policy"}}},
		{name: "survival: a curve though nobody says that leaving is unanticipated", in: "evaluate", run: "CurvesOrLimits",
			edits: edits{{"case p.decisions() > 1 && c != independentCensoring:", "case false:"}}},
		{name: "survival: who may have fled a decision counts as alive", in: "evaluate/internal/survival", run: "WhereCurves",
			edits: edits{{"bin == a.q.Bins || a.q.Form == Lived", "true"}}},
		{name: "survival: weights of the last decision alone", in: "evaluate", run: "WeightsOfDecisions",
			edits: edits{{"w *= r", "w = r"}}},
		{name: "survival: running sums with half their noise", in: "internal/dp/mechanism", by: "internal/evaluate/replay", run: "Pairs",
			edits: edits{{"halfWidth(adjacency, math.Sqrt2*radius*(1+1e-12), radius)", "halfWidth(adjacency, math.Sqrt2*radius/2, radius/2)"}}},
		{name: "replay: a notice that tells", in: "evaluate", by: "internal/evaluate/replay", run: "Pairs",
			edits: tells(`if d.Rows() > 12 { r.Notes = append(r.Notes, "many decisions") }`)},
		{name: "horizon of an episode in place of a person", in: "evaluate", run: "Caps",
			edits: edits{{"int64(d.EpisodeStart[to]-d.EpisodeStart[from]) > p.Horizon", "int64(d.EpisodeStart[from+1]-d.EpisodeStart[from]) > p.Horizon"}}},
		{name: "cap on episodes doubled", in: "evaluate", run: "Caps",
			edits: edits{{"int64(to-from) > p.Episodes", "int64(to-from) > 2*p.Episodes"}}},
		{name: "returns not clipped from above", in: "evaluate/internal/smooth", run: "Clipped",
			edits: edits{{"min(max(f, returns.Min), returns.Max)", "max(f, returns.Min)"}}},
		{name: "smooth bound at twice the beta", in: "evaluate/internal/smooth", run: "Beta",
			edits: edits{{"InnerBeta(smooth.Beta, len(of.counts))", "InnerBeta(2*smooth.Beta, len(of.counts))"}}},
		{name: "capacity not enforced by add", in: "internal/dp/mechanism", run: "Capacity",
			edits: edits{{"if a.persons >= a.grid.capacity() {", "if a.persons < 0 {"}}},
		{name: "capacity not enforced by merge", in: "internal/dp/mechanism", run: "Capacity",
			edits: edits{{"if a.persons > a.grid.capacity()-b.persons {", "if a.persons < 0 {"}}},
		{name: "merged persons not counted", in: "internal/dp/mechanism", run: "Capacity",
			edits: edits{{"a.persons += b.persons", ""}}},
		{name: "sums of unlike lattices merge", in: "internal/dp/mechanism", run: "Capacity",
			edits: edits{{"a.grid != b.grid || len", "len"}}},
		{name: "a sum is merged twice", in: "internal/dp/mechanism", run: "Capacity",
			edits: edits{{"b.released = true // its persons are counted here now", ""}}},
	}
}
