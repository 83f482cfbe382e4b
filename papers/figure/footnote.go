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
	for _, p := range panels {
		for _, c := range p.Curves {
			for _, x := range t.Xs(p.Name, c.Series) {
				n := t.At(p.Name, c.Series, x).N
				if n < 2 {
					continue
				}
				least, most = min(least, n), max(most, n)
				if what := p.shows(c); what != "" && !slices.Contains(shown, what) {
					shown = append(shown, what)
				}
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
