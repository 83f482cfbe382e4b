package report

import (
	"fmt"

	"github.com/discreet-rl/discreet/evaluate"
)

// distributionView is what a page shows of a distribution beside its answers.
type distributionView struct {
	Curve survivalFigure
	Table curveTable
}

// spread puts what is particular to a distribution on a page.
func (p *page) spread(r *evaluate.Release, bounds *evaluate.Range) {
	d := r.Distribution
	a := timeAxis{ends: d.Ends, first: d.Ends[0]}
	if bounds != nil {
		a.first = min(bounds.Min, d.Ends[0])
	}
	last := d.Ends[len(d.Ends)-1]
	a.scale = scale{a.first, last + max((last-a.first)/float64(2*len(d.Ends)), (last-a.first)/100)}
	parameters, _ := r.Public["parameters"].(map[string]any)
	discrete, _ := parameters["discrete"].(bool)
	a.grouped = !discrete
	for _, e := range append([]float64{a.first}, d.Ends...) {
		a.widest = max(a.widest, pixels(parameter(e)))
	}
	y := scale{0, 1}
	c := a.axes(260, y, "probability of a return of at most that", "return")
	c.Curves = []curveLine{a.curve(armClass(0), d.Function, rises, y)}
	v := &distributionView{Curve: survivalFigure{Heading: "The distribution of the return"}, Table: curveTable{Caption: "distribution function", Value: "probability"}}
	for j, e := range d.Ends[:min(len(d.Ends), mostBins)] {
		l := limitedAt(d.Function, j, 3)
		v.Table.Rows = append(v.Table.Rows, curveRow{Time: parameter(e), Value: l.Value, Low: l.Low, High: l.High})
	}
	v.Table.Left = len(d.Ends) - len(v.Table.Rows)
	half := limitedAt(d.Function, len(d.Ends)/2, 2)
	c.Alt = fmt.Sprintf("The probability of a return of at most %s is %s, limits %s to %s. ", parameter(d.Ends[len(d.Ends)/2]), half.Value, half.Low, half.High)
	runs := "The curve steps at the listed returns"
	if a.grouped {
		runs = "The curve is known at the ends of bins, and runs straight in between"
	}
	v.Curve.Caption = runs + ". The shaded band holds the probability with 95% probability, at all returns together; quantiles and means of tails are read from it."
	v.Curve.Charts = []curveChart{c}
	p.Distribution = v
	for i := range p.Diagnostics {
		if p.Diagnostics[i].Name == "masses" {
			p.Diagnostics[i].Words = "sums of weights by bin; the curve and all answers follow from them"
		}
	}
}

// checkDistribution refuses a curve that cannot be shown truthfully.
func checkDistribution(d *evaluate.Distribution) error {
	if d == nil {
		return nil
	}
	if err := finite("distribution.ends", d.Ends...); err != nil {
		return err
	}
	const most = 1000
	if len(d.Ends) < 2 || len(d.Ends) > most {
		return fmt.Errorf("%w: distribution.ends: %d of them; want 2 to %d", ErrRelease, len(d.Ends), most)
	}
	for j, e := range d.Ends[1:] {
		if !(e > d.Ends[j]) {
			return fmt.Errorf("%w: distribution.ends: want numbers that increase", ErrRelease)
		}
	}
	return checkCurve("distribution.function", d.Function, len(d.Ends), 0)
}
