package learn

import (
	"errors"
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

// weights counts in integers that cannot overflow.
func weights(n Network) *big.Int {
	sum, in := new(big.Int), int64(n.Inputs)
	count := func(out int) {
		each := big.NewInt(in)
		if n.Bias {
			each.Add(each, big.NewInt(1))
		}
		sum.Add(sum, each.Mul(each, big.NewInt(int64(out))))
	}
	for _, width := range n.Hidden {
		count(width)
		in = int64(width)
	}
	count(n.Actions)
	if n.Value {
		count(1)
	}
	return sum
}

func TestNetworksOfTooManyWeightsAreRefused(t *testing.T) {
	width := rapid.Custom(func(r *rapid.T) int {
		// Every order of magnitude, and the neighbourhood of the bound.
		if rapid.Bool().Draw(r, "near") {
			return rapid.IntRange(1, 12).Draw(r, "shape") * (1 << rapid.IntRange(0, 22).Draw(r, "scale"))
		}
		return 1 + int(rapid.Uint64Range(0, math.MaxInt64-1).Draw(r, "width")>>rapid.IntRange(0, 62).Draw(r, "shift"))
	})
	kept, refused := 0, 0
	rapid.Check(t, func(r *rapid.T) {
		n := Network{
			Inputs: width.Draw(r, "inputs"), Actions: width.Draw(r, "actions"), Hidden: rapid.SliceOfN(width, 0, 4).Draw(r, "hidden"),
			Value: rapid.Bool().Draw(r, "value"), Bias: rapid.Bool().Draw(r, "bias"),
		}
		net, err := NewMLP(n)
		if weights(n).Cmp(big.NewInt(maxDim)) > 0 {
			refused++
			if !errors.Is(err, ErrOptions) {
				r.Fatalf("%+v: %v; want ErrOptions", n, err)
			}
			return
		}
		kept++
		if err != nil || big.NewInt(int64(net.Dim())).Cmp(weights(n)) != 0 {
			r.Fatalf("%+v: %v; want %v weights", n, err, weights(n))
		}
	})
	if kept == 0 || refused == 0 {
		t.Errorf("%d networks kept, %d refused; want some of each", kept, refused)
	}
	for n, want := range map[int]bool{maxDim / 8: true, maxDim/8 + 1: false, 4611686018427387905: false, 100000000000: false, math.MaxInt: false} {
		// Without a bias 4 inputs and 4 actions: 8 weights a unit.
		if _, err := NewMLP(Network{Inputs: 4, Actions: 4, Hidden: []int{n}}); (err == nil) != want {
			t.Errorf("%d hidden units: %v; want them kept: %v", n, err, want)
		}
	}
}
