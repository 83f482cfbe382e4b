package chart

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Axis is one of a panel's: numbers from Low to High, which are above 0 where Log spaces them by
// their logarithm. Ticks are those that are labelled; nil leaves them to the range.
type Axis struct {
	Name      string
	Low, High float64
	Log       bool
	Ticks     []float64
}

// smallest is the least number with all digits.
const smallest = 0x1p-1022

// Over returns the axis with a range that holds all values and a little more, so that marks at its ends
// are seen whole. On a logarithmic axis values that are not above 0 do not count.
func (a Axis) Over(values ...float64) Axis {
	low, high := math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !a.Log || v > 0 {
			low, high = min(low, v), max(high, v)
		}
	}
	room, factor := 0.03*high-0.03*low, math.Exp(0.03*(math.Log(high)-math.Log(low)))
	switch {
	case low > high:
		low, high, room, factor = 1, 10, 0, 1
	case low == high:
		room, factor = max(math.Abs(low)/10, 1e-9), 2
	}
	if a.Log {
		a.Low, a.High = max(low/factor, smallest), min(high*factor, math.MaxFloat64)
	} else {
		a.Low, a.High = max(low-room, -math.MaxFloat64), min(high+room, math.MaxFloat64)
	}
	return a
}

// at is where a number lies between the axis' ends: 0 to 1, which numbers beyond it are drawn at.
func (a Axis) at(v float64) float64 {
	share := (v - a.Low) / (a.High - a.Low)
	if a.Log {
		share = math.Log(v/a.Low) / math.Log(a.High/a.Low)
	}
	return min(1, max(0, share))
}

// tick is a place on an axis; most have a label.
type tick struct {
	at    float64
	label string
}

func (a Axis) ticks() []tick {
	var out []tick
	switch {
	case a.Ticks != nil:
		for _, v := range a.Ticks {
			out = append(out, tick{v, short(v)})
		}
	case a.Log:
		out = logTicks(a.Low, a.High)
	default:
		out = linearTicks(a.Low, a.High)
	}
	return out
}

// linearTicks marks multiples of 1, 2 or 5 times a power of ten, at most eight steps.
func linearTicks(low, high float64) []tick {
	power := math.Pow(10, math.Floor(math.Log10(high-low))-1)
	step := power
	for _, times := range []float64{1, 2, 5, 10, 20, 50} {
		step = times * power
		if (high-low)/step <= 8 {
			break
		}
	}
	var out []tick
	first := math.Ceil(low / step)
	for k := range 10 {
		if x := (first + float64(k)) * step; x <= high {
			out = append(out, tick{x, short(x)})
		}
	}
	return out
}

// logTicks marks powers of ten and their multiples. It labels powers of ten; below three decades also their
// multiples by 2 and 5, below one also those by 3, 4, 6 and 8; beyond nine decades every second power, or fewer, and
// then it leaves out the multiples.
func logTicks(low, high float64) []tick {
	var out []tick
	first, last := math.Ceil(math.Log10(low)-1e-9), math.Floor(math.Log10(high)+1e-9)
	every := max(1, math.Ceil((last-first+1)/9))
	digits := 9.
	if every > 1 {
		digits = 1
	}
	labelled := func(digit float64) bool {
		switch digit {
		case 2, 5:
			return math.Log10(high/low) < 2.2
		case 3, 4, 6, 8:
			return high/low < 8
		}
		return false
	}
	for e := first - 1; e <= last; e++ {
		for digit := 1.; digit <= digits; digit++ {
			x := digit * math.Pow(10, e)
			if x < low*(1-1e-9) || x > high*(1+1e-9) {
				continue
			}
			t := tick{at: x}
			if digit == 1 && math.Mod(e-first, every) == 0 || labelled(digit) {
				t.label = short(x)
			}
			out = append(out, t)
		}
	}
	return out
}

// short writes the number of a tick: 0.3, 20, 20,000, 1e-5, 3e6.
func short(x float64) string {
	size := math.Abs(x)
	if size == 0 {
		return "0"
	}
	if size < 0.001 || size >= 999_999.5 {
		digits, power, _ := strings.Cut(fmt.Sprintf("%.2e", x), "e")
		if strings.Contains(digits, ".") {
			digits = strings.TrimRight(strings.TrimRight(digits, "0"), ".")
		}
		n, _ := strconv.Atoi(power)
		return fmt.Sprintf("%se%d", digits, n)
	}
	whole, rest, _ := strings.Cut(strconv.FormatFloat(math.Round(x*1e6)/1e6, 'f', -1, 64), ".")
	if n := len(whole); size >= 10_000 {
		whole = whole[:n-3] + "," + whole[n-3:]
	}
	if rest != "" {
		whole += "." + rest
	}
	return whole
}
