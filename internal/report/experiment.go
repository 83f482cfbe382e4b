package report

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/evaluate"
)

// Line is a fact with its heading.
type Line struct{ Head, Text string }

// Experiment is what an experiment says beside its intervals; nil of another release.
func Experiment(r *evaluate.Release) (lines []Line) {
	x := r.Experiment
	if x == nil {
		return nil
	}
	var sizes []string
	for _, name := range slices.Sorted(maps.Keys(x.Persons)) {
		sizes = append(sizes, fmt.Sprintf("%s %s", name, aboutPersons(x.Persons[name])))
	}
	lines = append(lines, Line{"persons", strings.Join(sizes, ", ")})
	if p := x.AllocationP; p != nil {
		text := "as stated: numbers as far from it, or farther, have probability %s by chance and noise"
		if x.Mismatch {
			text = "NOT AS STATED: numbers as far from it, or farther, have probability %s by chance and noise"
		}
		lines = append(lines, Line{"allocated", fmt.Sprintf(text, significant(*p, 2, up))})
	}
	if n := x.Unassigned; n != nil {
		lines = append(lines, Line{"no arm", aboutPersons(*n) + " whose rows name no arm, two, or one that is not listed; limits allow for them in any arm"})
	}
	if s := x.Slope; s != nil {
		text := significant(*s, digits, nearest) + " for each unit of the covariate is taken off outcomes in differences"
		if *s == 0 {
			text = "the covariate is not used: noise would cost more than it saves"
		}
		lines = append(lines, Line{"slope", text})
	}
	for _, l := range x.Lifts {
		value, upper := "not known", "without an upper limit, since the control’s mean may be 0"
		if l.Value != nil {
			value = signed(*l.Value, nearest)
		}
		if l.Upper != nil {
			upper = "to " + signed(*l.Upper, up)
		}
		lines = append(lines, Line{"lift", fmt.Sprintf("%s: %s of the control’s mean, from %s %s", l.Name, value, signed(l.Lower, down), upper)})
	}
	return lines
}

// aboutPersons is a number of them, noisy unless it is whole.
func aboutPersons(n float64) string {
	if n == math.Trunc(n) {
		return fmt.Sprintf("%.0f", n)
	}
	return fmt.Sprintf("about %.0f", max(n, 0))
}

// signed is a share as a percentage with its sign.
func signed(x float64, to direction) string {
	sign := "+"
	if x < 0 {
		sign = ""
	}
	return sign + fixed(100*x, 1, to) + "%"
}

// armsForest says what a panel of an experiment shows.
func armsForest(kind evaluate.AnswerKind) (heading, words string) {
	if kind == evaluate.OfContrast {
		return "Differences from the control", "Each dark bar is an interval, and the line in it is the difference: the arm’s mean minus the control’s. The dashed line marks a difference of 0. The axis is in units of an outcome and just wide enough to show them."
	}
	return "The mean outcome of each arm", "Each dark bar is an interval, and the line in it is the mean. The axis is in units of an outcome and just wide enough to show them."
}

// above says what the difference of two arms shows.
func above(name string, interval [2]float64) string {
	first, second, ok := pair(name)
	if !ok {
		first, second = "the arm", "the control"
	}
	switch {
	case interval[0] > 0:
		return first + " is above " + second
	case interval[1] < 0:
		return first + " is below " + second
	}
	return "the data do not show which is higher"
}

// checkExperiment refuses what cannot be shown truthfully.
func checkExperiment(x *evaluate.Experiment) error {
	if x == nil {
		return nil
	}
	numbers := slices.Collect(maps.Values(x.Persons))
	for _, p := range []*float64{x.Unassigned, x.AllocationP, x.Slope} {
		if p != nil {
			numbers = append(numbers, *p)
		}
	}
	for _, l := range x.Lifts {
		numbers = append(numbers, l.Lower)
		for _, p := range []*float64{l.Value, l.Upper} {
			if p != nil {
				numbers = append(numbers, *p)
			}
		}
	}
	return finite("experiment", numbers...)
}
