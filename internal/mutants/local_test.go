//go:build slow

// Faults in what a device does to its report, and in audits of it.

package mutants

func localMutants() []mutant {
	return []mutant{
		{"local: flipped sign of a projection", "dp/local/prs.go",
			[][2]string{{"case u > 0:\n\t\treturn 1\n\tcase u < 0:\n\t\treturn 0", "case u > 0:\n\t\treturn 0\n\tcase u < 0:\n\t\treturn 1"}},
			"./dp/local", "TableOf"},
		{"local: flipped cap of PrivUnitG", "dp/local/cap.go",
			[][2]string{{"if dot >= h.threshold == inside {", "if dot <= -h.threshold == inside {"}},
			"./dp/local", "PrivUnitG"},
		{"local: epsilon doubled", "dp/local/threshold.go",
			[][2]string{{"math.Exp(epsilon), 4)", "math.Exp(2*epsilon), 4)"}},
			"./dp/local", "PRS|Response|Threshold"},
		{"local: each projected bit spends all", "dp/local/prs.go",
			[][2]string{{"k, epsilon, lieThreshold(share, 1)}", "k, epsilon, lieThreshold(epsilon, 1)}"}},
			"./dp/local", "PRS"},
		{"local: Laplace noise halved", "dp/local/laplace.go",
			[][2]string{{"xmath.DivUp(2*float64(limit), epsilon)", "xmath.DivUp(float64(limit), epsilon)"}},
			"./dp/local", "Laplace"},
		{"local: Laplace clip dropped", "dp/local/laplace.go",
			[][2]string{
				{"factor := min(1/l.step, float64(l.limit)/norm/top)", "factor := max(1/l.step, 0*norm)"},
				{"for !l.within(x, factor) {", "for l.limit < 0 && !l.within(x, factor) {"},
			},
			"./dp/local", "Laplace"},
		{"local: clip of a coordinate dropped", "dp/local/coordinates.go",
			[][2]string{{"v = min(1, max(-1, x[i]/r.clip))", "v = x[i] / r.clip"}},
			"./dp/local", "Coordinates|Piecewise|Hybrid"},
		{"local: clip of a projection dropped", "dp/local/prs.go",
			[][2]string{{".5*min(1, max(-1, r))", ".5*r"}},
			"./dp/local", "PRS"},
		{"local: NaN passes into vectors", "dp/local/local.go",
			[][2]string{{"if math.IsNaN(a) || math.IsInf(a, 0) {", "if a < 0 {"}},
			"./dp/local", "DirectionsHave|Coordinates"},
		{"local: NaN passes into one bit", "dp/local/response.go",
			[][2]string{{"if !math.IsNaN(x) && !math.IsInf(x, 0) {", "if x == x || x != x {"}},
			"./dp/local", "OneBit"},
		{"one run: a guess counts twice", "dp/audit/onerun.go",
			[][2]string{{"f := math.Exp(logTail(right, guesses, p))", "f := math.Exp(2 * logTail(right, guesses, p))"}},
			"./dp/audit", "OneRun|Chances"},
		{"one run: coins choose the guesses", "dp/audit/onerun.go",
			[][2]string{{"if low == high && x == low || low < x && x < high {", "if o.Member[i] == (x <= low) || low < x && x < high {"}},
			"./dp/audit", "OneRun"},
		{"audit of training: a bit lies half as often", "dp/local/prs.go",
			[][2]string{{"projection{dim, rows, seed}, k, epsilon, lieThreshold(share, 1)}", "projection{dim, rows, seed}, k, epsilon, lieThreshold(share, 1) / 2}"}},
			"./internal/train/examine", "BitsAreExamined"},
	}
}
