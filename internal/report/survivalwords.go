package report

import (
	"fmt"
	"strings"

	"github.com/discreet-rl/discreet/evaluate"
)

// survive puts what is particular to survival on a page.
func (p *page) survive(r *evaluate.Release, public map[string]any) error {
	diagnostics, err := normalise("diagnostics", r.Diagnostics)
	if err != nil {
		return err
	}
	weighted := underPolicies(r)
	if p.Measure = "the time"; weighted {
		p.MethodWords = policiesCount
	} else {
		p.Target = ""
	}
	p.Times = strings.ToUpper(r.Survival.Time[:min(1, len(r.Survival.Time))]) + r.Survival.Time[min(1, len(r.Survival.Time)):] +
		". Means are restricted: a longer time counts as " + parameter(r.Survival.Until) + "."
	p.Survival = newSurvivalView(r)
	p.Public = nil
	for _, f := range publicFacts(public) {
		if weighted {
			p.Public = append(p.Public, f)
			continue
		}
		switch f.Name {
		case "target", "on_policy", "gamma", "return": // of every method; nothing here follows from them
			p.Unsaid = "Those of every method that mean nothing for survival are in the JSON form alone."
		case "by":
			f.Words = "the arms"
			fallthrough
		default:
			p.Public = append(p.Public, f)
		}
	}
	p.Diagnostics = namedFacts(diagnostics)
	for i := range p.Diagnostics {
		if p.Diagnostics[i].Name == "cells" {
			p.Diagnostics[i].Words = "counts of persons by arm, bin of time and what ended it; all curves and means follow from them"
			if weighted {
				p.Diagnostics[i].Words = "by policy, bin of time and what ended it: sums of weights over the largest; all curves, limits and means follow from them"
			}
		}
	}
	return nil
}

// survivalTitle heads a page of survival.
func survivalTitle(r *evaluate.Release) string {
	switch {
	case len(r.Survival.Differences) > 0:
		return "How survival compares"
	case len(r.Survival.Arms) > 1:
		return "Survival, " + armNoun(r) + " by " + armNoun(r)
	}
	return "Survival"
}

// quantityWords are what the only answer is, and whose public range it lies in.
func quantityWords(r *evaluate.Release) (quantity, of string) {
	if one := One(r); one.Kind == evaluate.OfContrast {
		return differenceOfMeans + ", " + nameOfPair(one.Name), "a difference of restricted means"
	}
	return restrictedMean, "a restricted mean"
}

// timeRange is the public range of the only answer.
func timeRange(r *evaluate.Release) *evaluate.Range {
	out := &evaluate.Range{Max: r.Survival.Until}
	if one := One(r); one != nil && one.Kind == evaluate.OfContrast {
		out.Min = -out.Max
	}
	return out
}

// meansWords head a forest of restricted means, and explain it.
func meansWords(kind evaluate.AnswerKind, arm string) (heading, words string) {
	const axis = " The axis is in units of the time and just wide enough to show them."
	if kind == evaluate.OfContrast {
		return "Differences of restricted means", "Each dark bar is an interval, and the line in it is the difference: the first " + arm + "’s restricted mean minus the second’s. The dashed line marks a difference of 0." + axis
	}
	return "Restricted mean of each " + arm, "Each dark bar is an interval, and the line in it is the restricted mean." + axis
}

// longer says what the interval of a difference of restricted means shows.
func longer(name string, interval [2]float64) string {
	first, second, ok := pair(name)
	if !ok {
		first, second = "the first arm", "the second"
	}
	switch {
	case interval[0] > 0:
		return "longer in " + first + " than in " + second
	case interval[1] < 0:
		return "longer in " + second + " than in " + first
	}
	return "the data do not show which is longer"
}

// survivalBiases are what the intervals of survival do not allow for.
func survivalBiases(r *evaluate.Release, add adder) {
	if underPolicies(r) {
		policyBiases(r, add)
		return
	}
	add(unmeasured, "Censoring that depends on prognosis", "Curves and means assume that within each arm, persons whose follow-up ended would have fared like those who were followed on. If they left because they did badly, or well, the curves are wrong, and nothing in the release shows it.")
	if len(r.Survival.Arms) > 1 {
		add(unmeasured, "Why a person is in an arm", "Where chance did not assign the arms, they may differ in more than what they are named for, and a difference between them need not be its effect.")
	}
	everySurvivalBias(add)
}

// everySurvivalBias adds what neither arms nor policies allow for.
func everySurvivalBias(add adder) {
	add(unmeasured, "Whom the data represent", "The answer is about people like those in the data, under the conditions of that time.")
	add(unmeasured, "The normal approximation", "Limits assume that counts and noise are about normally distributed; with few events, or few persons at risk, they may hold less often than stated.")
}

// survivalCheck repeats what follows from the cells.
var survivalCheck = verification{
	What:    "All curves, limits, medians and means follow from the counts that were released (field diagnostics.cells) and the public parameters. The command recomputes them.",
	Command: "discreet verify release.json",
}

// noisyCells says of what noise is, and what a person adds to it.
func noisyCells(r *evaluate.Release) string {
	noise := " noise on every count of a table"
	if family := fmt.Sprint(r.Public["noise_family"]); family == "gaussian_sums" {
		noise = " noise on running sums, along the bins of time, of a table"
	}
	if underPolicies(r) {
		return noise + " in which each person adds to one cell of each policy, at most 1."
	}
	return noise + " in which each person counts once."
}

// countOnce says of noise on sums that they are counts, to which a person adds 1 once.
func (n *eventNode) countOnce(cells string) {
	switch n.Kind {
	case "gaussian":
		n.Words = "Gaussian" + cells
	case "laplace":
		n.Words = "Laplace" + cells
	case "discrete_gaussian":
		n.Words = "Whole-number Gaussian" + cells
	case "discrete_laplace":
		n.Words = "Whole-number Laplace" + cells
	}
	for i := range n.Params {
		n.Params[i].Words = strings.Replace(n.Params[i].Words, "in units of the clip: the most that one person can add", "in units of what one person can change", 1)
	}
	for _, child := range n.Children {
		child.countOnce(cells)
	}
}

// speak says the sentences of the view by the unit of the release.
func (v *survivalView) speak(say func(...*string)) {
	if v == nil {
		return
	}
	say(&v.Curves.Caption) // the only caption that speaks of persons
}
