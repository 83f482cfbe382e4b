package value_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// twoPersons: the first has two episodes, the second one.
func twoPersons() []history {
	return []history{
		{0, []step{{0, 0, 1, 1}, {1, 0, 1, 2}, {0, 0, 1, 4}}, true, -1},
		{0, []step{{1, 0, 1, 8}}, true, -1},
		{1, []step{{2, 0, 1, 1}, {2, 0, 1, 1}}, false, 1},
	}
}

func TestFirstVisitReturnsWorkedByHand(t *testing.T) {
	s := sample(t, build(twoPersons()), value.Options{Gamma: 0.5, Features: tabular(4)})
	mean, persons := must2(value.MonteCarlo(s))
	// Person 0: state 0 from its first visit 1 + 1 + 1 = 3; state 1 the mean of
	// 2 + 2 = 4 and 8. Person 1: state 2 from its first visit 1.5; the truncated
	// end adds nothing.
	if want := []float64{3, 6, 1.5, 0}; !floats.Equal(mean, want) {
		t.Errorf("means %v, want %v", mean, want)
	}
	if want := []float64{1, 1, 1, 0}; !floats.Equal(persons, want) {
		t.Errorf("persons %v, want %v", persons, want)
	}
}

func must2[A, B any](a A, b B, err error) (A, B) {
	if err != nil {
		panic(err)
	}
	return a, b
}

func TestDiscountColumnTakesThePlaceOfGamma(t *testing.T) {
	d := build(twoPersons())
	d.Discount = []float64{0.5, 0.25, 1, 1, 0, 1}
	s := sample(t, d, value.Options{Gamma: 0.9, Features: tabular(4)})
	for e, want := range []float64{1 + 0.5*2 + 0.5*0.25*4, 8, 1} {
		if got := s.Return(e); got != want {
			t.Errorf("return of episode %d is %v, want %v", e, got, want)
		}
		other := sample(t, d, value.Options{Gamma: 0.9, Features: tabular(4)})
		for value.ShareReturns([]*value.Sample{s, other}); e >= 0; e-- {
			if got := other.Return(e); got != s.Return(e) || e == 1 && got != 8 {
				t.Errorf("return of episode %d is shared as %v", e, got)
			}
		}
	}
	if got, want := must(value.IS(s)), (2.5/2+8.0/2+1)/2; got != want {
		t.Errorf("IS %v, want %v", got, want)
	}
	if got, want := must(value.PDIS(s)), (2.5/2+8.0/2+1)/2; got != want {
		t.Errorf("PDIS %v, want %v", got, want)
	}
	m := must(value.EmpiricalMoments(s, value.ByTransition))
	// Row 0 goes from state 0 to 1 under discount .5; person 0 counts 1/2 each
	// episode; the weights add up to 1.5 + .5 + 2 = 4.
	if got, want := m.A[0*4+1], -0.5*0.5/4; got != want {
		t.Errorf("A[0][1] = %v, want %v", got, want)
	}
}

// The general formulas, with pseudo-inverse and matrices, for the case that the
// code solves explicitly.
func TestLSWAndLSLMatchTheirMatrixFormulas(t *testing.T) {
	const states, of, persons, lambda = 40, 3, 50, 7.0
	weights := make([]float64, states)
	for i := range weights {
		weights[i] = float64(i%4) + 0.25
	}
	weights[0], weights[1], weights[2] = 0, 0, 0 // a group without weight
	d := simulate(t, chain.Options{Episodes: persons, Seed: 9})
	m := must(feature.NewAggregation(states, of, chain.Column))
	s := sample(t, d, value.Options{Gamma: 0.99, Features: m})
	mean, visits := must2(value.MonteCarlo(s))

	phi := mat.NewDense(states, m.Dim(), nil)
	for state := range states {
		phi.Set(state, m.Cell(state), 1)
	}
	root, f := mat.NewDense(states, m.Dim(), nil), mat.NewVecDense(states, nil)
	normal, right := mat.NewDense(m.Dim(), m.Dim(), nil), mat.NewVecDense(m.Dim(), nil)
	for state := range states {
		row := mat.NewVecDense(m.Dim(), mat.Row(nil, state, phi))
		scaled := mat.NewVecDense(m.Dim(), nil)
		scaled.ScaleVec(math.Sqrt(weights[state]), row)
		root.SetRow(state, scaled.RawVector().Data)
		f.SetVec(state, math.Sqrt(weights[state])*mean[state])
		g := weights[state] * visits[state] / persons
		normal.RankOne(normal, g, row, row)
		right.AddScaledVec(right, g*mean[state], row)
	}
	for c := range m.Dim() {
		normal.Set(c, c, normal.At(c, c)+lambda/(2*persons))
	}
	var svd mat.SVD
	if !svd.Factorize(root, mat.SVDThin) {
		t.Fatal("SVD failed")
	}
	var lsw, lsl mat.VecDense
	svd.SolveVecTo(&lsw, f, svd.Rank(1e-12))
	if err := lsl.SolveVec(normal, right); err != nil {
		t.Fatal(err)
	}
	if got := must(value.LSW{Weights: weights}.Solve(s)); !floats.EqualApprox(got, lsw.RawVector().Data, 1e-12) {
		t.Errorf("LSW %v, want %v", got, lsw.RawVector().Data)
	}
	if got := must(value.LSL{Weights: weights, Lambda: lambda}.Solve(s)); !floats.EqualApprox(got, lsl.RawVector().Data, 1e-12) {
		t.Errorf("LSL %v, want %v", got, lsl.RawVector().Data)
	}
}

// States 20 to 39 are each visited by at least half of 100,000 persons; a return
// lies in [0, 1], so that Hoeffding puts one of the 20 means off by more than
// .015 with probability below 1e-8. LSW with unit weights is these means.
func TestLSWTendsToTheValues(t *testing.T) {
	s := chainSample(t, chain.Options{Episodes: 100_000, Seed: 21}, nil)
	theta, want := must(value.LSW{}.Solve(s)), chain.Values(0.5, 0.99)
	for state := 20; state < 40; state++ {
		if !(math.Abs(theta[state]-want[state]) <= 0.015) {
			t.Errorf("V(%d) = %v, want %v", state, theta[state], want[state])
		}
	}
}

// Tabular LSTD from many transitions, on-policy and towards a target of .6. On
// the chain theta solves V(s) = c V(s+1), where c moves by .04 times the error in
// the share of advances, itself at most .5/sqrt(5000) per state: the relative
// standard error of any value stays below .04 * .5 * sqrt(40/5000) = .002, and
// the bound is 25 times that.
func TestLSTDTendsToTheValues(t *testing.T) {
	for target, pi := range map[float64]policy.Policy{0.5: nil, 0.6: advancing(0.6)} {
		s := chainSample(t, chain.Options{Episodes: 100_000, Seed: 22}, pi)
		theta := must(value.LSTD{}.Solve(s))
		if d := floats.Distance(theta, chain.Values(target, 0.99), math.Inf(1)); !(d <= 0.05) {
			t.Errorf("target %v: off by %v", target, d)
		}
	}
}

// oneHotLog writes the state of every row as four columns of zeros and ones.
func oneHotLog(d *trajectory.Dataset, states int) *trajectory.Dataset {
	wide := *d
	wide.Columns, wide.Obs, wide.Final = nil, nil, nil
	for i := range states {
		wide.Columns = append(wide.Columns, string(rune('a'+i)))
	}
	spread := func(dst []float64, x float64) []float64 {
		for i := range states {
			dst = append(dst, 0)
			if x == float64(i) {
				dst[len(dst)-1] = 1
			}
		}
		return dst
	}
	for _, x := range d.Obs {
		wide.Obs = spread(wide.Obs, x)
	}
	for _, x := range d.Final {
		wide.Final = spread(wide.Final, x)
	}
	return &wide
}

func TestDenseAndOneHotFeaturesGiveTheSameMoments(t *testing.T) {
	d := simulate(t, chain.Options{Episodes: 200, Seed: 3, MaxSteps: 8, Start: chain.At(30), EpisodesPerPerson: 3})
	for i := range d.Obs {
		d.Obs[i] -= 30
		d.Reward[i] = float64(i % 5)
	}
	for i := range d.Final {
		d.Final[i] -= 30
	}
	d.Obs[5] = math.NaN() // reads as the zero vector either way
	d.HasFinal[1] = false // leaves its last transition out
	d.Discount = make([]float64, d.Rows())
	for i := range d.Discount {
		d.Discount[i] = 1 / float64(1+i%3)
	}
	wide := oneHotLog(d, 10)
	ranges := make([]feature.Range, 10)
	for i := range ranges {
		ranges[i] = feature.Range{Low: 0, High: 1}
	}
	columns := must(feature.NewColumns(wide.Columns, ranges, feature.ColumnsOptions{}))
	pi := must(policy.NewConstant(1))
	sparse := sample(t, d, value.Options{Gamma: 1, Features: tabular(10), Policy: pi})
	dense := sample(t, wide, value.Options{Gamma: 1, Features: columns, Policy: pi})
	if sparse.Unknown() != 1 || dense.Unknown() != 1 {
		t.Errorf("unknown ends: %d and %d, want 1", sparse.Unknown(), dense.Unknown())
	}
	for _, w := range []value.Weighting{value.ByTrajectory, value.ByTransition} {
		a, b := must(value.EmpiricalMoments(sparse, w)), must(value.EmpiricalMoments(dense, w))
		for name, pair := range map[string][2][]float64{"A": {a.A, b.A}, "b": {a.B, b.B}, "C": {a.C, b.C}} {
			if !floats.EqualApprox(pair[0], pair[1], 1e-14) {
				t.Errorf("%v: %s differs between one-hot and dense features", w, name)
			}
		}
		if floats.Norm(a.A, 1) == 0 || floats.Norm(a.B, 1) == 0 {
			t.Errorf("%v: nothing to compare", w)
		}
	}
	phi := make([]float64, 10)
	for point := range len(sparse.Cell) {
		if !floats.Equal(sparse.Feature(phi, point), dense.Feature(nil, point)) {
			t.Fatalf("features of point %d differ", point)
		}
	}
}

func TestEndsOfEpisodes(t *testing.T) {
	all := []history{
		{0, []step{{0, 0, 1, 1}, {1, 0, 1, 1}}, true, -1},  // then zero
		{1, []step{{0, 0, 1, 1}, {1, 0, 1, 1}}, false, 2},  // then state 2
		{2, []step{{0, 0, 1, 1}, {1, 0, 1, 1}}, false, -1}, // then nobody knows
		{3, []step{{0, 0, 1, 1}}, false, -1},               // no transition at all
	}
	s := sample(t, build(all), value.Options{Gamma: 1, Features: tabular(3)})
	if want := []int{1, value.Terminal, 3, 7, 5, value.Unknown, value.Unknown}; !slices.Equal(s.Next, want) {
		t.Errorf("Next = %v, want %v", s.Next, want)
	}
	if s.State[7] != 2 || s.Unknown() != 2 {
		t.Errorf("final state %d, unknown %d; want 2, 2", s.State[7], s.Unknown())
	}
	m := must(value.EmpiricalMoments(s, value.ByTrajectory))
	// Persons 0 to 2 have weight 1 each, person 3 none.
	want := []float64{2, -2, 0, 0, 1, -0.5, 0, 0, 0}
	floats.Scale(1.0/3, want)
	if !floats.EqualApprox(m.A, want, 1e-15) {
		t.Errorf("A = %v, want %v", m.A, want)
	}
}

func TestLSTDWithUnseenStateNeedsARidge(t *testing.T) {
	s := sample(t, build(twoPersons()), value.Options{Gamma: 0.5, Features: tabular(4)})
	if _, err := (value.LSTD{}).Solve(s); !errors.Is(err, value.ErrSingular) {
		t.Errorf("%v; want ErrSingular", err)
	}
	theta, err := value.LSTD{Ridge: 1e-9}.Solve(s)
	if err != nil || theta[3] != 0 {
		t.Errorf("theta %v, %v; want 0 in the unseen state", theta, err)
	}
}

func TestNearlySingularSystemsAreRefused(t *testing.T) {
	m := &value.Moments{N: 2, A: []float64{1, 1, 1, 1 + 1e-13}, B: []float64{1, 1}}
	if theta, err := m.Solve(0); !errors.Is(err, value.ErrSingular) {
		t.Errorf("theta %v, %v; want ErrSingular", theta, err)
	}
	m = &value.Moments{N: 2, A: []float64{2, 1, 0, 4}, B: []float64{3, 4}}
	if theta, err := m.Solve(0); err != nil || !floats.EqualApprox(theta, []float64{1, 1}, 1e-15) {
		t.Errorf("theta %v, %v; want 1, 1", theta, err)
	}
}

func TestMSPBESkipsUnseenStates(t *testing.T) {
	s := sample(t, build(twoPersons()), value.Options{Gamma: 0.5, Features: tabular(4)})
	m := must(value.EmpiricalMoments(s, value.ByTransition))
	got := must(m.MSPBE([]float64{0, 0, 0, 5}))
	// At theta = 0 in the seen states the sum is over b^2/C: weights 1/2 for person
	// 0's rows, 1 for person 1's, 4 together.
	want := (math.Pow(5*0.5, 2)/(2*0.5) + math.Pow(10*0.5, 2)/(2*0.5) + math.Pow(2, 2)/2) / 4
	if !(math.Abs(got-want) <= 1e-13) {
		t.Errorf("MSPBE %v, want %v", got, want)
	}
}

func TestStateValuesAndRMSE(t *testing.T) {
	s := sample(t, build(twoPersons()), value.Options{
		Gamma: 0.5, Features: must(feature.NewAggregation(4, 3, "obs_state")),
	})
	v := must(value.StateValues(s, []float64{2, 5}))
	if want := []float64{2, 2, 2, 5}; !floats.Equal(v, want) {
		t.Errorf("values %v, want %v", v, want)
	}
	if e := value.RMSE(v, []float64{2, 2, 2, 1}); e != 2 {
		t.Errorf("RMSE %v, want 2", e)
	}
}

func TestHugeRatiosStayFinite(t *testing.T) {
	steps := make([]step, 200)
	for i := range steps {
		steps[i] = step{0, 0, 1e-10, 1}
	}
	steps[199].action = 1 // ratio 0 at the end
	d := build([]history{{0, steps, true, -1}, {1, steps[:100], true, -1}})
	s := sample(t, d, value.Options{Gamma: 1, Features: tabular(1), Policy: must(policy.NewConstant(0))})
	num, den, pdis, dr := make([]float64, 2), make([]float64, 2), make([]float64, 2), make([]float64, 2)
	value.ISContributions(num, den, s)
	value.PDISContributions(pdis, s)
	if err := value.DRContributions(dr, s, value.ActionValues{-1e300, 1e300}); err != nil {
		t.Fatal(err)
	}
	for _, x := range [][]float64{num, den, pdis, dr} {
		for _, v := range x {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				t.Errorf("contributions %v", x)
			}
		}
	}
	if num[0] != 0 || den[0] != 0 {
		t.Errorf("an episode with a ratio of 0 contributes %v, %v", num[0], den[0])
	}
}

func TestMethodsRefuseWhatTheyCannotDo(t *testing.T) {
	d := simulate(t, chain.Options{Episodes: 20, Seed: 1})
	pi := advancing(0.6)
	bare := sample(t, d, value.Options{Gamma: 1})
	off := sample(t, d, value.Options{Gamma: 1, Features: tabular(40), Policy: pi})
	on := sample(t, d, value.Options{Gamma: 1, Features: tabular(40)})
	never := sample(t, build([]history{{0, []step{{0, 0, 1, 1}}, true, -1}}), value.Options{Gamma: 1, Policy: must(policy.NewConstant(1))})
	cut := sample(t, build([]history{{0, []step{{0, 0, 1, 1}}, false, -1}}), value.Options{Gamma: 1, Features: tabular(1)})
	lone := sample(t, &trajectory.Dataset{}, value.Options{Gamma: 1})
	column := *d
	column.TargetProb = d.BehaviorProb
	prob := sample(t, &column, value.Options{Gamma: 1, Policy: policy.ProbColumn{}})
	for name, test := range map[string]struct{ err, want error }{
		"gamma":                {second(value.NewSample(d, value.Options{Gamma: 1.5})), value.ErrOptions},
		"gamma NaN":            {second(value.NewSample(d, value.Options{Gamma: math.NaN()})), value.ErrOptions},
		"column":               {second(value.NewSample(d, value.Options{Features: must(feature.NewTabular(4, "x"))})), feature.ErrColumn},
		"lsw, no features":     {second(value.LSW{}.Solve(bare)), value.ErrOptions},
		"lsw off-policy":       {second(value.LSW{}.Solve(off)), value.ErrOffPolicy},
		"lsl off-policy":       {second(value.LSL{Lambda: 1}.Solve(off)), value.ErrOffPolicy},
		"lsl without penalty":  {second(value.LSL{}.Solve(on)), value.ErrOptions},
		"lsw, too few weights": {second(value.LSW{Weights: []float64{1}}.Solve(on)), value.ErrOptions},
		"lsw, negative weight": {second(value.LSW{Weights: slices.Repeat([]float64{-1}, 40)}.Solve(on)), value.ErrOptions},
		"lstd, no features":    {second(value.LSTD{}.Solve(bare)), value.ErrOptions},
		"lstd, no transition":  {second(value.LSTD{}.Solve(cut)), value.ErrData},
		"lstd, negative ridge": {second(value.LSTD{Ridge: -1}.Solve(on)), value.ErrOptions},
		"no weighting":         {second(value.EmpiricalMoments(on, 0)), value.ErrOptions},
		"is, nobody":           {second(value.IS(lone)), value.ErrData},
		"wis, never taken":     {second(value.WIS(never)), value.ErrData},
		"dr, no distribution":  {second(value.DR(prob, value.ActionValues{1, 1})), value.ErrOptions},
		"dr, logged unknown":   {second(value.DR(on, value.ActionValues{1, 1})), value.ErrOptions},
		"dr, table too small":  {second(value.DR(off, value.StateActionValues{K: 2, Values: make([]float64, 2)})), value.ErrOptions},
		"dr, table, no state":  {second(value.DR(bare, value.StateActionValues{K: 2})), value.ErrOptions},
		"means, long episodes": {second(value.ShrunkenActionMeans(on, 2, 100)), value.ErrOptions},
		"means, too few":       {second(value.ShrunkenActionMeans(never, 0, 100)), value.ErrOptions},
		"means, prior":         {second(value.ShrunkenActionMeans(never, 1, 0)), value.ErrOptions},
		"weighting by name":    {second(value.ParseWeighting("episode")), value.ErrOptions},
		"ratios not to be had": {second(value.NewSample(build(nil), value.Options{Policy: pi})), policy.ErrMissing},
	} {
		if !errors.Is(test.err, test.want) {
			t.Errorf("%s: %v; want %v", name, test.err, test.want)
		}
	}
	for _, w := range []value.Weighting{value.ByTrajectory, value.ByTransition} {
		if got := must(value.ParseWeighting(w.String())); got != w {
			t.Errorf("ParseWeighting(%q) = %v", w, got)
		}
	}
}

func second[T any](_ T, err error) error { return err }
