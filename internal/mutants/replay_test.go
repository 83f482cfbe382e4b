//go:build slow

package mutants

// replayMutants are faults that a replay of neighbouring datasets finds, and faults
// of caps and capacities.
func replayMutants() []mutant {
	const bind = "return &Ready{plan: p, draw: run}, nil"
	tells := func(body string) [][2]string {
		return [][2]string{{bind, "return &Ready{plan: p, draw: func(ctx context.Context, src *noise.Source) (*Release, error) { r, err := run(ctx, src); if err == nil { " + body + " }; return r, err }}, nil"}}
	}
	return []mutant{
		{"replay: halved noise", "internal/dp/mechanism/lattice.go",
			[][2]string{{"sigma: math.Nextafter(sd/step, math.Inf(1))", "sigma: math.Nextafter(sd/step/2, math.Inf(1))"}},
			"./internal/evaluate/replay", "Pairs"},
		{"replay: clip 5% too long", "internal/dp/mechanism/lattice.go",
			[][2]string{{"radius: uint64(radius / step)", "radius: uint64(1.05 * radius / step)"}},
			"./internal/evaluate/replay", "Pairs"},
		{"replay: a round uncharged", "evaluate/dprefine.go",
			[][2]string{{"gaussians(r.Schedule.Multipliers...)", "gaussians(r.Schedule.Multipliers[1:]...)"}},
			"./internal/evaluate/replay", "Pairs"},
		{"replay: unpaid count", "evaluate/plan.go", tells(`r.Diagnostics = map[string]any{"rows": d.Rows()}`),
			"./internal/evaluate/replay", "Pairs"},
		{"replay: a notice that tells", "evaluate/plan.go", tells(`if d.Rows() > 12 { r.Notes = append(r.Notes, "many decisions") }`),
			"./internal/evaluate/replay", "Pairs"},
		{"horizon of an episode in place of a person", "evaluate/plan.go",
			[][2]string{{"int64(d.EpisodeStart[to]-d.EpisodeStart[from]) > p.Horizon", "int64(d.EpisodeStart[from+1]-d.EpisodeStart[from]) > p.Horizon"}},
			"./evaluate", "Caps"},
		{"cap on episodes doubled", "evaluate/plan.go",
			[][2]string{{"int64(to-from) > p.Episodes", "int64(to-from) > 2*p.Episodes"}},
			"./evaluate", "Caps"},
		{"returns not clipped from above", "evaluate/internal/smooth/firstvisits.go",
			[][2]string{{"min(max(f, returns.Min), returns.Max)", "max(f, returns.Min)"}},
			"./evaluate/internal/smooth", "Clipped"},
		{"smooth bound at twice the beta", "evaluate/internal/smooth/smooth.go",
			[][2]string{{"InnerBeta(smooth.Beta, len(of.counts))", "InnerBeta(2*smooth.Beta, len(of.counts))"}},
			"./evaluate/internal/smooth", "Beta"},
		{"capacity not enforced by add", "internal/dp/mechanism/lattice.go",
			[][2]string{{"if a.persons >= a.grid.capacity() {", "if a.persons < 0 {"}},
			"./internal/dp/mechanism", "Capacity"},
		{"capacity not enforced by merge", "internal/dp/mechanism/lattice.go",
			[][2]string{{"if a.persons > a.grid.capacity()-b.persons {", "if a.persons < 0 {"}},
			"./internal/dp/mechanism", "Capacity"},
		{"merged persons not counted", "internal/dp/mechanism/lattice.go",
			[][2]string{{"a.persons += b.persons", ""}},
			"./internal/dp/mechanism", "Capacity"},
		{"sums of unlike lattices merge", "internal/dp/mechanism/lattice.go",
			[][2]string{{"a.grid != b.grid || len", "len"}},
			"./internal/dp/mechanism", "Capacity"},
		{"a sum is merged twice", "internal/dp/mechanism/lattice.go",
			[][2]string{{"b.released = true // its persons are counted here now", ""}},
			"./internal/dp/mechanism", "Capacity"},
	}
}
