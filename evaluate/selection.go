package evaluate

// Selection is what the intervals say together about which policy is best. Nothing of
// it is looked up in the data.
type Selection struct {
	// Policy has the largest lower limit: the value that is sure is largest.
	Policy string `json:"policy"`
	// MayBeBest lists the policies of which no interval shows that another is better.
	// The best is among them with the joint confidence.
	MayBeBest []string `json:"may_be_best"`
	// Regret bounds, with the joint confidence, by how much the best policy is better
	// than Policy, in units of a return.
	Regret float64 `json:"regret_at_most"`
}

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

// selectBest goes by lower limits; of equal ones the first counts. All intervals hold
// together, so that whatever follows from them holds with their joint confidence.
func selectBest(t *Targets, answers []PolicyAnswer) *Selection {
	s := &Selection{MayBeBest: []string{}}
	best := 0.0
	for _, a := range answers {
		if a.Kind == OfPolicy && (s.Policy == "" || a.Estimate.Interval[0] > best) {
			s.Policy, best = a.Name, a.Estimate.Interval[0]
		}
	}
	for _, a := range t.Levels {
		beaten := false
		for _, b := range t.Levels {
			beaten = beaten || b != a && difference(answers, b, a).low > 0
		}
		if !beaten {
			s.MayBeBest = append(s.MayBeBest, a)
		}
		if a != s.Policy {
			s.Regret = max(s.Regret, difference(answers, a, s.Policy).high)
		}
	}
	return s
}
