package evaluate

import (
	"cmp"
	"math"
	"slices"
)

// Selection is what the intervals say together about which policy is best. Nothing of
// it is looked up in the data.
type Selection struct {
	// BestByValue has the largest value, where noise takes several beyond an end of their range that which is farthest
	// out, or the least so. It is empty where several are equal.
	BestByValue string `json:"best_by_value,omitempty"`
	// Separated tells whether the intervals show, with the joint confidence, that no other is
	// better; nil in releases that name a policy by its lower limit.
	Separated *bool `json:"separated,omitempty"`
	// MayBeBest lists the policies of which no interval shows that another is better.
	// The best is among them with the joint confidence.
	MayBeBest []string `json:"may_be_best"`
	// Regret bounds, with the joint confidence, by how much the best policy is better
	// than the one that is named, in units of a return; nil where none is named.
	Regret *float64 `json:"regret_at_most,omitempty"`
	// Policy has the largest lower limit, in releases that go by that.
	Policy string `json:"policy,omitempty"`
}

// Named is the policy that is named, by value or by its lower limit.
func (s *Selection) Named() string { return cmp.Or(s.BestByValue, s.Policy) }

// limits are what is known of two policies: low and high bound the value of the first
// less that of the second.
type limits struct{ low, high float64 }

// difference bounds the difference of two policies by their levels and by whatever
// contrasts there are of the two.
func difference(answers []PolicyAnswer, a, b string) limits {
	levels, contrasts := intervals(answers, OfPolicy), intervals(answers, OfContrast)
	d := limits{levels[a][0] - levels[b][1], levels[a][1] - levels[b][0]}
	if c, ok := contrasts[a+contrastSign+b]; ok {
		d = limits{max(d.low, c[0]), min(d.high, c[1])}
	}
	if c, ok := contrasts[b+contrastSign+a]; ok {
		d = limits{max(d.low, -c[1]), min(d.high, -c[0])}
	}
	return d
}

// intervals are those of the answers of one kind, by name.
func intervals(answers []PolicyAnswer, kind AnswerKind) map[string][2]float64 {
	of := map[string][2]float64{}
	for _, x := range answers {
		if x.Kind == kind {
			of[x.Name] = x.Estimate.Interval
		}
	}
	return of
}

// selectBest names the policy of the largest value, and says what the intervals, which hold
// together, show of it: whatever follows from them holds with their joint confidence, however the
// policy was chosen. beyond is by how much values were out of their range.
func selectBest(t *Targets, answers []PolicyAnswer, beyond map[string]float64) *Selection {
	s := mayBeBest(t, answers)
	values := map[string]float64{}
	for _, x := range answers {
		if x.Kind == OfPolicy {
			values[x.Name] = x.Estimate.Value + beyond[x.Name]
		}
	}
	best := math.Inf(-1)
	for _, a := range t.Levels {
		if v := values[a]; v > best {
			best, s.BestByValue = v, a
		} else if v == best {
			s.BestByValue = ""
		}
	}
	separated := s.BestByValue != "" && slices.Equal(s.MayBeBest, []string{s.BestByValue})
	s.Separated = &separated
	return s.bounded(t, answers)
}

// mayBeBest are the policies that no interval excludes.
func mayBeBest(t *Targets, answers []PolicyAnswer) *Selection {
	s := &Selection{MayBeBest: []string{}}
	for _, a := range t.Levels {
		if !slices.ContainsFunc(t.Levels, func(b string) bool { return b != a && difference(answers, b, a).low > 0 }) {
			s.MayBeBest = append(s.MayBeBest, a)
		}
	}
	return s
}

// bounded adds the bound on the regret of the policy that is named.
func (s *Selection) bounded(t *Targets, answers []PolicyAnswer) *Selection {
	if s.Named() == "" {
		return s
	}
	regret := 0.0
	for _, a := range t.Levels {
		if a != s.Named() {
			regret = max(regret, difference(answers, a, s.Named()).high)
		}
	}
	s.Regret = &regret
	return s
}

// selectByLimits goes by lower limits, as releases before separated did; where the largest is that of
// several policies it names one only if the intervals show all others of these to be worse
// than some policy.
func selectByLimits(t *Targets, answers []PolicyAnswer) *Selection {
	s := mayBeBest(t, answers)
	s.Policy = s.named(t.Levels, intervals(answers, OfPolicy))
	return s.bounded(t, answers)
}

// named is the policy of the largest lower limit, "" where limits tie.
func (s *Selection) named(levels []string, of map[string][2]float64) string {
	best := math.Inf(-1)
	for _, a := range levels {
		best = max(best, of[a][0])
	}
	first := slices.DeleteFunc(slices.Clone(levels), func(a string) bool { return of[a][0] < best })
	if len(first) > 1 {
		first = slices.DeleteFunc(first, func(a string) bool { return !slices.Contains(s.MayBeBest, a) })
	}
	if len(first) != 1 {
		return ""
	}
	return first[0]
}

// named tells whether answers name a best policy.
func named(answers []PolicyAnswer) bool {
	return slices.ContainsFunc(answers, func(a PolicyAnswer) bool { return a.Selection != nil && a.Selection.Named() != "" })
}
