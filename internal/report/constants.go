package report

import "github.com/discreet-rl/discreet/evaluate"

// Constants are the errors at worst of a constant that is fixed without data: the middle
// of the public range for the value of a policy, and 0 for a difference, whose range is
// twice as wide. They are 0 where the release answers nothing of the kind, or tells none.
func Constants(r *evaluate.Release) (value, difference float64) {
	kinds := make([]evaluate.AnswerKind, len(r.Answers))
	for i, a := range r.Answers {
		kinds[i] = a.Kind
	}
	return ConstantsOf(r.Expected, kinds...)
}

// ConstantsOf is [Constants] of what is expected of answers of some kinds; of none, it is
// that of a single value.
func ConstantsOf(x evaluate.Expected, kinds ...evaluate.AnswerKind) (value, difference float64) {
	values := len(kinds) == 0
	for _, k := range kinds {
		switch k {
		case evaluate.OfContrast:
			difference = x.Constant
		case evaluate.OfPolicy, evaluate.OfGroup:
			values = true
		}
	}
	switch {
	case !values:
		return 0, difference
	case difference > 0:
		return difference / 2, difference
	}
	return x.Constant, 0
}
