package figure

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// footnote says of how many trials the means of a picture are, and what bars and
// bands show. Numbers that have no trials, as exact ones, do not count.
func footnote(panels []Panel, t *Table) string {
	least, most := math.MaxInt, 0
	var shown []string
	cut := false
	for _, p := range panels {
		for _, c := range p.Curves {
			for _, x := range t.Xs(p.Name, c.Series) {
				cell := t.At(p.Name, c.Series, x)
				if cell.N < 2 {
					continue
				}
				least, most = min(least, cell.N), max(most, cell.N)
				what := p.shows(c)
				if what != "" && !slices.Contains(shown, what) {
					shown = append(shown, what)
				}
				cut = cut || what != "" && p.LogY && cell.Mean > 0 && p.error(cell) >= cell.Mean
			}
		}
	}
	if most == 0 {
		return ""
	}
	of := fmt.Sprintf("means of %d trials", most)
	if least < most {
		of = fmt.Sprintf("means of %d to %d trials", least, most)
	}
	slices.Sort(shown)
	if cut {
		shown = append(shown, "what would reach 0 ends at half the least mean of its panel")
	}
	return strings.Join(append([]string{of}, shown...), "; ")
}

// shows says what is drawn around the means of a curve.
func (p Panel) shows(c Curve) string {
	switch {
	case p.Bars == "":
		return ""
	case !c.Plain:
		return "bars: " + string(p.Bars)
	case p.Bands:
		return "bands: " + string(p.Bars)
	}
	return ""
}
