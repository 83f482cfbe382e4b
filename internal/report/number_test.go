package report

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// read is the inverse of the page's typesetting.
func read(t *rapid.T, text string) float64 {
	text = strings.ReplaceAll(text, "−", "-")
	if mantissa, power, ok := strings.Cut(text, " × 10"); ok {
		text = mantissa + "e" + plain(power)
	} else if power, ok := strings.CutPrefix(text, "10"); ok && plain(power) != power {
		text = "1e" + plain(power)
	} else if power, ok := strings.CutPrefix(text, "-10"); ok && plain(power) != power {
		text = "-1e" + plain(power)
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatalf("not a number: %q", text)
	}
	return x
}

func plain(raised string) string {
	return strings.NewReplacer("⁻", "-", "⁰", "0", "¹", "1", "²", "2", "³", "3", "⁴", "4",
		"⁵", "5", "⁶", "6", "⁷", "7", "⁸", "8", "⁹", "9").Replace(raised)
}

func TestRoundingKeepsItsSideAndItsDigits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64Range(1, 10).Draw(t, "mantissa") * math.Pow(10, float64(rapid.IntRange(-290, 290).Draw(t, "exponent")))
		if rapid.Bool().Draw(t, "negative") {
			x = -x
		}
		n := rapid.IntRange(3, 8).Draw(t, "digits")
		near, above, below := read(t, significant(x, n, nearest)), read(t, significant(x, n, up)), read(t, significant(x, n, down))
		if !(below <= x && x <= above) {
			t.Fatalf("%v is not in [%v, %v]", x, below, above)
		}
		unit := math.Pow(10, float64(magnitude(x)-(n-1))) * (1 + 1e-9)
		if above-x > unit || x-below > unit || math.Abs(near-x) > unit/2*(1+1e-6) {
			t.Fatalf("%v to %d digits: %v, %v, %v", x, n, below, near, above)
		}
		if e := read(t, exact(x)); e != x {
			t.Fatalf("exact(%v) reads as %v", x, e)
		}
	})
}

func TestNumbersAreTypeset(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{round(0), "0"},
		{round(math.Copysign(0, -1)), "0"},
		{round(0.512367), "0.5124"},
		{round(-1234.6), "−1235"},
		{round(999.96), "1000"},
		{round(100), "100"},
		{round(1e-5), "10⁻⁵"},
		{round(-1e-5), "−10⁻⁵"},
		{round(3.7183e-7), "3.718 × 10⁻⁷"},
		{round(6.02214e23), "6.022 × 10²³"},
		{significant(0.1, 4, up), "0.1"},
		{significant(math.E, 4, up), "2.719"},
		{significant(math.E, 4, down), "2.718"},
		{significant(-math.E, 4, up), "−2.718"},
		{exact(0.30000000000000004), "0.30000000000000004"},
		{exact(1), "1"},
		{significant(1.0000000000000002e115, 3, up), "1.01 × 10¹¹⁵"},
		{round(math.Inf(-1)), "−∞"},
		{round(math.Inf(1)), "∞"},
		{significant(math.MaxFloat64, 4, up), "1.798 × 10³⁰⁸"},
		{significant(math.MaxFloat64, 6, up), "∞"},
		{significant(-math.MaxFloat64, 6, down), "−∞"},
		{percent(0.5, nearest), "50%"},
		{fixed(-0.00001, 2, up), "0"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

func TestIntervalEndsStayApart(t *testing.T) {
	for _, c := range []struct {
		value, half float64
		want        int
	}{
		{0.51237, 0.0425, 4},
		{1234.5678, 0.0012, 4}, // four digits would merge the ends
		{123456, 5000, 0},
		{0, 0.25, 4},
		{0.00123, 0.5, 4}, // further digits would be idle
		{0.5, 0, 4},
	} {
		if got := decimalsFor(c.value, c.half); got != c.want {
			t.Errorf("decimalsFor(%v, %v) = %d, want %d", c.value, c.half, got, c.want)
		}
	}
}

func TestTicksAreRoundAndInside(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lo := rapid.Float64Range(-1e6, 1e6).Draw(t, "lo")
		s := scale{lo, lo + rapid.Float64Range(1e-3, 1e6).Draw(t, "span")}
		got := ticks(s)
		if len(got) < 2 || len(got) > 8 {
			t.Fatalf("%d ticks on %v", len(got), s)
		}
		for i, x := range got {
			if x < s.lo || x > s.hi || (i > 0 && x <= got[i-1]) {
				t.Fatalf("ticks %v on %v", got, s)
			}
		}
	})
}
