package overview

import (
	"fmt"
	"maps"
	"slices"

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

// Usable is how many persons have an outcome that can be used, or are in no arm.
func (o *Outcome) Usable(persons int) int {
	n := persons - o.Unknown
	for _, a := range o.Arms {
		n -= a.Unusable
	}
	return n
}

// outcome counts the outcomes.
func outcome(d *trajectory.Dataset, p *evaluate.Public) (*Outcome, error) {
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
	// manyLast is one in how many, censored in the last bin, is told.
	manyLast = 20
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
	if share := float64(unusable) / float64(max(persons, 1)); unusable > 0 {
		told = append(told, fmt.Sprintf("the outcome of %s of the persons, %d of %d, cannot be used (a time below 0 or missing, an event that data.outcome does not list, or several rows): the interval allows for whatever became of them, and is wider", Percent(share), unusable, persons))
	}
	if o.Elsewhere > 0 {
		told = append(told, fmt.Sprintf("%d persons are in no arm: by.values does not list theirs, and nothing is about them", o.Elsewhere))
	}
	if p := o.dropout(); p < unlike {
		told = append(told, fmt.Sprintf("dropout differs between arms among those still followed (log-rank test of censoring, within strata if there are any: by chance alone so with probability %.2g): if persons left for reasons related to how they fared, the curves are wrong", p))
	}
	return append(append(told, o.covariates()...), o.lastBin()...)
}

// covariates says of each of those that were read, and of the action, whether dropout depends on it within arms.
func (o *Outcome) covariates() (told []string) {
	sums := map[string][2]float64{}
	for _, a := range o.Arms {
		for name, t := range a.Trends {
			s := sums[name]
			sums[name] = [2]float64{s[0] + t[0], s[1] + t[1]}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		s := sums[name]
		p := min(1, float64(len(sums))*distuv.ChiSquared{K: 1}.Survival(s[0]*s[0]/s[1]))
		if p >= unlike {
			continue
		}
		more := "less"
		if s[0] > 0 {
			more = "more"
		}
		told = append(told, fmt.Sprintf("dropout depends on %s: with a larger value persons leave %s often among those still followed (log-rank test for a trend in ranks, within arms and strata, times the number of covariates: by chance alone so with probability %.2g): if it says how persons fare too, the curves are wrong; name its groups as data.outcome.strata, or ask for limits (data.outcome.censoring: any)", name, more, p))
	}
	return told
}

// lastBin says where many are censored in the last bin and nobody is followed beyond it, as
// where a common end of follow-up lies just before the last end.
func (o *Outcome) lastBin() []string {
	last, persons, followed := 0, 0, 0
	for _, a := range o.Arms {
		if n := len(a.Left); n > 0 {
			last += a.Left[n-1]
		}
		persons, followed = persons+total(a), followed+a.Followed
	}
	if followed > 0 || last*manyLast < persons {
		return nil
	}
	return []string{fmt.Sprintf("%d of %d persons are censored in the last bin and nobody is followed beyond it: if follow-up ends for all at one time, make it the end of the last bin, or they count as lost within that bin and its limits are wide", last, persons)}
}

// total is the number of persons of an arm with an outcome.
func total(a evaluate.OutcomeCount) int {
	n := a.Censored + a.Followed
	for _, e := range a.Events {
		n += e
	}
	return n
}

// dropout is the probability of censoring that differs so much between arms among those at risk,
// within strata where there are any: the log-rank test with censoring for the event, by bins of
// time; 1 where there is nothing to compare. Shares of persons would differ where events do.
func (o *Outcome) dropout() float64 {
	least, compared := 1.0, 0
	for i := range o.Arms {
		for k := range i { // each pair of arms, so that no matrix has to be inverted
			apart, variance := 0.0, 0.0
			for s := range max(o.strata(), 1) {
				a, b := o.Arms[i], o.Arms[k]
				if o.strata() > 0 {
					a, b = a.Strata[s], b.Strata[s]
				}
				d, v := logRank(a, b)
				apart, variance = apart+d, variance+v
			}
			if compared++; variance > 0 {
				least = min(least, distuv.ChiSquared{K: 1}.Survival(apart*apart/variance))
			}
		}
	}
	return min(1, least*float64(max(compared, 1)))
}

// logRank is by how much more often than expected those of a leave, and the variance of that.
func logRank(a, b evaluate.OutcomeCount) (apart, variance float64) {
	for j := range a.Left {
		n, of := float64(a.AtRisk[j]+b.AtRisk[j]), float64(a.AtRisk[j])
		left := float64(a.Left[j] + b.Left[j])
		if n < 2 {
			continue
		}
		apart += float64(a.Left[j]) - left*of/n
		variance += left * (of / n) * (1 - of/n) * (n - left) / (n - 1)
	}
	return apart, variance
}

// strata is the number of strata, 0 without any.
func (o *Outcome) strata() int {
	if len(o.Arms) == 0 {
		return 0
	}
	return len(o.Arms[0].Strata)
}
