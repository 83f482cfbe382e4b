package noise

import (
	"math"
	"math/big"
	"testing"
)

// inverseE returns bits [64 i, 64 i + 64) after the point of exp(-1): the digits of
// 1/e, from testdata/exp.txt.
func inverseE(t *testing.T, i uint) uint64 {
	t.Helper()
	x, ok := new(big.Int).SetString("2309216678590342932651346902585934177159290373933187757875", 10)
	if !ok {
		t.Fatal("not a number")
	}
	x.Rsh(x, 128-64*i)
	return x.And(x, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
}

func TestComparisonDrawsBitsUntilItIsDecided(t *testing.T) {
	e0, e1 := inverseE(t, 0), inverseE(t, 1)
	for _, test := range []struct {
		words []uint64
		want  bool
	}{
		{[]uint64{e0 - 1}, true}, {[]uint64{e0 + 1}, false},
		{[]uint64{e0, 0}, true}, {[]uint64{e0, e1 - 1}, true},
		{[]uint64{e0, e1 + 1}, false}, {[]uint64{e0, math.MaxUint64}, false},
		{[]uint64{e0, e1, 0}, true}, {[]uint64{e0, e1, math.MaxUint64}, false},
	} {
		src := script(1, test.words...)
		if got := src.BernoulliExp(1); got != test.want {
			t.Errorf("BernoulliExp(1) on %x = %v; want %v", test.words, got, test.want)
		}
		if used := (bufferSize - src.unread) / 8; used != len(test.words) {
			t.Errorf("BernoulliExp(1) on %x used %d words", test.words, used)
		}
	}
}

func TestComparisonAllowsForTheUnknownBitsOfThePosition(t *testing.T) {
	// z is in [1, 2) and y/2^64 is exp(-3/2): the answer is yes for z below 3/2.
	c := curve{a: big.NewRat(1, 1)}
	y := uint64(math.Exp(-1.5) * 0x1p64)
	for _, test := range []struct {
		word uint64
		want bool
	}{{0, true}, {1<<63 - 1<<40, true}, {1<<63 + 1<<40, false}, {math.MaxUint64, false}} {
		z := newPrefix(1, 0, false)
		got := c.above(script(1, test.word, 0), big.NewInt(1), z, newPrefix(y, 64, false))
		if got != test.want || z.n < 64 {
			t.Errorf("z = 1.%#x: %v with %d bits; want %v", test.word, got, z.n, test.want)
		}
	}
}

func TestMinusZeroInAGapIsRejected(t *testing.T) {
	d, err := NewDiscreteGaussian(1000)
	if err != nil {
		t.Fatal(err)
	}
	// Word 8 is among those that choose the first of the gaps, strip 0.
	for sign, want := range []bool{true, false} {
		k, ok := d.sampleRest(script(1, 8, uint64(sign)))
		if k != 0 || ok != want {
			t.Errorf("zero with sign %d: %d, accepted %v; want %v", sign, k, ok, want)
		}
	}
}

func TestFastGaussianScalesItsTail(t *testing.T) {
	g, err := NewFastGaussian(2)
	if err != nil {
		t.Fatal(err)
	}
	x := newPrefix(640<<10, 10, false) // 640 strips of 1/64
	if got := g.finishFar(x, 1); got != -20 {
		t.Errorf("10 standard deviations below zero: %v; want -20", got)
	}
	if got := g.finish(1<<61, 0); got != 2 {
		t.Errorf("1 standard deviation above zero: %v; want 2", got)
	}
}
