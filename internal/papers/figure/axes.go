package figure

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
)

// ranges sets the ranges and the ticks of all panels; with same, panels with
// equal Y labels get one range of y.
func ranges(panels []Panel, grid [][]*plot.Plot, same bool) {
	across := len(grid[0])
	type span struct{ lo, hi float64 }
	ys := map[string]span{}
	for i, p := range panels {
		y := &grid[i/across][i%across].Y
		r, ok := ys[p.Y]
		if !ok || !same {
			r = span{y.Min, y.Max}
		}
		ys[p.Y] = span{min(r.lo, y.Min), max(r.hi, y.Max)}
	}
	for i, p := range panels {
		of := grid[i/across][i%across]
		if same {
			of.Y.Min, of.Y.Max = ys[p.Y].lo, ys[p.Y].hi
		}
		setAxis(&of.X, p.LogX)
		setAxis(&of.Y, p.LogY)
	}
}

// setAxis widens a range a little, so that bars and markers at its ends are seen
// whole, and names its ticks.
func setAxis(a *plot.Axis, log bool) {
	if log {
		logAxis(a)
		return
	}
	lo, hi := a.Min, a.Max
	room := 0.03 * (hi - lo)
	a.Min, a.Max = lo-room, hi+room
	a.Tick.Marker = plot.TickerFunc(linearTicks)
}

// logAxis makes an axis logarithmic. Package plot would widen a range of a single
// number by 1 to either side, which may leave the positive numbers.
func logAxis(a *plot.Axis) {
	if a.Min == a.Max {
		a.Min, a.Max = a.Min/2, a.Max*2
	}
	room := math.Pow(a.Max/a.Min, 0.03)
	a.Min, a.Max = a.Min/room, a.Max*room
	a.Scale = plot.LogScale{}
	a.Tick.Marker = plot.TickerFunc(logTicks)
}

// linearTicks marks multiples of 1, 2 or 5 times a power of ten, at most eight.
func linearTicks(lo, hi float64) []plot.Tick {
	if !(hi > lo) {
		return []plot.Tick{{Value: lo, Label: short(lo)}}
	}
	power := math.Pow(10, math.Floor(math.Log10(hi-lo))-1)
	step := power
	for _, times := range []float64{1, 2, 5, 10, 20, 50} {
		step = times * power
		if (hi-lo)/step <= 8 {
			break
		}
	}
	var ticks []plot.Tick
	for k := math.Ceil(lo / step); k*step <= hi; k++ {
		ticks = append(ticks, plot.Tick{Value: k * step, Label: short(k * step)})
	}
	return ticks
}

// logTicks marks powers of ten; below three decades also their multiples by 2
// and 5, below one also those by 3, 4, 6 and 8; beyond nine it names every second
// one.
func logTicks(lo, hi float64) []plot.Tick {
	var ticks []plot.Tick
	first, last := math.Ceil(math.Log10(lo)-1e-9), math.Floor(math.Log10(hi)+1e-9)
	every := max(1, math.Ceil((last-first+1)/9))
	named := func(digit float64) bool {
		switch digit {
		case 2, 5:
			return math.Log10(hi/lo) < 2.2
		case 3, 4, 6, 8:
			return hi/lo < 8
		}
		return false
	}
	for e := first - 1; e <= last; e++ {
		for digit := 1.0; digit < 10; digit++ {
			x := digit * math.Pow(10, e)
			if x < lo*(1-1e-9) || x > hi*(1+1e-9) {
				continue
			}
			t := plot.Tick{Value: x}
			if digit == 1 && math.Mod(e-first, every) == 0 || named(digit) {
				t.Label = short(x)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
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
