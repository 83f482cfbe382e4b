package scalar

import (
	"reflect"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
)

// TestPartsChangeNothing: numbers that came in parts, some of nobody, give the estimates and sums of
// the same numbers in one part, which one processor adds.
func TestPartsChangeNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	rapid.Check(t, func(t *rapid.T) {
		var parts [2]Numbers
		for range rapid.IntRange(1, 4).Draw(t, "parts") {
			n := rapid.IntRange(0, 5).Draw(t, "persons")
			for i := range parts {
				parts[i] = append(parts[i], rapid.SliceOfN(rapid.Float64Range(0, 5), n, n).Draw(t, "numbers"))
			}
		}
		x, z := parts[0], parts[1]
		wholeX, wholeZ := Numbers{slices.Concat(x...)}, Numbers{slices.Concat(z...)}
		if n := x.Persons(); n != len(wholeX[0]) {
			t.Fatalf("%d persons of %d", n, len(wholeX[0]))
		}
		p := facts.Public{Persons: int64(x.Persons()) + 1, Adjacency: dp.AddRemoveOne, Returns: facts.Range{Max: 1}}
		stages := Stages{Clip: 1, Weights: 1, Clipped: 1, Main: 1}
		same := func(what string, make func(x, z Numbers) any) {
			if got, want := make(x, z), make(wholeX, wholeZ); !reflect.DeepEqual(got, want) {
				t.Errorf("%s: in parts %+v, in one %+v", what, got, want)
			}
		}
		same("bounds", func(x, z Numbers) any {
			b := Bounds{Public: p, Range: p.Returns, Caps: ClipRanges{Above: 8, Steps: ClipSteps}, Noise: stages}
			e, err := b.Run(x, z, noise.NewSeeded(1))
			if err != nil {
				t.Fatal(err)
			}
			return e
		})
		same("mean", func(x, z Numbers) any {
			n := ClipRanges{Anchor: 0.5, Below: 4, Above: 4, Steps: ClipSteps}
			e, err := Mean{Public: p, Ranges: n, Cap: 4, Tail: HeavyTail(), Noise: stages}.Run(x, z, n, noise.NewSeeded(1))
			if err != nil {
				t.Fatal(err)
			}
			return e
		})
		same("combination", func(x, z Numbers) any {
			mx, mz := Span{-1, 1}.Measured(x, z)
			q, r := Combine(Term{mx, mz, 1}, Term{z, x, -2})
			return [][]float64{slices.Concat(q...), slices.Concat(r...)}
		})
	})
}
