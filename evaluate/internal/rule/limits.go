package rule

// Limits are what a rule may do. The first action is the one that is no treatment.
type Limits struct {
	// Order is, for each covariate, 1 where the action's number must not fall as it rises, -1
	// where it must not rise, and else 0; nil stands for zeros.
	Order []int
	// Treated is the largest share of persons who may get another action than the first; 0
	// stands for any.
	Treated float64
	// Never are the actions that must not be taken somewhere.
	Never []Prohibition
}

// Prohibition is of an action where a covariate is above one number and at most another.
type Prohibition struct {
	Action, Covariate int
	Above, AtMost     float64
}

// Holds tells whether it holds at a value of its covariate.
func (p Prohibition) Holds(x float64) bool { return x > p.Above && x <= p.AtMost }

// Banned are the actions, a bit each, that must not be taken at a point.
func (l Limits) Banned(x []float64) (bits uint8) {
	for _, p := range l.Never {
		if p.Holds(x[p.Covariate]) {
			bits |= 1 << p.Action
		}
	}
	return bits
}

// order is that of a covariate.
func (l Limits) order(covariate int) int {
	if l.Order == nil {
		return 0
	}
	return l.Order[covariate]
}

// Open tells whether some action may be taken everywhere.
func (g Grid) Open() bool {
	return !g.shut(0, everywhere(g.Covariates()))
}

// shut tells whether somewhere in a box all actions from one on are forbidden.
func (g Grid) shut(action int, in ranges) bool {
	if action == g.Actions {
		return true
	}
	for _, p := range g.Never {
		to := in.above(p.Covariate, p.Above).upTo(p.Covariate, p.AtMost)
		if r := to[p.Covariate]; p.Action == action && r[0] < r[1] && g.shut(action+1, to) {
			return true
		}
	}
	return false
}
