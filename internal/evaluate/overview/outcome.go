package overview

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Outcome counts what became of persons in a study of survival.
type Outcome struct {
	// Causes name the events of each arm.
	Causes []string                `json:"causes"`
	Arms   []evaluate.OutcomeCount `json:"arms"`
	// Unknown counts the persons of whom not even the arm is known, and Elsewhere those in none.
	Unknown   int `json:"unknown"`
	Elsewhere int `json:"elsewhere"`
}

// outcome counts the outcomes, nil where a value is asked for.
func outcome(d *trajectory.Dataset, p *evaluate.Public) (*Outcome, error) {
	if p == nil {
		return nil, nil
	}
	o := &Outcome{}
	for _, c := range p.Outcome.Causes {
		o.Causes = append(o.Causes, c.Name)
	}
	var err error
	o.Arms, o.Unknown, o.Elsewhere, err = p.CountOutcomes(d)
	return o, err
}

// Lines say what became of the persons of each arm.
func (o *Outcome) Lines() (lines []string) {
	if o == nil {
		return nil
	}
	for _, a := range o.Arms {
		lines = append(lines, a.Arm+": "+o.counts(a)+fmt.Sprintf(", unusable %d", a.Unusable))
		for k, s := range a.Strata {
			lines = append(lines, fmt.Sprintf("%s, stratum %d: %s", a.Arm, k+1, o.counts(s)))
		}
	}
	return append(lines, fmt.Sprintf("arm unknown %d, in no arm %d", o.Unknown, o.Elsewhere))
}

// counts says what became of the persons of an arm or a stratum.
func (o *Outcome) counts(a evaluate.OutcomeCount) string {
	text := ""
	for i, n := range a.Events {
		text += fmt.Sprintf("%s %d, ", o.Causes[i], n)
	}
	return text + fmt.Sprintf("censored %d, followed to the end %d", a.Censored, a.Followed)
}

const (
	// unlike is the probability below which shares of arms that differ are told.
	unlike = 0.01
	// manyUnusable is the share of persons without a usable outcome that is told.
	manyUnusable = 0.02
)

// warnings say what makes survival doubtful.
func (o *Outcome) warnings() []string {
	if o == nil {
		return nil
	}
	var told []string
	persons, unusable := o.Unknown, o.Unknown
	for _, a := range o.Arms {
		persons += total(a) + a.Unusable
		unusable += a.Unusable
	}
	if share := float64(unusable) / float64(max(persons, 1)); share > manyUnusable {
		told = append(told, fmt.Sprintf("the outcome of %s of the persons, %d of %d, cannot be used (a time below 0 or missing, an event that data.outcome does not list, or several rows): the interval allows for whatever became of them, and is wider", Percent(share), unusable, persons))
	}
	if p := o.dropout(); p < unlike {
		text := ""
		for i, a := range o.Arms {
			if i > 0 {
				text += ", "
			}
			text += fmt.Sprintf("%s of %s", Percent(float64(a.Censored)/float64(max(total(a), 1))), a.Arm)
		}
		told = append(told, fmt.Sprintf("dropout differs between arms (censored are %s; by chance alone so with probability %.2g): if persons left for reasons related to how they fared, the curves are wrong", text, p))
	}
	return told
}

// total is the number of persons of an arm with an outcome.
func total(a evaluate.OutcomeCount) int {
	n := a.Censored + a.Followed
	for _, e := range a.Events {
		n += e
	}
	return n
}

// dropout is the probability of shares of censored persons that differ so much between arms,
// within strata where there are any, by the chi-squared test of homogeneity; 1 where there is
// nothing to compare.
func (o *Outcome) dropout() float64 {
	chi, freedom := 0.0, 0.0
	add := func(arms []evaluate.OutcomeCount) {
		censored, persons, compared := 0.0, 0.0, 0.0
		for _, a := range arms {
			if n := total(a); n > 0 {
				censored, persons, compared = censored+float64(a.Censored), persons+float64(n), compared+1
			}
		}
		share := censored / math.Max(persons, 1)
		if compared < 2 || share == 0 || share == 1 {
			return
		}
		freedom += compared - 1
		for _, a := range arms {
			if n := float64(total(a)); n > 0 {
				apart := float64(a.Censored) - n*share
				chi += apart * apart / (n * share * (1 - share))
			}
		}
	}
	if len(o.Arms) == 0 || o.Arms[0].Strata == nil {
		add(o.Arms)
	}
	for k := range o.strata() {
		var arms []evaluate.OutcomeCount
		for _, a := range o.Arms {
			arms = append(arms, a.Strata[k])
		}
		add(arms)
	}
	if freedom == 0 {
		return 1
	}
	return distuv.ChiSquared{K: freedom}.Survival(chi)
}

// strata is the number of strata, 0 without any.
func (o *Outcome) strata() int {
	if len(o.Arms) == 0 {
		return 0
	}
	return len(o.Arms[0].Strata)
}
