package report

import (
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
	exponent := int(math.Floor(math.Log10(math.Abs(x))))
	if exponent < -4 || exponent >= 9 {
		return scientific(x, n, d)
	}
	return fixed(x, max(n-1-exponent, 0), d)
}

// fixed formats x with a number of decimals, rounded in the direction d. It
// works on the shortest decimal form of x, so that 0.1 rounded up stays 0.1.
func fixed(x float64, decimals int, d direction) string {
	out := strconv.FormatFloat(x, 'f', decimals, 64)
	if d != nearest && wrongSide(out, x, d) {
		step := math.Pow(10, -float64(decimals))
		out = strconv.FormatFloat(x+float64(d)*step, 'f', decimals, 64)
		if tighter := strconv.FormatFloat(x+float64(d)*step/2, 'f', decimals, 64); !wrongSide(tighter, x, d) {
			out = tighter
		}
	}
	return typeset(trim(out))
}

func scientific(x float64, n int, d direction) string {
	out := strconv.FormatFloat(x, 'e', n-1, 64)
	if d != nearest && wrongSide(out, x, d) {
		exponent := math.Floor(math.Log10(math.Abs(x)))
		step := math.Pow(10, exponent-float64(n-1))
		out = strconv.FormatFloat(x+float64(d)*step/2, 'e', n-1, 64)
	}
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

// wrongSide reports whether the text was rounded against the direction d.
func wrongSide(text string, x float64, d direction) bool {
	v, err := strconv.ParseFloat(text, 64)
	return err != nil || (d == up && v < x) || (d == down && v > x)
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
		return n - 1 - int(math.Floor(math.Log10(math.Abs(x))))
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
