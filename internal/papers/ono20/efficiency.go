package ono20

import (
	"context"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/internal/papers/figure"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/simulate"
)

// printed is a row of the paper's Tables 1, 2 and 3, by epsilon.
type printed struct{ first, success, area map[float64]float64 }

// tables holds what the paper prints.
func tables() map[mechanism]printed {
	return map[mechanism]printed{
		train.Laplace: {
			first:   map[float64]float64{1: 18377, 2: 20238.5, 5: 5714.5, 10: 4055},
			success: map[float64]float64{1: .8, 2: .9, 5: 1, 10: 1},
			area:    map[float64]float64{1: .673, 2: .711, 5: .909, 10: .965},
		},
		train.PRS: {
			first:   map[float64]float64{1: 25226.5, 2: 7549, 5: 2656.5, 10: 11217.5},
			success: map[float64]float64{1: .85, 2: .95, 5: .9, 10: .9},
			area:    map[float64]float64{1: .660, 2: .862, 5: .835, 10: .771},
		},
	}
}

const printedFree = 1769 // median first success without privacy

// usualBuffer is the |B| that the paper settles on.
func usualBuffer(m mechanism) int {
	if m == train.PRS {
		return 100
	}
	return 1
}

const (
	panelSuccess = "success"
	seriesPaper  = "paper"
	seriesFree   = "not private"
)

func curvePanel(m mechanism, r reading) string { return fmt.Sprintf("figure3 %s, %s", title(m), r) }

func seriesOf(m mechanism, r reading) string { return fmt.Sprintf("%s, %s", title(m), r) }

func seriesAt(m mechanism, r reading, epsilon float64) string {
	return fmt.Sprintf("%s, epsilon %g", seriesOf(m, r), epsilon)
}

func efficiency() figure.Item {
	item := figure.Item{
		Name: "efficiency", Title: "Tables 1, 2 and 3, and Figure 3: submissions to the first success",
		Caption: "Success ratio by the number of submissions (Figure 3), and within 90,000 by epsilon (Table 2). The medians of Table 1 and the areas of Table 3 are among the claims; all trials are in the CSV. 20 trials of 90,000 submissions (quick: 3). Bars and bands: standard error of the mean over trials.",
		Columns: 2, SameY: true,
		Probe: probe(efficiencyConfigs), Jobs: efficiencyJobs, Claims: claimEfficiency,
	}
	for _, m := range []mechanism{train.Laplace, train.PRS} {
		for _, r := range []reading{nearest, literal} {
			p := figure.Panel{Name: curvePanel(m, r), Title: fmt.Sprintf("%s, %s", title(m), r), X: "submissions", Y: "success ratio", Bars: figure.StandardError, Bands: true}
			for i, e := range epsilons() {
				p.Curves = append(p.Curves, figure.Curve{Series: fmt.Sprintf("epsilon %g", e), Colour: i + 1, Plain: true})
			}
			p.Curves = append(p.Curves, figure.Curve{Series: seriesFree, Plain: true, Dashed: true})
			item.Panels = append(item.Panels, p)
		}
	}
	panel := figure.Panel{Name: panelSuccess, Title: "Table 2", X: "epsilon", Y: "success ratio", LogX: true, Bars: figure.StandardError}
	for i, m := range []mechanism{train.Laplace, train.PRS} {
		panel.Curves = append(panel.Curves, figure.Curve{Series: title(m) + ", " + seriesPaper, Colour: 4 * i, Dashed: true})
		for j, r := range readings() {
			panel.Curves = append(panel.Curves, figure.Curve{Series: seriesOf(m, r), Colour: 4*i + j + 1})
		}
	}
	item.Panels = append(item.Panels, panel)
	return item
}

func efficiencyJobs(quick bool) []figure.Job {
	jobs := []figure.Job{{Key: "paper", Run: func(context.Context) ([]figure.Sample, error) { return printedSamples(), nil }}}
	for k := range count(quick) {
		trial := k + 1
		jobs = append(jobs, figure.Job{Key: fmt.Sprintf("not private, trial %d", trial), Cost: 1, Trial: trial, Run: func(ctx context.Context) ([]figure.Sample, error) {
			return freeTrial(ctx, trial)
		}})
		for _, m := range []mechanism{train.Laplace, train.PRS} {
			for _, r := range readings() {
				for _, e := range epsilons() {
					jobs = append(jobs, figure.Job{Key: fmt.Sprintf("%s, trial %d", seriesAt(m, r, e), trial), Cost: 1, Trial: trial, Run: func(ctx context.Context) ([]figure.Sample, error) {
						return efficiencyTrial(ctx, m, r, e, trial)
					}})
				}
			}
		}
	}
	return jobs
}

// free is PGC-A3C without privacy, gradients clipped to l1 norm 1/2: without a clip
// one bad episode can end a run.
func free() simulate.Config {
	c := pgc(train.NotPrivate, 0, 1, nearest)
	c.Terms.Randomizer.Clip = 1
	return c
}

func freeTrial(ctx context.Context, trial int) ([]figure.Sample, error) {
	o, err := play(ctx, free(), uint64(trial))
	out := raw(seriesFree, trial, o)
	for _, m := range []mechanism{train.Laplace, train.PRS} {
		for _, r := range []reading{nearest, literal} {
			out = append(out, curve(curvePanel(m, r), seriesFree, o)...)
		}
	}
	return out, err
}

func efficiencyTrial(ctx context.Context, m mechanism, r reading, epsilon float64, trial int) ([]figure.Sample, error) {
	o, err := play(ctx, pgc(m, epsilon, usualBuffer(m), r), uint64(trial))
	out := raw(seriesAt(m, r, epsilon), trial, o)
	out = append(out, figure.Sample{Panel: panelSuccess, Series: seriesOf(m, r), X: epsilon, Y: o.by(submissions)})
	if r != control {
		out = append(out, curve(curvePanel(m, r), fmt.Sprintf("epsilon %g", epsilon), o)...)
	}
	return out, err
}

// curve samples the success of a trial on a grid of submissions.
func curve(panel, series string, o outcome) []figure.Sample {
	var out []figure.Sample
	for n := 0.0; n <= submissions; n += 1500 {
		out = append(out, figure.Sample{Panel: panel, Series: series, X: n, Y: o.by(n)})
	}
	return out
}

func printedSamples() []figure.Sample {
	var out []figure.Sample
	for _, m := range []mechanism{train.Laplace, train.PRS} {
		for _, e := range epsilons() {
			series := title(m) + ", " + seriesPaper
			out = append(out, figure.Sample{Panel: panelSuccess, Series: series, X: e, Y: tables()[m].success[e]})
		}
	}
	return out
}

// area is the mean over trials of the area under Figure 3, of 1, with its standard
// error.
func area(t *figure.Table, series string) figure.Cell {
	var c figure.Cell
	var squares float64
	for _, x := range t.Xs(rawFirst, series) {
		a := 0.0
		if f := t.At(rawFirst, series, x).Mean; f > 0 {
			a = 1 - f/submissions
		}
		c.N++
		d := a - c.Mean
		c.Mean += d / float64(c.N)
		squares += d * (a - c.Mean)
	}
	c.SD = math.Sqrt(squares / float64(max(1, c.N-1)))
	return c
}

func claimEfficiency(t *figure.Table) []figure.Claim {
	free := summary(t, seriesFree)
	first := float64(printedFree)
	claims := []figure.Claim{{
		ID: "table1-free", Paper: paper, Claim: "Median first success without privacy.",
		Holds: within(free.median, first, 4), PaperValue: &first, Ours: finite(free.median),
		Note: free.String() + "; judged: within a factor of 4",
	}}
	close, all := 0, 0
	for _, m := range []mechanism{train.Laplace, train.PRS} {
		for _, e := range epsilons() {
			for _, r := range readings() {
				s := summary(t, seriesAt(m, r, e))
				near := math.Abs(s.success-tables()[m].success[e]) <= .15+1e-9
				if r == nearest {
					all++
					if near {
						close++
					}
				}
				claims = append(claims, claimsAt(t, m, r, e, s, near)...)
			}
		}
	}
	return append(claims, figure.Claim{
		ID: "table2-nearest", Paper: paper, Claim: "Not in the paper: the nearest reading has the success ratios of Table 2.",
		Holds: close >= 6, Ours: float64(close),
		Note: fmt.Sprintf("cells of %d with a success ratio within 0.15 of the paper's; judged: six or more; a count, without a standard error", all),
	})
}

// claimsAt are the cells of the three tables.
func claimsAt(t *figure.Table, m mechanism, r reading, e float64, s spread, near bool) []figure.Claim {
	p := tables()[m]
	first, success, relative := p.first[e], p.success[e], p.area[e]
	id := fmt.Sprintf("%s-%s-%g", m, shortName(r), e)
	of := area(t, seriesAt(m, r, e))
	ratio, se := figure.Ratio(of, area(t, seriesFree))
	if of.Mean == 0 { // no trial succeeds
		ratio, se = 0, 0
	}
	return []figure.Claim{{
		ID: "table1-" + id, Paper: paper, Claim: fmt.Sprintf("Median first success, %s, epsilon %g.", seriesOf(m, r), e),
		Holds: within(s.median, first, 4), PaperValue: &first, Ours: finite(s.median), Note: s.String() + "; 90001 stands for never; judged: within a factor of 4",
	}, {
		ID: "table2-" + id, Paper: paper, Claim: fmt.Sprintf("Success ratio, %s, epsilon %g.", seriesOf(m, r), e),
		Holds: near, PaperValue: &success, Ours: s.success, StdErr: s.successError(),
		Note: s.String() + "; judged: within 0.15",
	}, {
		ID: "table3-" + id, Paper: paper, Claim: fmt.Sprintf("Relative area, %s, epsilon %g.", seriesOf(m, r), e),
		Holds: math.Abs(ratio-relative) <= .15, PaperValue: &relative, Ours: ratio, StdErr: se,
		Note: "area under the success ratio over that without privacy; judged: within 0.15",
	}}
}

// within reports whether x and y differ by at most a factor.
func within(x, y, factor float64) bool { return x <= factor*y && y <= factor*x }
