package value_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// varied makes persons whose columns have one value, so many of them, or any.
func varied(rng *rand.Rand, persons, values int) *trajectory.Dataset {
	number := func() float64 {
		if values == 0 {
			return math.Float64frombits(rng.Uint64()) // numbers that are none, and both zeros, too
		}
		return float64(rng.IntN(values)) / 7
	}
	d := &trajectory.Dataset{Columns: []string{"obs_x", "obs_y"}, PersonStart: []int{0}, EpisodeStart: []int{0}, Terminated: []bool{}, Final: []float64{}, HasFinal: []bool{}}
	for p := range persons {
		for range p % 3 {
			for range 1 + rng.IntN(5) {
				d.Obs = append(d.Obs, number(), float64(p%4))
				d.Action, d.Reward, d.BehaviorProb = append(d.Action, int32(rng.IntN(max(values, 2)))), append(d.Reward, number()), append(d.BehaviorProb, 0.5)
			}
			d.EpisodeStart = append(d.EpisodeStart, len(d.Reward))
			d.Terminated = append(d.Terminated, p%2 == 0)
			d.Final, d.HasFinal = append(d.Final, number(), 1), append(d.HasFinal, p%2 == 1)
		}
		d.PersonStart = append(d.PersonStart, d.Episodes())
	}
	return d
}

// sameBits compares numbers by their bits.
var sameBits = cmp.Comparer(func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) })

// TestPackedPersonsComeBackBitForBit, whatever the variety of a column is.
func TestPackedPersonsComeBackBitForBit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, values := range []int{0, 1, 2, 3, 4, 5, 16, 17, 256, 257, 1000} {
		for _, persons := range []int{1, 3, 700} {
			d := varied(rng, persons, values)
			for got := range value.Datasets([]*value.Part{value.Pack(d, nil)}) {
				if diff := cmp.Diff(d, got, sameBits); diff != "" {
					t.Errorf("%d persons of %d values: (-kept +came back)\n%s", persons, values, diff)
				}
			}
		}
	}
}

// TestAWalkThroughPartsSeesTheSampleOfAll, person by person, in any order, where some parts
// are packed, some have nobody, and what is seen is changed.
func TestAWalkThroughPartsSeesTheSampleOfAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const persons = 200
	d := varied(rng, persons, 5)
	cosines, err := feature.NewFourier(2, []string{"obs_x", "obs_y"}, []feature.Range{{Low: 0, High: 1}, {Low: 0, High: 3}})
	if err != nil {
		t.Fatal(err)
	}
	uniform, err := policy.NewUniform(5)
	if err != nil {
		t.Fatal(err)
	}
	o := value.Options{Gamma: 0.9, Features: cosines, Policy: uniform}
	all, err := value.NewSample(d, o)
	if err != nil {
		t.Fatal(err)
	}
	var parts []*value.Part
	for cuts := []int{0, 0, 1, 50, 50, 120, persons}; len(cuts) > 1; cuts = cuts[1:] {
		var of []int
		for p := cuts[0]; p < cuts[1]; p++ {
			of = append(of, p)
		}
		some := d.Take(of)
		rho := make([]float64, some.Rows())
		if err := policy.Ratios(rho, uniform, some); err != nil {
			t.Fatal(err)
		}
		keep := value.Pack
		if len(cuts)%2 == 0 {
			keep = value.Keep
		}
		parts = append(parts, keep(some, [][]float64{rho}))
	}
	samples, err := value.NewSamples(parts, o)
	if err != nil {
		t.Fatal(err)
	}
	doubled := *samples
	doubled.Change = func(same []*value.Sample) error {
		for row := range same[0].Rho {
			same[0].Rho[row] *= 2
		}
		return nil
	}
	for i, of := range []*value.Samples{samples, &doubled} {
		times, walk := float64(i+1), of.Walk()
		for range 3 * persons {
			person := rng.IntN(persons)
			s, p := walk.At(person)
			from, to := all.Episodes(person)
			lo, hi := s.Episodes(p)
			if hi-lo != to-from {
				t.Fatalf("person %d has %d episodes; want %d", person, hi-lo, to-from)
			}
			for e := range hi - lo {
				row, end := s.Rows(lo + e)
				want, stop := all.Rows(from + e)
				if end-row != stop-want || s.Return(lo+e) != all.Return(from+e) {
					t.Fatalf("person %d: an episode is another", person)
				}
				for ; row < end; row, want = row+1, want+1 {
					if s.Ratio(row) != times*all.Ratio(want) || !cmp.Equal(s.Feature(nil, row), all.Feature(nil, want), sameBits) {
						t.Fatalf("person %d: a row is another", person)
					}
				}
			}
		}
	}
}
