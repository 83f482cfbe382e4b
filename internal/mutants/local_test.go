//go:build slow

// Faults in what a device does to its report, and in audits of it.

package mutants

func localMutants() []mutant {
	return []mutant{
		{name: "local: flipped sign of a projection", in: "dp/local", run: "TableOf",
			edits: edits{{"case u > 0:\n\t\treturn 1\n\tcase u < 0:\n\t\treturn 0", "case u > 0:\n\t\treturn 0\n\tcase u < 0:\n\t\treturn 1"}}},
		{name: "local: flipped cap of PrivUnitG", in: "dp/local", run: "PrivUnitG",
			edits: edits{{"if dot >= h.threshold == inside {", "if dot <= -h.threshold == inside {"}}},
		{name: "local: epsilon doubled", in: "dp/local", run: "PRS|Response|Threshold",
			edits: edits{{"math.Exp(epsilon), 4)", "math.Exp(2*epsilon), 4)"}}},
		{name: "local: each projected bit spends all", in: "dp/local", run: "PRS",
			edits: edits{{"k, epsilon, lieThreshold(share, 1)}", "k, epsilon, lieThreshold(epsilon, 1)}"}}},
		{name: "local: Laplace noise halved", in: "dp/local", run: "Laplace",
			edits: edits{{"xmath.DivUp(2*float64(limit), epsilon)", "xmath.DivUp(float64(limit), epsilon)"}}},
		{name: "local: Laplace clip dropped", in: "dp/local", run: "Laplace",
			edits: edits{
				{"factor := min(1/l.step, float64(l.limit)/norm/top)", "factor := max(1/l.step, 0*norm)"},
				{"for !l.within(x, factor) {", "for l.limit < 0 && !l.within(x, factor) {"},
			}},
		{name: "local: clip of a coordinate dropped", in: "dp/local", run: "Coordinates|Piecewise|Hybrid",
			edits: edits{{"v = min(1, max(-1, x[i]/r.clip))", "v = x[i] / r.clip"}}},
		{name: "local: clip of a projection dropped", in: "dp/local", run: "PRS",
			edits: edits{{".5*min(1, max(-1, r))", ".5*r"}}},
		{name: "local: NaN passes into vectors", in: "dp/local", run: "DirectionsHave|Coordinates",
			edits: edits{{"if math.IsNaN(a) || math.IsInf(a, 0) {", "if a < 0 {"}}},
		{name: "local: NaN passes into one bit", in: "dp/local", run: "OneBit",
			edits: edits{{"if !math.IsNaN(x) && !math.IsInf(x, 0) {", "if x == x || x != x {"}}},
		{name: "one run: a guess counts twice", in: "dp/audit", run: "OneRun|Chances",
			edits: edits{{"f := math.Exp(logTail(right, guesses, p))", "f := math.Exp(2 * logTail(right, guesses, p))"}}},
		{name: "one run: coins choose the guesses", in: "dp/audit", run: "OneRun",
			edits: edits{{"if low == high && x == low || low < x && x < high {", "if o.Member[i] == (x <= low) || low < x && x < high {"}}},
		{name: "audit of training: a bit lies half as often", in: "dp/local", by: "internal/train/examine", run: "BitsAreExamined",
			edits: edits{{"projection{dim, rows, seed}, k, epsilon, lieThreshold(share, 1)}", "projection{dim, rows, seed}, k, epsilon, lieThreshold(share, 1) / 2}"}}},
	}
}
