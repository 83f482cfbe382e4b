package report

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// digits is how many significant digits a number on the page has.
const digits = 4

// direction says to which side a number is rounded.
type direction int

const (
	down    direction = -1
	nearest direction = 0
	up      direction = 1
)

// round formats x to the nearest number of four significant digits.
func round(x float64) string { return significant(x, digits, nearest) }

// significant formats x with n significant digits, rounded in the direction d.
func significant(x float64, n int, d direction) string {
	if x == 0 {
		return "0"
	}
	if math.IsInf(x, 0) {
		return typeset(infinite(x))
	}
	exponent := magnitude(x)
	if exponent < -4 || exponent >= 9 {
		return scientific(x, n, d)
	}
	return fixed(x, max(n-1-exponent, 0), d)
}

// magnitude is the decimal exponent of x, not 0: read off its digits, because a
// rounded logarithm is off by one beside powers of ten.
func magnitude(x float64) int {
	_, exponent, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
	n, err := strconv.Atoi(exponent)
	if err != nil {
		panic(fmt.Sprintf("report: magnitude of %v", x))
	}
	return n
}

// exact formats x with all the digits that tell it from its neighbours.
func exact(x float64) string {
	mantissa, _, _ := strings.Cut(strconv.FormatFloat(math.Abs(x), 'e', -1, 64), "e")
	return significant(x, len(strings.Replace(mantissa, ".", "", 1)), nearest)
}

// fixed formats x with a number of decimals, rounded in the direction d.
func fixed(x float64, decimals int, d direction) string {
	return typeset(trim(rounded(x, math.Pow(10, -float64(decimals)), d, func(y float64) string {
		return strconv.FormatFloat(y, 'f', decimals, 64)
	})))
}

func scientific(x float64, n int, d direction) string {
	step := math.Pow(10, float64(magnitude(x)-(n-1)))
	out := rounded(x, step, d, func(y float64) string { return strconv.FormatFloat(y, 'e', n-1, 64) })
	mantissa, exponent, _ := strings.Cut(out, "e")
	power, err := strconv.Atoi(exponent)
	if err != nil {
		return typeset(out)
	}
	raised := "10" + superscript(power)
	switch mantissa = trim(mantissa); mantissa {
	case "1":
		return raised
	case "-1":
		return typeset("-" + raised)
	}
	return typeset(mantissa) + " × " + raised
}

// rounded formats x and, where that came out on the wrong side, a number up to
// one step further. It judges the text, so that 0.1 rounded up stays 0.1.
func rounded(x, step float64, d direction, format func(float64) string) string {
	out := format(x)
	for _, k := range []float64{0.5, 1} {
		if !wrongSide(out, x, d) {
			break
		}
		y := x + float64(d)*k*step
		if math.IsInf(y, 0) {
			return infinite(y)
		}
		out = format(y)
	}
	return out
}

func infinite(x float64) string {
	if x < 0 {
		return "-∞"
	}
	return "∞"
}

// wrongSide reports whether the text was rounded against the direction d.
func wrongSide(text string, x float64, d direction) bool {
	// Out of range, ParseFloat returns an infinity, which is on its own side.
	v, err := strconv.ParseFloat(text, 64)
	malformed := errors.Is(err, strconv.ErrSyntax)
	return malformed || (d == up && v < x) || (d == down && v > x)
}

// trim drops zeros that end a fraction.
func trim(s string) string {
	if !strings.Contains(s, ".") {
		return s
	}
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// typeset writes a true minus sign, and none before zero.
func typeset(s string) string {
	if s == "-0" {
		return "0"
	}
	return strings.Replace(s, "-", "−", 1)
}

func superscript(n int) string {
	const figures = "⁰¹²³⁴⁵⁶⁷⁸⁹"
	raised := []rune(figures)
	var b strings.Builder
	for _, r := range strconv.Itoa(n) {
		if r == '-' {
			b.WriteRune('⁻')
			continue
		}
		b.WriteRune(raised[r-'0'])
	}
	return b.String()
}

// percent formats a share in [0, 1], rounded in the direction d.
func percent(x float64, d direction) string {
	return significant(100*x, digits, d) + "%"
}

// decimalsFor is how many decimals an estimate needs: four significant digits,
// and enough to tell the ends of its interval apart.
func decimalsFor(value, half float64) int {
	need := func(x float64, n int) int {
		if x == 0 {
			return 0
		}
		return n - 1 - magnitude(x)
	}
	d := need(value, digits)
	if half > 0 {
		// An interval that dwarfs the value makes further digits of the value idle.
		if d = min(d, need(half, digits)); value == 0 {
			d = need(half, digits)
		}
		d = max(d, need(half, 2))
	}
	return min(max(d, 0), 12)
}
