package xie19

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/internal/dp/xie19"
	"github.com/discreet-rl/discreet/internal/papers/figure"
)

// parameters of GPOPE that its epsilon depends on.
type parameters struct {
	delta, iterations, sigma, persons float64
}

// base is a sound epsilon of 0.1 at m = N = 1e5.
func base() parameters { return parameters{1e-5, 1e5, 1.083, 1e5} }

// parameter is a row of Table 1 other than epsilon.
type parameter struct {
	name, panel, label string
	of                 func(p *parameters) *float64
}

func tableRows() []parameter {
	return []parameter{
		{"delta", "delta", "delta", func(p *parameters) *float64 { return &p.delta }},
		{"N", "iterations", "iterations N", func(p *parameters) *float64 { return &p.iterations }},
		{"sigma", "sigma", "noise multiplier sigma", func(p *parameters) *float64 { return &p.sigma }},
		{"m", "persons", labelPersons, func(p *parameters) *float64 { return &p.persons }},
	}
}

// factors multiply one parameter at a time.
func factors() []float64 { return []float64{0.5, 0.7, 1, 1.4, 2} }

const (
	seriesStated = "accountant of the paper"
	seriesUpper  = "true epsilon, upper end"
	seriesLower  = "true epsilon, lower end"
)

// relations is Table 1.
func relations() figure.Item {
	var panels []figure.Panel
	for _, r := range tableRows() {
		panels = append(panels, figure.Panel{
			Name: r.panel, Title: "Epsilon against " + r.name, X: r.label, Y: "epsilon, replace-one", LogX: true, LogY: true, Bars: figure.StandardDeviation,
			Curves: []figure.Curve{{Series: seriesStated, Colour: 1}, {Series: seriesUpper, Colour: 5}, {Series: seriesLower, Colour: 4, Dashed: true}},
		})
	}
	return figure.Item{
		Name: "relations", Title: "Table 1: how the parameters are related",
		Caption:  "Epsilon as delta, N, sigma and m vary one at a time from 1e-5, 1e5, 1.083 and 1e5, by the accountant of the paper and as a bracket from privacy-loss distributions. Two parameters are negatively related when an increase of one asks for a decrease of the other, all else equal; that follows from the signs of these slopes.",
		Columns:  2,
		Panels:   panels,
		Settings: []any{base().delta, base().iterations, base().sigma, base().persons},
		Jobs: func(bool) []figure.Job {
			var jobs []figure.Job
			for _, r := range tableRows() {
				for _, f := range factors() {
					jobs = append(jobs, figure.Job{
						Key: fmt.Sprintf("%s x %g", r.name, f), Cost: seconds(1),
						Run: func(context.Context) ([]figure.Sample, error) { return relate(r, f) },
					})
				}
			}
			return jobs
		},
		Claims: claimRelations,
	}
}

func relate(r parameter, factor float64) ([]figure.Sample, error) {
	p := base()
	x := r.of(&p)
	*x *= factor
	b, err := p.bracket()
	if err != nil {
		return nil, err
	}
	return []figure.Sample{
		{Panel: r.panel, Series: seriesStated, X: *x, Y: p.stated()},
		{Panel: r.panel, Series: seriesUpper, X: *x, Y: b.Upper},
		{Panel: r.panel, Series: seriesLower, X: *x, Y: b.Lower},
	}, nil
}

// stated is the epsilon of the paper's accountant: with the log-moment
// c l (l + 1), the least over l of exp(moment - l epsilon) is delta at
// epsilon = c + 2 sqrt(c ln(1/delta)).
func (p parameters) stated() float64 {
	y := math.Exp(1 / (p.sigma * p.sigma))
	c := p.iterations / (2 * p.persons * p.persons) * min(4*(y-1), 2*y)
	return c + 2*math.Sqrt(c*-math.Log(p.delta))
}

// bracket holds the true epsilon under replace-one.
func (p parameters) bracket() (account.Bracket, error) {
	event, _, err := xie19.Events(int64(p.persons), int64(p.iterations), p.sigma)
	if err != nil {
		return account.Bracket{}, err
	}
	a := account.NewPLD(dp.ReplaceOne)
	if err := a.Compose(context.Background(), event, 1); err != nil {
		return account.Bracket{}, err
	}
	return a.Epsilon(context.Background(), p.delta)
}

// slope is the sign of epsilon over the range of a parameter: +1 or -1, and 0
// where the ends cannot be told apart.
func slope(t *figure.Table, r parameter, lower, upper string) float64 {
	xs := t.Xs(r.panel, upper)
	first, last := xs[0], xs[len(xs)-1]
	switch {
	case t.At(r.panel, lower, last).Mean > t.At(r.panel, upper, first).Mean:
		return 1
	case t.At(r.panel, upper, last).Mean < t.At(r.panel, lower, first).Mean:
		return -1
	}
	return 0
}

// claimRelations derives the ten signs of the table. Of two parameters with
// slopes of one sign one must fall as the other rises.
func claimRelations(t *figure.Table) []figure.Claim {
	var claims []figure.Claim
	add := func(a, b string, printed, sound float64) {
		word := map[float64]string{1: "positively", -1: "negatively", 0: "not"}[printed]
		claims = append(claims, figure.Claim{
			ID: "relations-" + a + "-" + b, Paper: paper,
			Claim: fmt.Sprintf("Table 1: %s and %s are %s related.", a, b, word),
			Holds: printed == sound && printed != 0, PaperValue: &printed, Ours: sound,
			Note: "sign, all else equal; the paper's by its own accountant, ours from brackets of the true epsilon that do not overlap",
		})
	}
	rows := tableRows()
	for i, r := range rows {
		printed, sound := slope(t, r, seriesStated, seriesStated), slope(t, r, seriesLower, seriesUpper)
		add("epsilon", r.name, printed, sound)
		for _, q := range rows[:i] {
			add(q.name, r.name, -printed*slope(t, q, seriesStated, seriesStated), -sound*slope(t, q, seriesLower, seriesUpper))
		}
	}
	return claims
}
