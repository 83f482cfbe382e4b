package mechanism

import (
	"errors"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

const (
	tableCells    = 3
	tableOutcomes = 4
)

func newTransitions(t testing.TB, most, multiplier float64, adjacency dp.Adjacency) *Transitions {
	t.Helper()
	table, err := NewTransitions(tableCells, tableOutcomes, most, multiplier, adjacency, Exact)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// addedBy is what a person adds to the sum, in lattice steps.
func addedBy(t testing.TB, table *Transitions, person []Transition) []int64 {
	t.Helper()
	before := slices.Clone(table.total.sum)
	if err := table.Add(person); err != nil {
		t.Fatal(err)
	}
	out := slices.Clone(table.total.sum)
	for i := range out {
		out[i] -= before[i]
	}
	return out
}

// apart is |a - b|^2, exactly; b may be nil.
func apart(a, b []int64) *big.Int {
	sum := new(big.Int)
	for i, x := range a {
		if b != nil {
			x -= b[i]
		}
		d := big.NewInt(x)
		sum.Add(sum, d.Mul(d, d))
	}
	return sum
}

func share(t testing.TB, a *big.Int, limit float64) float64 {
	t.Helper()
	x, _ := new(big.Float).SetInt(a).Float64()
	return math.Sqrt(x) / limit
}

// somebody draws a person who aims at the edges of weights, marks and the norm.
func somebody(r *rapid.T, name string) []Transition {
	edge := func(values ...float64) *rapid.Generator[float64] {
		return rapid.OneOf(rapid.SampledFrom(values), rapid.Float64Range(values[0], values[len(values)-1]))
	}
	weight, mark := edge(0, 1e-9, 0.5, 1-1e-12, 1), edge(-1, -1+1e-12, 0, 1e-9, 1)
	n := rapid.IntRange(0, 12).Draw(r, name+" decisions")
	// Some stay in one place.
	cells, outcomes := rapid.IntRange(1, tableCells).Draw(r, name+" cells"), rapid.IntRange(1, tableOutcomes).Draw(r, name+" outcomes")
	out := make([]Transition, n)
	for i := range out {
		out[i] = Transition{
			Cell: rapid.IntRange(0, cells-1).Draw(r, "cell"), Outcome: tableOutcomes - rapid.IntRange(1, outcomes).Draw(r, "outcome"),
			Other: rapid.IntRange(0, tableOutcomes-1).Draw(r, "other"), Split: rapid.SampledFrom([]float64{0, 0, 0.3, 1, 2}).Draw(r, "split"),
			Weight: weight.Draw(r, "weight"), Mark: mark.Draw(r, "mark"),
		}
	}
	return out
}

// stayer makes n decisions in one cell.
func stayer(n, outcome int, mark float64) []Transition {
	return slices.Repeat([]Transition{{Cell: 1, Outcome: outcome, Weight: 1, Mark: mark}}, n)
}

// TestTransitionsDiameter: under ReplaceOne no two persons are farther apart than the
// noise is made for, and two who stay in one cell with other outcomes and opposite
// marks are nearly so.
func TestTransitionsDiameter(t *testing.T) {
	table := newTransitions(t, 3, 1, dp.ReplaceOne)
	limit := new(big.Int).SetUint64(2 * table.total.grid.radius)
	limit.Mul(limit, limit)
	rapid.Check(t, func(r *rapid.T) {
		a, b := addedBy(t, table, somebody(r, "a")), addedBy(t, table, somebody(r, "b"))
		if apart(a, b).Cmp(limit) > 0 {
			r.Fatalf("two persons are farther apart than the noise is made for: %v and %v", a, b)
		}
	})
	worst := apart(addedBy(t, table, stayer(9, 0, 1)), addedBy(t, table, stayer(9, 1, -1)))
	got := share(t, worst, 2*float64(table.total.grid.radius))
	// Height .7 for sqrt(1/2): 2 + 4 .49 for 4.
	if want := math.Sqrt(2+4*0.49) / 2; got > 1 || math.Abs(got-want) > 1e-6 {
		t.Errorf("two who stay in one cell are %v of the diameter apart; want %v", got, want)
	}
}

// TestTransitionsNormUnderAddRemoveOne: nobody's point is longer than the noise is made
// for, and that of one who stays in a cell nearly is.
func TestTransitionsNormUnderAddRemoveOne(t *testing.T) {
	table := newTransitions(t, 3, 1, dp.AddRemoveOne)
	limit := math.Sqrt(1+2*0.7*0.7) * float64(table.total.grid.radius)
	rapid.Check(t, func(r *rapid.T) {
		if got := share(t, apart(addedBy(t, table, somebody(r, "a")), nil), limit); got > 1 {
			r.Fatalf("a point is %v of what the noise is made for", got)
		}
	})
	if got := share(t, apart(addedBy(t, table, stayer(20, 2, -1)), nil), limit); got > 1 || got < 1-1e-6 {
		t.Errorf("who stays in a cell has %v of the longest norm", got)
	}
}

// TestTransitionsWeighByWhatWentBefore: decisions count in full until the norm is
// reached, the one that would pass it in part, and later ones not at all; what followed
// and what it brought does not matter to that.
func TestTransitionsWeighByWhatWentBefore(t *testing.T) {
	table := newTransitions(t, 2, 1, dp.ReplaceOne)
	weights := func(person []Transition) (out [tableCells]float64) {
		for i, k := range addedBy(t, table, person)[tableCells*tableOutcomes:] {
			if i%2 == 0 {
				out[i/2] = float64(k) / table.radius() * table.most / cellHeight
			}
		}
		return out
	}
	for _, c := range []struct {
		cells []int
		want  [tableCells]float64
	}{
		{[]int{0, 1, 2}, [tableCells]float64{1, 1, 1}},
		{[]int{0, 0, 0}, [tableCells]float64{2, 0, 0}},
		{[]int{0, 1, 1, 2}, [tableCells]float64{1, math.Sqrt(3), 0}},
		{[]int{0, 1, 2, 0, 2}, [tableCells]float64{math.Sqrt(2), 1, 1}},
	} {
		for outcome := range tableOutcomes {
			var person []Transition
			for i, cell := range c.cells {
				person = append(person, Transition{Cell: cell, Outcome: (outcome + i) % tableOutcomes, Weight: 1, Mark: float64(outcome)/2 - 1})
			}
			for cell, got := range weights(person) {
				if math.Abs(got-c.want[cell]) > 1e-6 {
					t.Errorf("cells %v, outcome %d: cell %d weighs %v; want %v", c.cells, outcome, cell, got, c.want[cell])
				}
			}
		}
	}
}

// TestTransitionsOutsideTheTable: they, and what is not finite, count nowhere; what is
// beyond its range counts as its end.
func TestTransitionsOutsideTheTable(t *testing.T) {
	table := newTransitions(t, 2, 1, dp.AddRemoveOne)
	zero := make([]int64, tableCells*(tableOutcomes+2))
	for _, d := range []Transition{
		{Cell: -1, Weight: 1}, {Cell: tableCells, Weight: 1}, {Outcome: -1, Weight: 1}, {Outcome: tableOutcomes, Weight: 1}, {Weight: -1},
		{Other: -1, Weight: 1}, {Other: tableOutcomes, Weight: 1}, {Split: math.NaN(), Weight: 1},
		{Weight: math.NaN()}, {Weight: math.Inf(1)}, {Weight: 1, Mark: math.NaN()}, {Weight: 1, Mark: math.Inf(-1)},
	} {
		if got := addedBy(t, table, []Transition{d}); !slices.Equal(got, zero) {
			t.Errorf("%+v adds %v", d, got)
		}
	}
	want := addedBy(t, table, []Transition{{Weight: 1, Mark: 1}})
	if got := addedBy(t, table, []Transition{{Weight: 7, Mark: 9}}); !slices.Equal(got, want) {
		t.Errorf("a weight of 7 and a mark of 9 add %v; want %v", got, want)
	}
}

// TestTransitionsOfShards: however persons are spread over shards, the release has the
// same bytes.
func TestTransitionsOfShards(t *testing.T) {
	people := make([][]Transition, 40)
	for i := range people {
		for k := range i % 7 {
			people[i] = append(people[i], Transition{Cell: (i + k) % tableCells, Outcome: (i * k) % tableOutcomes, Weight: 1 / float64(k+1), Mark: float64(i%5)/2 - 1})
		}
	}
	release := func(shards int) NoisyTransitions {
		parts := make([]*Transitions, shards)
		for i := range parts {
			parts[i] = newTransitions(t, 2.5, 3, dp.ReplaceOne)
		}
		for i, p := range people {
			if err := parts[(i*i)%shards].Add(p); err != nil {
				t.Fatal(err)
			}
		}
		for _, part := range parts[1:] {
			if err := parts[0].Merge(part); err != nil {
				t.Fatal(err)
			}
		}
		out, event, err := parts[0].Release(noise.NewSeeded(4))
		if err != nil || event != (dp.Gaussian{NoiseMultiplier: 3}) {
			t.Fatal(event, err)
		}
		return out
	}
	one, seven := release(1), release(7)
	if !slices.Equal(one.Counts, seven.Counts) || !slices.Equal(one.Weights, seven.Weights) || !slices.Equal(one.Marks, seven.Marks) {
		t.Error("one shard and seven release other tables")
	}
	other, err := NewTransitions(tableOutcomes, tableCells, 2.5, 3, dp.ReplaceOne, Exact)
	if err != nil {
		t.Fatal(err)
	}
	if err := newTransitions(t, 2.5, 3, dp.ReplaceOne).Merge(other); !errors.Is(err, ErrMismatch) {
		t.Errorf("merge of another table: %v", err)
	}
}

// TestTransitionsAreUnbiasedAndSayTheirNoise at five standard errors.
func TestTransitionsAreUnbiasedAndSayTheirNoise(t *testing.T) {
	const draws = 2000
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		var sum, square [3]float64
		var sd [3]float64
		src := noise.NewSeeded(9)
		for range draws {
			table := newTransitions(t, 4, 0.5, adjacency)
			for range 3 {
				if err := table.Add([]Transition{{Cell: 2, Outcome: 1, Weight: 1, Mark: -0.5}, {Cell: 2, Outcome: 3, Weight: 0.5, Mark: 1}}); err != nil {
					t.Fatal(err)
				}
			}
			noisy, _, err := table.Release(src)
			if err != nil {
				t.Fatal(err)
			}
			sd = [3]float64{noisy.CountSD, noisy.SumSD, noisy.SumSD}
			for i, x := range [3]float64{noisy.Counts[2*tableOutcomes+1] - 3, noisy.Weights[2] - 4.5, noisy.Marks[2]} {
				sum[i] += x
				square[i] += x * x
			}
		}
		for i := range sum {
			if mean := sum[i] / draws; math.Abs(mean) > 5*sd[i]/math.Sqrt(draws) {
				t.Errorf("%v, number %d is off by %v on average; its noise is %v", adjacency, i, mean, sd[i])
			}
			if v := square[i] / draws / sd[i] / sd[i]; math.Abs(v-1) > 5*math.Sqrt(2.0/draws) {
				t.Errorf("%v, number %d has %v times the variance that it says", adjacency, i, v)
			}
		}
	}
}

func TestTransitionsParameters(t *testing.T) {
	for _, c := range []struct {
		cells, outcomes  int
		most, multiplier float64
		adjacency        dp.Adjacency
		want             error
	}{
		{0, 1, 1, 1, dp.ReplaceOne, ErrParameter}, {1, 0, 1, 1, dp.ReplaceOne, ErrParameter}, {1 << 30, 4, 1, 1, dp.ReplaceOne, ErrParameter},
		{1, 1, 0, 1, dp.ReplaceOne, ErrParameter}, {1, 1, math.Inf(1), 1, dp.ReplaceOne, ErrParameter}, {1, 1, 1, 0, dp.ReplaceOne, ErrParameter},
		{1, 1, 1, math.NaN(), dp.ReplaceOne, ErrParameter}, {1, 1, 1, 1, 0, dp.ErrAdjacency}, {1, 1, 1, 1e13, dp.ReplaceOne, ErrParameter},
	} {
		if _, err := NewTransitions(c.cells, c.outcomes, c.most, c.multiplier, c.adjacency, Exact); !errors.Is(err, c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
