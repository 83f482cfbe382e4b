//go:build slow

package mutants

// plansStand begins the runs of tests that are of the slow suite.
const plansStand = "PlansStand/"

// auditMutants are defects of mechanisms that `discreet audit` has to refute a claim for. They were
// written without a look at how it decides; nothing fails here but the audit of an honest plan.
func auditMutants() []mutant {
	const stand, reports = "./internal/evaluate/examine", "./internal/train/examine"
	const reading, read = "./internal/rl/trajectory/probe", "OthersAreReadAlike"
	return []mutant{
		{"audit: noise shared out among coordinates", "internal/dp/mechanism/vectorsum.go",
			[][2]string{{"newLattice(clip, clip*noiseMultiplier, dim)", "newLattice(clip, clip*noiseMultiplier/math.Sqrt(float64(dim)), dim)"}, {"import (\n\t\"fmt\"", "import (\n\t\"fmt\"\n\t\"math\""}},
			stand, plansStand + "dp-refine_replace_one"},
		{"audit: sums are clipped after the noise", "internal/dp/mechanism/pair.go",
			[][2]string{{"if sum := x + z; sum > 1 {", "if sum := x + z; sum < 0 {"}, {"p.place(min(x, 1), min(z, 1))", "p.place(x, z)"}, {"o := max(1-x-z, 0)", "o := 1 - x - z"},
				{"noisy[i] /= unit", "noisy[i] = min(max(noisy[i]/unit, -float64(p.total.persons)), float64(p.total.persons))"}},
			stand, plansStand + "dp-wis_replace_one"},
		{"audit: a sampling error that is not paid for", "evaluate/internal/scalar/bounds.go",
			[][2]string{{"e.MaxWeight, e.Overlap = chosen, diagnostics", "e.MaxWeight, e.Overlap = chosen, diagnostics\n\tsum, squares := 0.0, 0.0\n\tfor _, v := range x {\n\t\tsum += v\n\t\tsquares += v * v\n\t}\n\te.StdSampling = math.Sqrt(max(squares-sum*sum/float64(len(x)), 0)) / float64(len(x))"}},
			stand, plansStand + "dp-is_add_remove_one"},
		{"audit: rounds share their noise", "evaluate/internal/refine/sum.go",
			[][2]string{{"out, _, err := sums[0].Release(src)", "seed, _ := seeds.LoadOrStore(src, src.Uint64())\n\tout, _, err := sums[0].Release(noise.NewTaped(seed.(uint64), src.Tape()))"}, {"const chunk = 2048", "const chunk = 2048\n\nvar seeds sync.Map"}},
			stand, plansStand + "dp-refine_replace_one"},
		{"audit: half the noise in the last round", "evaluate/internal/refine/refine.go",
			[][2]string{{"return Sum{Dim: dim, Clip: clip, Multiplier: r.Schedule.Multipliers[k],", "m := r.Schedule.Multipliers[k]\n\tif k == len(r.Schedule.Multipliers)-1 {\n\t\tm /= 2\n\t}\n\treturn Sum{Dim: dim, Clip: clip, Multiplier: m,"}},
			stand, plansStand + "dp-refine_add_remove_one"},
		{"audit: what is beyond the clip counts as of another person", "internal/dp/mechanism/pair.go",
			[][2]string{{"if sum := x + z; sum > 1 {", "if sum := x + z; sum > 1 {\n\t\tp.place(x/sum, z/sum)\n\t\tif err := p.total.add(p.point[:len(p.total.sum)]); err != nil {\n\t\t\treturn err\n\t\t}\n\t\tx, z = x-x/sum, z-z/sum\n\t}\n\tif sum := x + z; sum > 1 {"}},
			stand, plansStand + "dp-pdis_replace_one"},
		{"audit: weights are shares of those of all", "evaluate/guarded.go",
			[][2]string{{"	of.each(x, z, s)\n", "	of.each(x, z, s)\n\tall := 0.0\n\tfor i := range x {\n\t\tall += x[i] + z[i]\n\t}\n\tif mean := all / float64(len(x)); mean > 1 {\n\t\tfor i := range x {\n\t\t\tx[i], z[i] = x[i]/mean, z[i]/mean\n\t\t}\n\t}\n"}},
			stand, plansStand + "dp-wis_add_remove_one"},
		{"audit: the exact number of persons", "internal/dp/mechanism/pair.go",
			[][2]string{{"out.Count = noisy[5] / p.shape.count", "out.Count = math.Round(float64(p.total.persons) + 0*noisy[5])"}},
			stand, plansStand + "dp-wis_add_remove_one"},
		{"audit: a coin of six bits", "dp/local/threshold.go",
			[][2]string{{"uint64(math.Ceil(math.Ldexp(lie, 64)))", "uint64(math.Floor(math.Ldexp(lie, 6))) << 58"}},
			reports, "BitsAreExamined"},
		{"audit: coordinates are rounded up", "internal/dp/mechanism/lattice.go",
			[][2]string{{"dst[i] = int64(v * scale)", "dst[i] = int64(math.Copysign(math.Ceil(math.Abs(v*scale)), v))"}, {"if l.within(dst) {", "if len(dst) > 0 {"}},
			stand, plansStand + "dp-refine_add_remove_one"},
		// Those that follow were planted by an attacker and passed; some are for 40 persons, not 500.
		{"audit: numbers are shares of the largest in their part", "evaluate/gather.go",
			[][2]string{{"	return Gathered{x, z}, err", "	most := 1e-9\n	for i := range x {\n		most = max(most, x[i])\n	}\n	for i := range x {\n		x[i] /= most\n	}\n	return Gathered{x, z}, err"}},
			stand, plansStand + "dp-is_add_remove_one"},
		{"audit: a tenth of the noise for many persons", "internal/dp/mechanism/lattice.go",
			[][2]string{{"exact, err := noise.NewGaussian(a.grid.sigma)", "sigma := a.grid.sigma\n\t\tif a.persons > 20 {\n\t\t\tsigma /= 10\n\t\t}\n\t\texact, err := noise.NewGaussian(sigma)"}},
			stand, plansStand + "dp-wis_replace_one"},
		{"audit: a third of the noise for many persons, after it is drawn", "internal/dp/mechanism/lattice.go",
			[][2]string{{"noisy[i] = exact.Sample(src)", "noisy[i] = exact.Sample(src)\n\t\t\tif a.persons > 20 {\n\t\t\t\tnoisy[i] /= 3\n\t\t\t}"}},
			stand, plansStand + "dp-is_add_remove_one"},
		{"audit: coins fall at three times the rate", "internal/dp/mechanism/permuteflip.go",
			[][2]string{{"candidate = flip(totals, rate, src)", "candidate = flip(totals, new(big.Rat).Mul(rate, big.NewRat(3, 1)), src)"}},
			stand, plansStand + "permute-and-flip"},
		{"audit: a tenth of the noise for shards", "internal/dp/mechanism/joint.go",
			[][2]string{{"noisy, err := a.exactly(all.Values, src)", "a.grid.sigma /= 10\n\tnoisy, err := a.exactly(all.Values, src)"}},
			stand, plansStand + "dp-wis_replace_one"},
		{"audit: the system's entropy is one key", "dp/noise/source.go",
			[][2]string{{"	s := &Source{keyed: true}\n", "	s := &Source{keyed: true}\n	if s.keyed {\n		s.seeded = true\n		return s, nil\n	}\n"}},
			stand, plansStand + "dp-is_add_remove_one"},
		// Those that follow were planted by another attacker and passed.
		{"audit: put together by episode", "rl/trajectory/file/together.go",
			[][2]string{{"k.rows.Put(e.Person, spill.Episode", "k.rows.Put(e.Number, spill.Episode"}},
			reading, read},
		{"audit: episodes are persons where they are put together", "rl/trajectory/file/together.go",
			[][2]string{{"person[:0], uint64(e.Person))", "person[:0], uint64(e.Number))"}},
			reading, read},
		{"audit: a person in two stretches counts twice", "rl/trajectory/internal/ingest/join.go",
			[][2]string{{"skipping: i > 0}", "skipping: i < 0}"}, {"	if !s.newNames(x) {\n\t\treturn false\n\t}\n", "	s.newNames(x)\n"}},
			reading, read},
		{"audit: the horizon is not enforced", "rl/trajectory/internal/ingest/cap.go",
			[][2]string{{"if s.o.Horizon > 0 {", "if s.o.Horizon > 1<<40 {"}},
			reading, read},
		{"audit: coins fall at 1.02 times the rate", "internal/dp/mechanism/permuteflip.go",
			[][2]string{{"candidate = flip(totals, rate, src)", "candidate = flip(totals, new(big.Rat).Mul(rate, big.NewRat(51, 50)), src)"}},
			stand, plansStand + "permute-and-flip"},
		{"audit: sqrt 2 for 2 in a regression by groups", "evaluate/groupsplan.go",
			[][2]string{{"n.Rounds[k] *= 2", "n.Rounds[k] *= across"}},
			stand, plansStand + "dp-wis_by_groups,_fitted"},
		{"audit: a vector is clipped only where a coordinate is beyond the clip", "internal/dp/mechanism/lattice.go",
			[][2]string{{"if largest/l.step*norm <= float64(l.radius) {", "if largest/l.step <= float64(l.radius) {"}, {"if l.within(dst) {", "if len(dst) > 0 {"}},
			stand, plansStand + "sums_of_vectors"},
	}
}
