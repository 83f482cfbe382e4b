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
