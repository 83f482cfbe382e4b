//go:build slow

package mutants

// plansStand begins the runs of tests that are of the slow suite.
const plansStand = "PlansStand/"

// auditMutants are defects of mechanisms that `discreet audit` has to refute a claim for. They were
// written without a look at how it decides; nothing fails here but the audit of an honest plan.
func auditMutants() []mutant {
	const stand, reports = "internal/evaluate/examine", "internal/train/examine"
	const reading, read = "internal/rl/trajectory/probe", "OthersAreReadAlike"
	return []mutant{
		{name: "audit: noise shared out among coordinates", in: "internal/dp/mechanism", by: stand, run: plansStand + "dp-refine_replace_one",
			edits: edits{{"(*VectorSum, error) {\n\tgrid, err := newLattice(clip, clip*noiseMultiplier, dim)", "(*VectorSum, error) {\n\tgrid, err := newLattice(clip, clip*noiseMultiplier/math.Sqrt(float64(dim)), dim)"}, {"\n)\n\n// VectorSum releases", "\n\t\"math\"\n)\n\n// VectorSum releases"}}},
		{name: "audit: runs of a plan without its parts", in: stand, run: "AsManyPersonsAsAPlanNeeds",
			edits: edits{{"if len(lacking(whole, plan)) == 0 {", "if true {"}}},
		{name: "audit: sums are clipped after the noise", in: "internal/dp/mechanism", by: stand, run: plansStand + "dp-wis_replace_one",
			edits: edits{{"if sum := x + z; sum > 1 {", "if sum := x + z; sum < 0 {"}, {"p.place(min(x, 1), min(z, 1))", "p.place(x, z)"}, {"o := max(1-x-z, 0)", "o := 1 - x - z"},
				{"noisy[i] /= unit", "noisy[i] = min(max(noisy[i]/unit, -float64(a.persons)), float64(a.persons))"}}},
		{name: "audit: a sampling error that is not paid for", in: "evaluate/internal/scalar", by: stand, run: plansStand + "dp-is_add_remove_one",
			edits: edits{{"e.MaxWeight, e.Overlap = chosen, diagnostics", "e.MaxWeight, e.Overlap = chosen, diagnostics\n\tsum, squares := 0.0, 0.0\n\tfor _, part := range x {\n\t\tfor _, v := range part {\n\t\t\tsum += v\n\t\t\tsquares += v * v\n\t\t}\n\t}\n\te.StdSampling = math.Sqrt(max(squares-sum*sum/float64(x.Persons()), 0)) / float64(x.Persons())"}}},
		{name: "audit: rounds share their noise", in: "evaluate/internal/refine", by: stand, run: plansStand + "dp-refine_replace_one",
			edits: edits{{"return mechanism.Spread(", "seed, _ := seeds.LoadOrStore(src, src.Uint64())\n\tsrc = noise.NewTaped(seed.(uint64), src.Tape())\n\treturn mechanism.Spread("}, {"const chunk = 2048", "const chunk = 2048\n\nvar seeds sync.Map"}, {"import (\n\t\"cmp\"\n\t\"context\"\n\t\"math\"\n\n\t\"github.com/discreet-rl/discreet/dp\"\n", "import (\n\t\"cmp\"\n\t\"context\"\n\t\"math\"\n\t\"sync\"\n\n\t\"github.com/discreet-rl/discreet/dp\"\n"}}},
		{name: "audit: half the noise in the last round", in: "evaluate/internal/refine", by: stand, run: plansStand + "dp-refine_add_remove_one",
			edits: edits{{"return Sum{Dim: dim, Clip: clip, Multiplier: r.Schedule.Multipliers[k],", "m := r.Schedule.Multipliers[k]\n\tif k == len(r.Schedule.Multipliers)-1 {\n\t\tm /= 2\n\t}\n\treturn Sum{Dim: dim, Clip: clip, Multiplier: m,"}}},
		{name: "audit: what is beyond the clip counts as of another person", in: "internal/dp/mechanism", by: stand, run: plansStand + "dp-pdis_replace_one",
			edits: edits{{"if sum := x + z; sum > 1 {", "if sum := x + z; sum > 1 {\n\t\tp.place(x/sum, z/sum)\n\t\tif err := p.total.add(p.point[:len(p.total.sum)]); err != nil {\n\t\t\treturn err\n\t\t}\n\t\tx, z = x-x/sum, z-z/sum\n\t}\n\tif sum := x + z; sum > 1 {"}}},
		{name: "audit: weights are shares of those of all", in: "evaluate", by: stand, run: plansStand + "dp-wis_add_remove_one",
			edits: edits{{"\t\tof.each(xz[2*i], xz[2*i+1], s)\n", "\t\tx, z := xz[2*i], xz[2*i+1]\n\t\tof.each(x, z, s)\n\t\tall := 0.0\n\t\tfor i := range x {\n\t\t\tall += x[i] + z[i]\n\t\t}\n\t\tif mean := all / float64(len(x)); mean > 1 {\n\t\t\tfor i := range x {\n\t\t\t\tx[i], z[i] = x[i]/mean, z[i]/mean\n\t\t\t}\n\t\t}\n"}}},
		{name: "audit: the exact number of persons", in: "internal/dp/mechanism", by: stand, run: plansStand + "dp-wis_add_remove_one",
			edits: edits{{"out.Count = noisy[len(noisy)-1] / p.shape.count", "out.Count = math.Round(float64(p.total.persons) + 0*noisy[5])"}}},
		{name: "audit: a coin of six bits", in: "dp/local", by: reports, run: "BitsAreExamined",
			edits: edits{{"uint64(math.Ceil(math.Ldexp(lie, 64)))", "uint64(math.Floor(math.Ldexp(lie, 6))) << 58"}}},
		{name: "audit: coordinates are rounded up", in: "internal/dp/mechanism", by: stand, run: plansStand + "dp-refine_add_remove_one",
			edits: edits{{"dst[i] = int64(v * scale)", "dst[i] = int64(math.Copysign(math.Ceil(math.Abs(v*scale)), v))"}, {"if l.within(dst) {", "if len(dst) > 0 {"}}},
		// Those that follow were planted by an attacker and passed; some are for 40 persons, not 500.
		{name: "audit: numbers are shares of the largest in their part", in: "evaluate", by: stand, run: plansStand + "dp-is_add_remove_one",
			edits: edits{{"if err := m.each(numbers, part); err != nil {", "err := m.each(numbers, part)\n\t\tmost := 1e-9\n\t\tfor _, v := range numbers[0] {\n\t\t\tmost = max(most, v)\n\t\t}\n\t\tfor i := range numbers[0] {\n\t\t\tnumbers[0][i] /= most\n\t\t}\n\t\tif err != nil {"}}},
		{name: "audit: a tenth of the noise for many persons", in: "internal/dp/mechanism", by: stand, run: plansStand + "dp-wis_replace_one",
			edits: edits{{"exact, err := noise.NewGaussian(a.grid.sigma)", "sigma := a.grid.sigma\n\t\tif a.persons > 20 {\n\t\t\tsigma /= 10\n\t\t}\n\t\texact, err := noise.NewGaussian(sigma)"}}},
		{name: "audit: a third of the noise for many persons, after it is drawn", in: "internal/dp/mechanism", by: stand, run: plansStand + "dp-is_add_remove_one",
			edits: edits{{"noisy[i] = exact.Sample(src)", "noisy[i] = exact.Sample(src)\n\t\t\tif a.persons > 20 {\n\t\t\t\tnoisy[i] /= 3\n\t\t\t}"}}},
		{name: "audit: coins fall at three times the rate", in: "internal/dp/mechanism", by: stand, run: plansStand + "permute-and-flip",
			edits: edits{{"candidate = flip(totals, rate, src)", "candidate = flip(totals, new(big.Rat).Mul(rate, big.NewRat(3, 1)), src)"}}},
		{name: "audit: a tenth of the noise for shards", in: "internal/dp/mechanism", by: stand, run: plansStand + "dp-wis_replace_one",
			edits: edits{{"noisy, err := a.exactly(all.Values, src)", "a.grid.sigma /= 10\n\tnoisy, err := a.exactly(all.Values, src)"}}},
		{name: "audit: the system's entropy is one key", in: "dp/noise", by: stand, run: plansStand + "dp-is_add_remove_one",
			edits: edits{{"	s := &Source{keyed: true}\n", "	s := &Source{keyed: true}\n	if s.keyed {\n		s.seeded = true\n		return s, nil\n	}\n"}}},
		// Those that follow were planted by another attacker and passed.
		{name: "audit: put together by episode", in: "rl/trajectory/file", by: reading, run: read,
			edits: edits{{"k.rows.Put(e.Person, spill.Episode", "k.rows.Put(e.Number, spill.Episode"}}},
		{name: "audit: a person in two stretches counts twice", in: "rl/trajectory/internal/ingest", by: reading, run: read,
			edits: edits{{"skipping: k > 0}", "skipping: k < 0}"}, {"	if !s.newNames(x) {\n\t\treturn false\n\t}\n", "	s.newNames(x)\n"}}},
		{name: "audit: put together in the order of the rows", in: "rl/trajectory/file", run: "PersonsPutTogetherAreThose",
			edits: edits{{"slices.Sort(k.order)", "slices.IsSorted(k.order)"}}},
		{name: "an episode without a place comes last", in: "rl/trajectory/internal/ingest", by: "rl/trajectory/file", run: "RowsInAnyOrder",
			edits: edits{{"first, second := g.placed(a, steps), g.placed(b, steps)", "first, second := true, true"}}},
		{name: "episodes in the order of numbers below 0", in: "rl/trajectory/internal/ingest", by: "rl/trajectory/file", run: "TakeTurns",
			edits: edits{{"a.Number() >= 0 && b.Number() >= 0", "true"}}},
		{name: "rows of a person who comes again given to another", in: "rl/trajectory/internal/ingest", by: "rl/trajectory/file", run: "PersonsInOrder",
			edits: edits{{"case c < 0 || c == 0 && !begun:", "case c < 0 && c > 0:"}}},
		{name: "faults told before all rows are read", in: "rl/trajectory/internal/ingest", by: "rl/trajectory/file", run: "PersonsInOrder",
			edits: edits{{"s.arranged.rising && !errors.Is(err, io.EOF)", "s.arranged.rising && errors.Is(err, errApart)"}}},
		{name: "audit: the horizon is not enforced where all is well", in: "rl/trajectory/internal/ingest", run: "CapsWhereNothingIsWrong",
			edits: edits{{"o.Horizon > 0 && n > o.Horizon-t.decisions || ", ""}}},
		{name: "audit: the horizon is not enforced", in: "rl/trajectory/internal/ingest", by: reading, run: read,
			edits: edits{{"if s.o.Horizon > 0 {", "if s.o.Horizon > 1<<40 {"}}},
		{name: "audit: coins fall at 1.02 times the rate", in: "internal/dp/mechanism", by: stand, run: plansStand + "permute-and-flip",
			edits: edits{{"candidate = flip(totals, rate, src)", "candidate = flip(totals, new(big.Rat).Mul(rate, big.NewRat(51, 50)), src)"}}},
		{name: "audit: sqrt 2 for 2 in a regression by groups", in: "evaluate", by: stand, run: plansStand + "dp-wis_by_groups,_fitted",
			edits: edits{{"n.Rounds[k] *= 2", "n.Rounds[k] *= across"}}},
		{name: "audit: a vector is clipped only where a coordinate is beyond the clip", in: "internal/dp/mechanism", by: stand, run: plansStand + "sums_of_vectors",
			edits: edits{{"if largest/l.step*norm <= float64(l.radius) {", "if largest/l.step <= float64(l.radius) {"}, {"if l.within(dst) {", "if len(dst) > 0 {"}}},
	}
}
