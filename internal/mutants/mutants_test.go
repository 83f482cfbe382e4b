//go:build slow

package mutants

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// mutant is one fault: in file, every old becomes its new. The tests of
// packages matching run must fail with it.
type mutant struct {
	name  string
	file  string
	edits [][2]string
	pkg   string
	run   string
}

func mutants() []mutant {
	return []mutant{
		{"halved noise", "internal/dp/mechanism/lattice.go",
			[][2]string{{"sigma: math.Nextafter(sd/step, math.Inf(1))", "sigma: math.Nextafter(sd/step/2, math.Inf(1))"}},
			"./internal/dp/mechanism", "Audit|Noise"},
		{"dropped l2 clip", "internal/dp/mechanism/lattice.go",
			[][2]string{
				{"if largest/l.step*norm <= float64(l.radius) {", "if norm > 0 {"},
				{"if l.within(dst) {", "if len(dst) > 0 {"},
			},
			"./internal/dp/mechanism", "Rounded|Audit"},
		{"norm not enforced in integers", "internal/dp/mechanism/lattice.go",
			[][2]string{{"if l.within(dst) {", "if len(dst) > 0 {"}},
			"./internal/dp/mechanism", "NormIsEnforced"},
		{"dropped clip of moments", "internal/dp/mechanism/moments.go",
			[][2]string{
				{"centred := min(max(x, m.low), m.high) - ", "centred := x - "},
				{"k = int64(min(max(centred/m.total.grid.step, -limit), limit))", "k = int64(centred / m.total.grid.step)\n\t\t_ = limit"},
			},
			"./internal/dp/mechanism", "Audit"},
		{"NaN passes the moments", "internal/dp/mechanism/moments.go",
			[][2]string{{"if !math.IsNaN(x) && !math.IsInf(x, 0) {", "if x == x || true {"}},
			"./internal/dp/mechanism", "Broken"},
		{"diameter of the clip set halved", "internal/dp/mechanism/lattice.go",
			[][2]string{{"return diameter / 2", "return diameter / 4"}},
			"./internal/dp/mechanism", "Audit"},
		{"square weighs too much", "internal/dp/mechanism/moments.go",
			[][2]string{{"return parabola{square: 0.8}", "return parabola{square: 0.9}"}},
			"./internal/dp/mechanism", "Diameter"},
		{"denominator weighs too much", "internal/dp/mechanism/ratio.go",
			[][2]string{{"height := 1.7 ", "height := 1.8 "}},
			"./internal/dp/mechanism", "Diameter"},
		{"second release of one sum", "internal/dp/mechanism/lattice.go",
			[][2]string{{"a.released = true\n\tout", "out"}},
			"./internal/dp/mechanism", "Once"},
		{"wrong adjacency: replacing counts once", "dp/dp.go",
			[][2]string{{"return 2 * clip", "return clip"}},
			"./dp/account", "Adjacency"},
		{"receipt not redeemed", "evaluate/plan.go",
			[][2]string{{"if err := redeem(r.plan.adjacency(), r.plan.event); err != nil {", "if redeem == nil {\n\t\terr := error(nil)"}},
			"./evaluate", "Receipt"},
		{"receipt issued again is good for a new draw", "dp/receipt/receipt.go",
			[][2]string{{"if r != nil && r.resumed {", "if r != nil && r.resumed && !r.issued {"}},
			"./dp/ledger", "DrawsNothingAnew"},
		{"receipt used twice", "dp/receipt/receipt.go",
			[][2]string{{"if !r.used.CompareAndSwap(false, true) {", "if r.used.CompareAndSwap(false, true); false {"}},
			"./dp/receipt", "Once|UsedOnce"},
		{"histogram of the clip uncharged", "evaluate/budget.go",
			[][2]string{{"func eventOf(s scalar.Stages) dp.Event { return", "func eventOf(s scalar.Stages) dp.Event { s.Clip = 0; return"}},
			"./evaluate", "EventHolds"},
		{"baseline uncharged", "evaluate/budget.go",
			[][2]string{{"func eventOf(s scalar.Stages) dp.Event { return", "func eventOf(s scalar.Stages) dp.Event { s.Baseline = 0; return"}},
			"./evaluate", "EventHolds"},
		{"noise of a mean halved", "evaluate/internal/scalar/mean.go",
			[][2]string{{"clip.Min, clip.Max, w.Noise.Main,", "clip.Min, clip.Max, w.Noise.Main/2,"}},
			"./evaluate/internal/scalar", "AuditsOf/estimate"},
		{"noise of the clip's histogram halved", "evaluate/internal/scalar/clip.go",
			[][2]string{{"mechanism.NewHistogram(n.Steps+1, c.multiplier,", "mechanism.NewHistogram(n.Steps+1, c.multiplier/2,"}},
			"./evaluate/internal/scalar", "AuditsOf/histogram"},
		{"noise of one number's baseline halved", "evaluate/internal/scalar/drbaseline.go",
			[][2]string{{"g.Min, g.Max, 1, d.Noise,", "g.Min, g.Max, 1, d.Noise/2,"}},
			"./evaluate/internal/scalar", "AuditsOf/one_number"},
		{"noise of a baseline by action halved", "evaluate/internal/scalar/drbaseline.go",
			[][2]string{{"math.Inf(1)), d.Noise,", "math.Inf(1)), d.Noise/2,"}},
			"./evaluate/internal/scalar", "AuditsOf/by_action"},
		{"noise of the count of clipped persons halved", "evaluate/internal/scalar/overlap.go",
			[][2]string{{"mechanism.NewVectorSum(1, yes, o.noise.Clipped,", "mechanism.NewVectorSum(1, yes, o.noise.Clipped/2,"}},
			"./evaluate/internal/scalar", "AuditsOf/clipped_share"},
		{"noise of the weights' moments halved", "evaluate/internal/scalar/overlap.go",
			[][2]string{{"mechanism.NewMoments(0, o.cap, o.noise.Weights,", "mechanism.NewMoments(0, o.cap, o.noise.Weights/2,"}},
			"./evaluate/internal/scalar", "AuditsOf/mean_weight"},
		{"noise of the bounds halved", "evaluate/internal/scalar/bounds.go",
			[][2]string{{"mechanism.NewPair(cap, b.Noise.Main,", "mechanism.NewPair(cap, b.Noise.Main/2,"}},
			"./evaluate/internal/scalar", "AuditsOf/bounds"},
		{"triangle of a pair taken for a segment", "internal/dp/mechanism/pair.go",
			[][2]string{{"return halfWidth(adjacency, 2, longest)", "return halfWidth(adjacency, math.Sqrt2, longest)"}},
			"./internal/dp/mechanism", "Audit"},
		{"triangle of a pair too high", "internal/dp/mechanism/pair.go",
			[][2]string{{"triangle{height: 1.732,", "triangle{height: 1.8,"}},
			"./internal/dp/mechanism", "PairDiameter"},
		{"products of a pair weigh too much", "internal/dp/mechanism/pair.go",
			[][2]string{{"product: 2.8} //", "product: 5} //"}},
			"./internal/dp/mechanism", "PairDiameter"},
		{"only one number of a pair shrinks", "internal/dp/mechanism/pair.go",
			[][2]string{{"x, z = x/sum, z/sum", "x = 1 - z"}},
			"./internal/dp/mechanism", "PairShrinks"},
		{"rewards of transitions weigh too much", "internal/dp/mechanism/transitions.go",
			[][2]string{{"const cellHeight = 0.7", "const cellHeight = 0.72"}},
			"./internal/dp/mechanism", "TransitionsDiameter"},
		{"decisions count in full beyond the norm", "internal/dp/mechanism/transitions.go",
			[][2]string{{"if w*(2*before+w) > left {", "if left < 0 {"}},
			"./internal/dp/mechanism", "TransitionsDiameter|Audit"},
		{"decisions in one cell count as if apart", "internal/dp/mechanism/transitions.go",
			[][2]string{{"left = max(left-w*(2*before+w), 0)", "left = max(left-w*w, 0)"}},
			"./internal/dp/mechanism", "TransitionsDiameter"},
		{"rewards of transitions are not clipped", "internal/dp/mechanism/transitions.go",
			[][2]string{{"cellHeight*w*min(max(d.Mark, -1), 1)", "cellHeight*w*d.Mark"}},
			"./internal/dp/mechanism", "OutsideTheTable|Audit"},
		{"noise of a regression's rounds halved", "evaluate/internal/scalar/logistic.go",
			[][2]string{{"l.Size(), l.Clip(), l.Noise[round],", "l.Size(), l.Clip(), l.Noise[round]/2,"}},
			"./evaluate/internal/scalar", "AuditOfARegression"},
		{"a regression's rounds uncharged", "evaluate/budget.go",
			[][2]string{{"func eventOf(s scalar.Stages) dp.Event { return", "func eventOf(s scalar.Stages) dp.Event { s.Rounds[4] = 0; return"}},
			"./internal/evaluate/replay", "PairsKeep"},
		{"noise of a group's regression is that of points at a right angle", "evaluate/groupsplan.go",
			[][2]string{{"n.Rounds[k] *= 2", "n.Rounds[k] *= across"}},
			"./evaluate", "NoiseWhereAPerson"},
		{"counts of a group have the noise of fixed groups", "evaluate/groupsplan.go",
			[][2]string{{"n.Behavior *= across", "n.Behavior *= 1"}},
			"./evaluate", "NoiseWhereAPerson"},
		{"limits of several groups hold one by one", "evaluate/internal/scalar/behavior.go",
			[][2]string{{"*max(b.Together, 1)", ""}},
			"./evaluate/internal/scalar", "LimitsOfGroups"},
		{"intervals of several policies are made of the logged probabilities", "evaluate/answers.go",
			[][2]string{{"if s.Rho == nil { // weights", "if s != nil { // weights"}},
			"./evaluate", "AnswersHoldWithoutLogged"},
		{"limits that tie name the first policy", "evaluate/selection.go",
			[][2]string{{"if len(first) != 1 {", "if len(first) == 0 {"}},
			"./evaluate", "LimitsThatTie"},
		{"limits around coefficients on their way", "evaluate/internal/scalar/logistic.go",
			[][2]string{{"if !f.Settled {", "if f.l.Dim < 0 {"}},
			"./evaluate/internal/scalar", "SteepLogs"},
		{"limits where noise leaves open how steep log-odds are", "evaluate/internal/scalar/logistic.go",
			[][2]string{{"math.Sqrt(slices.Max(f.spread)) <= longestRegion", "math.Sqrt(slices.Max(f.spread)) <= 1e300*longestRegion"}},
			"./evaluate/internal/scalar", "ThatNoiseHides"},
		{"weight of a decision depends on its action", "evaluate/internal/scalar/logistic.go",
			[][2]string{{"most = max(most, all-v*v+(1-v)*(1-v))", "most = max(most, all-v*v)"}},
			"./evaluate/internal/scalar", "ContributionsKeepTheClip"},
		{"a table of transitions made for half the diameter", "internal/dp/mechanism/transitions.go",
			[][2]string{{"most*halfWidth(adjacency, 2, longest)", "most*halfWidth(adjacency, 1, longest)"}},
			"./internal/dp/mechanism", "Audit"},
		{"first values clipped to less than they span", "evaluate/internal/fqe/table.go",
			[][2]string{{"within = facts.Range{Min: min(within.Min, v), Max: max(within.Max, v)}", "within = facts.Range{Min: values[0], Max: values[0] + 0*v}"}},
			"./evaluate/internal/fqe", "Start"},
		{"noise of a model's table halved", "evaluate/internal/fqe/table.go",
			[][2]string{{"t.Most(), t.Multiplier,", "t.Most(), t.Multiplier/2,"}},
			"./evaluate/internal/fqe", "Audit"},
		{"noise of the mean over first states halved", "evaluate/internal/fqe/table.go",
			[][2]string{{"within.Max+pad, q.Multiplier,", "within.Max+pad, q.Multiplier/2,"}},
			"./evaluate/internal/fqe", "Audit"},
		{"whoever was cut off has ended", "evaluate/internal/fqe/table.go",
			[][2]string{{"return w.t.places() + 1", "return w.t.places()"}},
			"./evaluate/internal/fqe", "EndsAreNot"},
		{"the end of the horizon is an outcome of the state", "evaluate/internal/fqe/table.go",
			[][2]string{{"if int64(before) >= w.t.Decisions-1 {", "if int64(before) >= w.t.Decisions {"}},
			"./evaluate/internal/fqe", "FixedHorizon"},
		{"noise of a linear model's moments halved", "evaluate/internal/fqe/linear.go",
			[][2]string{{"l.Most(), l.Multiplier,", "l.Most(), l.Multiplier/2,"}},
			"./evaluate/internal/fqe", "LinearAudit"},
		{"a linear model asks what followed the last decision", "evaluate/internal/fqe/linear.go",
			[][2]string{{"int64(before) >= l.Decisions-1 {", "int64(before) >= l.Decisions {"}},
			"./evaluate/internal/fqe", "LinearValues"},
		{"what is missing is not counted", "evaluate/internal/scalar/bounds.go",
			[][2]string{{"max(ends[0]-low, 0), max(high-ends[1], 0)", "0 * low, 0 * high"}},
			"./evaluate/internal/truthbench", "HoldOn"},
		{"what a design never draws taken for drawn", "rl/policy/ratiobound.go",
			[][2]string{{"out.Supported && supported", "(out.Supported || supported)"}},
			"./rl/policy", "RatioBound"},
		{"a design believed against what is missing", "evaluate/internal/scalar/bounds.go",
			[][2]string{{"!e.Missing.Doubted && !e.Undetermined", "!e.Undetermined"}},
			"./evaluate", "MissingMassBringsTheGuardBack"},
		{"persons without a record in data that are stated to be complete", "evaluate/plan.go",
			[][2]string{{"if from == to && p.Design != nil && p.Design.Complete {", "if from > to && p.Design != nil && p.Design.Complete {"}},
			"./evaluate", "RecordsThatAreLost"},
		{"rows beyond a cap dropped from complete data", "rl/trajectory/internal/ingest/cap.go",
			[][2]string{{"if !s.o.Complete {", "if cap != \"\" {"}},
			"./rl/trajectory/file", "CompleteDataLoseNothing"},
		{"a weight bounded by one decision", "evaluate/design.go",
			[][2]string{{"w.largest *= largest", "w.largest = largest"}},
			"./evaluate", "TiersFollow"},
		{"weights above 1 refute nothing", "evaluate/internal/scalar/refuted.go",
			[][2]string{{"> 1+refuting*sd", "> 1000+refuting*sd"}},
			"./evaluate/internal/scalar", "Refuted"},
		{"what one answer refutes left to the others", "evaluate/answers.go",
			[][2]string{{"if estimates[i] != nil && rests {", "if estimates[i] != nil && !rests {"}},
			"./evaluate", "Refuted"},
		{"what one answer lacks left to itself", "evaluate/answers.go",
			[][2]string{{"e != nil && e.Missing.Unguarded {", "e != nil && e.Missing.Doubted {"}},
			"./evaluate", "OneAnswerBrings"},
		{"weights of an answer bounded by half of what they are", "evaluate/answersplan.go",
			[][2]string{{"Above: t.cap(a.policies, w.largest)}", "Above: t.cap(a.policies, w.largest) / 2}"}},
			"./evaluate", "SeveralAnswersFollow"},
		{"an allowance taken off the missing mass", "evaluate/internal/scalar/bounds.go",
			[][2]string{{"e.Clipping = [2]float64{max(ends[0]-low, 0), max(high-ends[1], 0)}", "low += e.Missing.SD + 2*e.StdSampling\n\thigh -= e.Missing.SD + 2*e.StdSampling\n\te.Clipping = [2]float64{max(ends[0]-low, 0), max(high-ends[1], 0)}"}},
			"./evaluate/internal/truthbench", "HoldOn"},
		{"error of privacy told as one of sampling", "evaluate/internal/scalar/mean.go",
			[][2]string{{"private = w.withHidden(private,", "sampling = w.withHidden(sampling,"}},
			"./evaluate/internal/scalar", "HoldsNoNoise"},
		{"a missing share left out of the headline", "internal/report/missing.go",
			[][2]string{{"share < partly ||", "share < 1 ||"}},
			"./internal/report", "MissingMass"},
		{"a baseline fills what is vouched for", "evaluate/internal/scalar/bounds.go",
			[][2]string{{"(0.5-fill)*(noisy.X+noisy.Z)) / persons", "0*(noisy.X+noisy.Z)) / persons"}},
			"./evaluate/internal/scalar", "DoublyRobust"},
		{"a release without its baseline's noise", "evaluate/baseline.go",
			[][2]string{{"s.Baseline = b.share", "s.Baseline = 0 * b.share"}},
			"./evaluate", "EventHolds"},
		{"a record that was cut off taken for one that ended", "evaluate/internal/scalar/vouched.go",
			[][2]string{{"if s.Data.Ended(e) && int64(hi-lo) < c.Horizon {", "if int64(hi-lo) < c.Horizon {"}},
			"./evaluate/internal/scalar", "BoundsHold"},
		{"decisions after the draw of an arm keep its probability", "rl/policy/once.go",
			[][2]string{{"if decision(b.d, row) > 0 {", "if decision(b.d, row) < 0 {"}},
			"./rl/policy", "ByStep"},
		{"every decision of a design is the first", "rl/policy/bystep.go",
			[][2]string{{"at := b.probs[min(decision(b.d, row), len(b.probs)-1)]", "at := b.probs[0]"}},
			"./rl/policy", "ByStep"},
		{"losses weighted like rewards", "evaluate/internal/scalar/vouched.go",
			[][2]string{{"z += weight * (1 - share)", "z += weight"}},
			"./evaluate/internal/scalar", "BoundsHold"},
		{"noise of another author's rounds halved", "evaluate/rounds.go",
			[][2]string{{"mechanism.NewVectorSum(round.Dim, round.Clip, r.noise[k],", "mechanism.NewVectorSum(round.Dim, round.Clip, r.noise[k]/2,"}},
			"./internal/evaluate/replay", "ForeignMethods"},
		{"a round of another author's uncharged", "evaluate/sums.go",
			[][2]string{{"gaussians(r.noise...)", "gaussians(r.noise[0])"}},
			"./internal/evaluate/replay", "ForeignMethods"},
		{"what another author's code wrote before it failed counts", "evaluate/rounds.go",
			[][2]string{{"onePerson(d, person)) }) {\n\t\tclear(x)", "onePerson(d, person)) }) {"}},
			"./evaluate", "CodeThatFails"},
		{"another author's code is handed the data themselves", "evaluate/rounds.go",
			[][2]string{{"return slices.Clone(column[from:to])", "return column[from:to]"}},
			"./evaluate", "CodeSees"},
		{"another author's code is asked once", "evaluate/rounds.go",
			[][2]string{{"for i := len(first) - 1; i >= 0; i-- {", "for i := -1; i >= 0; i-- {"}},
			"./evaluate", "CodeThatKeeps"},
		{"sets of bins taken for single ones", "internal/dp/mechanism/histogram.go",
			[][2]string{{"math.Sqrt(2*float64(most)), up), math.Sqrt(float64(most))", "math.Sqrt2, up), 1.0*float64(most)/float64(most)"}},
			"./internal/dp/mechanism", "SetsStay"},
		{"a person in more bins than allowed", "internal/dp/mechanism/histogram.go",
			[][2]string{{" && in < h.most {", " {"}},
			"./internal/dp/mechanism", "SetsStay"},
		{"counts of logged actions uncharged", "evaluate/budget.go",
			[][2]string{{"func eventOf(s scalar.Stages) dp.Event { return", "func eventOf(s scalar.Stages) dp.Event { s.Behavior = 0; return"}},
			"./internal/evaluate/replay", "Pairs"},
		{"estimated probabilities without limits", "evaluate/internal/scalar/behavior.go",
			[][2]string{{"return c-p*n >= -z*math", "return c-p*n >= -0.1*z*math"}},
			"./evaluate/internal/scalar", "LimitsHold"},
		{"later decisions in a cell count", "evaluate/internal/scalar/behavior.go",
			[][2]string{{"if v[row] < 0 || last[v[row]/b.Actions] == p+1 {", "if v[row] < 0 {"}},
			"./evaluate/internal/scalar", "FirstDecisions"},
		{"hidden confounding raises weights", "evaluate/internal/scalar/confounded.go",
			[][2]string{{"s.Rho[row] *= e + (1-e)/factor", "s.Rho[row] *= e + (1-e)*factor"}},
			"./evaluate/internal/scalar", "Confound"},
		{"hidden confounding stated and not allowed for", "evaluate/guarded.go",
			[][2]string{{"if of.confounding > 1 {", "if false {"}},
			"./evaluate/internal/truthbench", "Confounding"},
		{"weights of a baseline not cut", "evaluate/internal/scalar/drbaseline.go",
			[][2]string{{"den = min(w, 1)", "den = w"}},
			"./evaluate/internal/scalar", "PersonsVector"},
		{"visited states not shared out", "evaluate/internal/scalar/drbaseline.go",
			[][2]string{{"scale := 1 / math.Sqrt(", "scale := 1 + 0*math.Sqrt("}},
			"./evaluate/internal/scalar", "PersonsVector"},
		{"diagnostics without a share", "evaluate/internal/scalar/bounds.go",
			[][2]string{{"if b.Noise.Weights != 0 {", "if b.Noise.Weights = max(b.Noise.Weights, 1); true {"}, {"var diagnostics *Overlap", "var diagnostics *Overlap\n\tb.Noise.Clipped = max(b.Noise.Clipped, 1)"}},
			"./evaluate", "Unpaid"},
		{"interval without the noise", "evaluate/internal/scalar/scalar.go",
			[][2]string{{"half := Z95 * math.Hypot(sampling, privacy)", "half := Z95 * math.Hypot(sampling, 0*privacy)"}},
			"./evaluate", "Cover"},
		{"interval without sampling", "evaluate/internal/scalar/scalar.go",
			[][2]string{{"half := Z95 * math.Hypot(sampling, privacy)", "half := Z95 * math.Hypot(0*sampling, privacy)"}},
			"./evaluate", "Cover"},
		{"smooth noise halved", "internal/dp/mechanism/smooth.go",
			[][2]string{{"sd := s.Alpha * (", "sd := s.Alpha / 2 * ("}},
			"./evaluate", "ByHand"},
		{"several trajectories a person accepted", "evaluate/smooth.go",
			[][2]string{{"d = firstOfEach(d)", "_ = firstOfEach"}},
			"./evaluate", "FirstTrajectory"},
		{"seeded noise unmarked", "dp/noise/source.go",
			[][2]string{{"func (s *Source) Seeded() bool { return s.seeded }", "func (s *Source) Seeded() bool { return false }"}},
			"./evaluate", "Every"},
		{"several answers: each end as of one", "evaluate/internal/scalar/bounds.go",
			[][2]string{{"return math.Sqrt2 * math.Erfinv(Confidence(b.Answers))", "return Z95"}},
			"./evaluate/internal/scalar", "Joint"},
		{"several answers: a contrast of the same side twice", "evaluate/internal/scalar/contrast.go",
			[][2]string{{"(za[i]+xb[i])/2", "(za[i]+zb[i])/2"}},
			"./evaluate/internal/scalar", "Contrast"},
		{"several answers: less noise than is paid for", "evaluate/answersplan.go",
			[][2]string{{"n.Main = found[k]", "n.Main = found[k] / 1.5"}},
			"./internal/evaluate/replay", "Pairs"},
		{"several answers: one that is not in the event", "evaluate/answersplan.go",
			[][2]string{{"return gaussians(found...), nil", "return gaussians(found[1:]...), nil"}},
			"./internal/evaluate/replay", "Pairs"},
		{"permute-and-flip: an exchanged person counts once", "internal/dp/mechanism/permuteflip.go",
			[][2]string{{"moves.Lsh(moves, 1)", "moves.Lsh(moves, 0)"}},
			"./internal/dp/mechanism", "PermuteAndFlipKeeps"},
		{"permute-and-flip: scores of a person are not clipped", "internal/dp/mechanism/permuteflip.go",
			[][2]string{{"shrink := min(1, most*grid.step/(high-low))", "shrink := 1.0"}, {"int64(min((s-low)*shrink/grid.step, most))", "int64((s - low) * shrink / grid.step)\n\t\t_ = most"}},
			"./internal/dp/mechanism", "ScoresOfAPerson"},
		{"permute-and-flip: half of its epsilon charged", "evaluate/choice.go",
			[][2]string{{"dp.PermuteAndFlip{Epsilon: epsilon}", "dp.PermuteAndFlip{Epsilon: epsilon / 2}"}},
			"./evaluate", "ChoiceNames"},
		{"several answers: a difference of values with the ends swapped", "evaluate/answers.go",
			[][2]string{{"first.Interval[0] - second.Interval[1], first.Interval[1] - second.Interval[0]", "first.Interval[0] - second.Interval[0], first.Interval[1] - second.Interval[1]"}},
			"./evaluate", "ContrastsOfValues"},
		{"groups: sqrt 2 forgotten where a person moves", "evaluate/groupsplan.go",
			[][2]string{{"n.Main *= across", "n.Main /= 1 + 0*across"}},
			"./internal/evaluate/replay", "Pairs"},
		{"groups: a baseline that may turn round pays as one that may not", "evaluate/groupsplan.go",
			[][2]string{{"n.Baseline *= 2", "n.Baseline *= 1"}},
			"./internal/evaluate/replay", "Pairs"},
		{"groups: sizes that change are told without noise", "evaluate/groupsplan.go",
			[][2]string{{"q.Privacy.Adjacency = dp.AddRemoveOne", "_ = dp.AddRemoveOne"}},
			"./internal/evaluate/replay", "Pairs"},
		{"groups: each end as of one", "evaluate/groupsplan.go",
			[][2]string{{"return s.intervals\n", "return 1\n"}},
			"./evaluate", "GroupsCost"},
		{"groups: whose rows disagree is in the first one's group", "evaluate/groups.go",
			[][2]string{{"if !known || row > from && place != out[person] {", "if !known {"}},
			"./evaluate", "WhoIsIn"},
		{"groups: sizes of fixed groups unchecked", "evaluate/groupsplan.go",
			[][2]string{{"want := by.Of[i].Persons; n != want {", "want := by.Of[i].Persons; n != want && n < 0 {"}},
			"./evaluate", "SizesOfFixed"},
		{"number of persons unchecked", "evaluate/plan.go",
			[][2]string{{"case q.Adjacency == dp.ReplaceOne && m != p.public.Persons:", "case false:"}},
			"./evaluate", "Public"},
		{"delta as large as 1/m", "evaluate/public.go",
			[][2]string{{"if p.largeDelta() && !q.LargeDelta {", "if q.Budget.Delta >= 1 {"}},
			"./evaluate", "Impossible"},
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
		{"truncated_poisson_sampled: nobody is pushed out", "dp/account/truncated.go",
			[][2]string{{"cut, err := p.sampled(ctx, dp.ReplaceOne, e.Event, t.rate, v)", "cut, err := p.sampled(ctx, dp.AddRemoveOne, e.Event, t.rate, v)"}},
			"./dp/account", "Truncated"},
		{"truncated_poisson_sampled: Renyi divergence at one distance", "dp/account/truncated.go",
			[][2]string{{"poissonRenyi(order, t.rate, 2*mu)", "poissonRenyi(order, t.rate, mu)"}},
			"./dp/account", "Truncated"},
		{"report_noisy_max: one score moves", "dp/account/selection.go",
			[][2]string{{"moves := 2.0", "moves := 1.0"}},
			"./dp/account", "NoisyMax"},
		{"exponential: half of its range", "dp/account/internal/lossdist/boundedrange.go",
			[][2]string{{"uniformCuts(-l.Epsilon, l.Epsilon, coarse, 0)", "uniformCuts(-l.Epsilon, l.Epsilon/2, coarse, 0)"}},
			"./dp/account", "Exponential"},
		{"tree_aggregation: the root is free", "dp/account/treeaggregation.go",
			[][2]string{{"width <= e.Steps; width *= 2", "2*width <= e.Steps; width *= 2"}},
			"./dp/account", "TreeAggregation"},
		{"tree_aggregation: steps in different nodes", "dp/account/treeaggregation.go",
			[][2]string{{"xmath.MulUp(n.Upper, xmath.MulUp(w.Upper, w.Upper))", "xmath.MulUp(n.Upper, w.Upper)"}},
			"./dp/account", "TreeAggregation"},
		{"odometer: a level too early", "dp/account/odometer.go",
			[][2]string{{"return s.sum <= f.limit &&", "return s.sum/8 <= f.limit &&"}},
			"./dp/account", "Odometer"},
		{"FixDelta: each run has all of delta", "dp/account/fixdelta.go",
			[][2]string{{"part: xmath.DivDown(delta, total)", "part: delta"}},
			"./dp/account", "FixDelta"},
		{"a cancelled query answers", "dp/account/internal/lossdist/curve.go",
			[][2]string{{"lower, upper = c.epsilon(ctx, delta, enough)\n\treturn lower, upper, ctx.Err()", "lower, upper = c.epsilon(ctx, delta, enough)\n\treturn lower, upper, nil"}},
			"./dp/account", "Cancelled"},
		{"pure_dp: a lower loss", "dp/account/selection.go",
			[][2]string{{"return lossdist.Approximate(epsilon, 0)", "return lossdist.Approximate(epsilon*.99, 0)"}},
			"./dp/account", "PureEvents"},
		{"permute_and_flip: of bounded range", "dp/account/selection.go",
			[][2]string{{"	case dp.PermuteAndFlip:\n\t\treturn e.Epsilon, true", "	case dp.PermuteAndFlip:\n\t\treturn e.Epsilon / 2, true"}},
			"./dp/account", "PureEvents"},
		{"privacy_loss: what masses lack is dropped", "dp/account/internal/lossdist/discrete.go",
			[][2]string{{"lack > 2*ulp {", "lack > 1 {"}},
			"./dp/account", "Infinite"},
		{"rdp_curve: the lower order's bound", "dp/account/given.go",
			[][2]string{{"return min(xmath.MulUp(chord/(order-1), 1+0x1p-48), e.Values[i])", "return min(chord/(order-1), e.Values[i-1])"}},
			"./dp/account", "RenyiCurve"},
		{"select_best: the other runs are free", "dp/account/selectbest.go",
			[][2]string{{"xmath.MulUp(1+eta, second)", "xmath.MulUp(eta, second)"}},
			"./dp/account", "SelectBest"},
		{"select_best: no run has no probability", "dp/account/selectbest.go",
			[][2]string{{"xmath.LogAdd(-mean, logMean+moment)", "logMean + moment"}},
			"./dp/account", "SelectBest"},
		{"calibrate: a rate rounded away from the budget", "dp/account/calibrate.go",
			[][2]string{{"return Bracket{min(1/b.Upper, 1), min(1/b.Lower, 1)}, nil", "return Bracket{min(1.01/b.Upper, 1), min(1/b.Lower, 1)}, nil"}},
			"./dp/account", "Template"},
		{"group: no person pays for the others", "dp/account/group.go",
			[][2]string{{"factor = xmath.Up(math.Exp(sum), 4)", "factor = xmath.Up(math.Exp(0*sum), 4)"}},
			"./dp/account", "Groups"},
		{"shuffle: too many clones", "dp/account/shuffle.go",
			[][2]string{{"math.Exp(-e.LocalEpsilon), 4)", "math.Exp(-e.LocalEpsilon/2), 4)"}},
			"./dp/account", "Shuffle"},
		{"shuffle: ranges of clones from above", "dp/account/shuffle.go",
			[][2]string{{"clones{sum, c + 1}", "clones{sum, low + int64(end)}"}, {"width := sd / 32", "width := sd"}},
			"./dp/account", "Shuffle"},
		{"shuffle: undeclared", "dp/shuffled.go",
			[][2]string{{"if !e.UniformSlots {", "if e.Count < 0 {"}},
			"./dp/account", "Shuffle"},
	}
}

func allMutants() []mutant {
	return slices.Concat(mutants(), ledgerMutants(), replayMutants(), storeMutants(), contractMutants(), auditMutants(), wordsMutants(), scaleMutants(), fleetMutants(), aggregatorMutants())
}

// Whoever moves or rewrites a line that a mutant changes learns so in seconds.
func TestEveryMutantHasItsPlace(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range allMutants() {
		t.Run(m.name, func(t *testing.T) { mutate(t, root, m) })
	}
}

// A fast suite has passed before: here a mutant's tests run until the first fails, and
// without vet and debugging information, which a fault does not need. What is recorded as
// killed is not killed again, but for a share that changes with the sources; of what is not
// recorded, or changed since, a run kills no more than it has time for, and says what it left.
func TestEveryMutantIsKilled(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	killed := readKilled(t, root)
	for _, m := range killed.due(t, root, allMutants()) {
		t.Run(m.name, func(t *testing.T) {
			t.Parallel()
			kill(t, root, m)
			if !t.Failed() {
				killed.add(t, root, m, fingerprint(t, root, m))
			}
		})
	}
}

func kill(t *testing.T, root string, m mutant) {
	tags := ""
	if strings.HasPrefix(m.run, plansStand) {
		tags = "slow"
	}
	out, err := goTool(root, "test", "-tags", tags, "-count=1", "-timeout=2m", "-failfast", "-vet=off", "-ldflags=-s -w", "-overlay", mutate(t, root, m), "-run", m.run, m.pkg)
	switch {
	case err == nil:
		t.Errorf("the tests of %s (-run %s) pass with this fault:\n%s", m.pkg, m.run, out)
	case strings.Contains(out, "[build failed]"):
		t.Errorf("the mutant does not compile, so it proves nothing:\n%s", out)
	case strings.Contains(out, "panic: test timed out"):
		t.Errorf("the tests of %s (-run %s) were too slow to tell:\n%s", m.pkg, m.run, out)
	case !strings.Contains(out, "--- FAIL") && !strings.Contains(out, "panic:"):
		t.Errorf("the tests of %s did not run:\n%s", m.pkg, out)
	}
}

// mutate writes the changed file and an overlay that puts it in place.
func mutate(t *testing.T, root string, m mutant) string {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(m.file))
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	changed := string(text)
	for _, e := range m.edits {
		if strings.Count(changed, e[0]) != 1 {
			t.Fatalf("%s holds %q %d times; want once", m.file, e[0], strings.Count(changed, e[0]))
		}
		changed = strings.Replace(changed, e[0], e[1], 1)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "mutant.go")
	if err := os.WriteFile(file, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{path: file}})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(name, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func goTool(root string, args ...string) (string, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir = root
	out, err := cmd.CombinedOutput()
	return string(out), err
}
