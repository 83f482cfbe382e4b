package rule

// A draw is of a tree of one or two levels below a node, or of a state's action, among all there
// are. Where a row is under an action is its place in tallies; what a candidate's rows add up to, of
// integers, is its total.

// stumps is the number of trees of one level: every action for all, and every question with two
// different actions.
func (g Grid) stumps() int { return g.Actions + g.asks()*g.Actions*(g.Actions-1) }

// asks is the number of questions.
func (g Grid) asks() int { return g.Covariates() * (g.Bins - 1) }

// Candidates is how many trees of 0 (an action), 1 or 2 levels there are.
func (g Grid) Candidates(levels int) int {
	switch levels {
	case 0:
		return g.Actions
	case 1:
		return g.stumps()
	}
	return g.asks() * g.stumps() * g.stumps()
}

// Tallies is the number of places below a node.
func (g Grid) Tallies(levels int) int {
	n := g.Actions
	for range levels {
		n *= g.Covariates() * g.Bins
	}
	return n
}

// Tally calls add with the places of a row of bins under an action: one for each covariate, or for
// each two.
func (g Grid) Tally(levels int, bins []int, action int, add func(at int)) {
	switch levels {
	case 0:
		add(action)
	case 1:
		for j, bin := range bins {
			add(g.Cell(0, j, bin, action))
		}
	default:
		for i, first := range bins {
			for j, bin := range bins {
				add(g.Cell(i*g.Bins+first, j, bin, action))
			}
		}
	}
}

// Totals are those of all candidates, by what rows that would be treated as each action add to
// tallies.
func (g Grid) Totals(levels int, tallies []int64) []int64 {
	switch levels {
	case 0:
		return tallies
	case 1:
		return g.stumpTotals(tallies)
	}
	width := g.Tallies(1)
	out := make([]int64, 0, g.Candidates(2))
	for j := range g.Covariates() {
		left, right := make([]int64, width), make([]int64, width)
		for bin := range g.Bins {
			addTo(right, tallies[(j*g.Bins+bin)*width:][:width], 1)
		}
		for bin := range g.Bins - 1 {
			at := tallies[(j*g.Bins+bin)*width:][:width]
			addTo(left, at, 1)
			addTo(right, at, -1)
			r := g.stumpTotals(right)
			for _, l := range g.stumpTotals(left) {
				for _, v := range r {
					out = append(out, l+v)
				}
			}
		}
	}
	return out
}

func addTo(dst, x []int64, sign int64) {
	for i, v := range x {
		dst[i] += sign * v
	}
}

// stumpTotals are those of trees of one level, as stump numbers them.
func (g Grid) stumpTotals(tallies []int64) []int64 {
	out := make([]int64, g.Actions, g.stumps())
	for bin := range g.Bins {
		addTo(out, tallies[bin*g.Actions:][:g.Actions], 1)
	}
	whole := out[:g.Actions:g.Actions]
	left := make([]int64, g.Actions)
	for j := range g.Covariates() {
		clear(left)
		for bin := range g.Bins - 1 {
			addTo(left, tallies[g.Cell(0, j, bin, 0):][:g.Actions], 1)
			for l := range g.Actions {
				for r := range g.Actions {
					if l != r {
						out = append(out, left[l]+whole[r]-left[r])
					}
				}
			}
		}
	}
	return out
}

// stump is a tree of one level by its number.
func (g Grid) stump(number int) (s Split, actions [2]int) {
	if number < g.Actions {
		return Split{}, [2]int{number, number}
	}
	pairs := g.Actions * (g.Actions - 1)
	question, pair := (number-g.Actions)/pairs, (number-g.Actions)%pairs
	actions = [2]int{pair / (g.Actions - 1), pair % (g.Actions - 1)}
	if actions[1] >= actions[0] {
		actions[1]++
	}
	return Split{question / (g.Bins - 1), question%(g.Bins-1) + 1}, actions
}

// Draw adds so many levels to a tree: below each of its nodes the candidate of that number. Where an
// action must not be taken the first of the others is.
func (g Grid) Draw(t *Tree, levels int, numbers []int) {
	t.Leaves, t.sums, t.drawn = nil, nil, true
	var upper, lower []Split
	add := func(number int) {
		s, actions := g.stump(number)
		lower, t.Leaves = append(lower, s), append(t.Leaves, actions[:]...)
	}
	for _, n := range numbers {
		if levels == 1 {
			add(n)
			continue
		}
		question, below := n/(g.stumps()*g.stumps()), n%(g.stumps()*g.stumps())
		upper = append(upper, Split{question / (g.Bins - 1), question%(g.Bins-1) + 1})
		add(below / g.stumps())
		add(below % g.stumps())
	}
	if levels == 2 {
		t.Splits = append(t.Splits, upper)
	}
	t.Splits = append(t.Splits, lower)
	for range t.Leaves {
		t.sums = append(t.sums, make([]float64, g.Actions))
	}
}

// Instead is the action that is taken where one is wanted and some, a bit each, must not be.
func (g Grid) Instead(wanted int, banned uint8) int {
	if banned>>wanted&1 == 0 {
		return wanted
	}
	return best(make([]float64, g.Actions), banned)
}
