package overview

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Spread describes a set of numbers; all zero where there are none.
type Spread struct {
	Min    float64 `json:"min"`
	Median float64 `json:"median"`
	Mean   float64 `json:"mean"`
	Max    float64 `json:"max"`
	// Bins counts the numbers in equal parts of the range from Min to Max: one for
	// each integer where there are few, else 24.
	Bins []int `json:"bins,omitempty"`
}

// Report is what a curator should know of data before an evaluation.
type Report struct {
	Persons  int `json:"persons"`
	Episodes int `json:"episodes"`
	Rows     int `json:"rows"`
	// EpisodesPerPerson and Lengths, in decisions an episode, describe the shape of
	// the data.
	EpisodesPerPerson Spread `json:"episodes_per_person"`
	Lengths           Spread `json:"lengths"`
	// CutOff counts the episodes that end neither by the problem's own rule nor with its
	// last decision.
	CutOff int `json:"cut_off"`
	// Rewards and Returns, which are discounted, stand beside their public bounds.
	Rewards Bounded `json:"rewards"`
	Returns Bounded `json:"returns"`
	// Actions counts the decisions for each action, nil where no action was read.
	Actions []int `json:"actions,omitempty"`
	// Words are those of Actions, nil where actions are known by number alone.
	Words []string `json:"action_words,omitempty"`
	// Steps describes the first decisions of the episodes, nil where no action was
	// read.
	Steps []Step `json:"steps,omitempty"`
	// Propensity describes the behaviour probabilities, nil on-policy.
	Propensity *Propensity `json:"propensity,omitempty"`
	// Weights describes the overlap with the target policy, nil on-policy.
	Weights *Weights `json:"weights,omitempty"`
	// Outcome counts outcomes by arm, nil where a value is asked for.
	Outcome *Outcome `json:"outcome,omitempty"`
	// Warnings say what makes the evaluation doubtful, in words.
	Warnings []string `json:"warnings,omitempty"`
}

// Bounded is a spread beside the public range that should hold it.
type Bounded struct {
	Spread
	// Range is nil where none was given.
	Range *evaluate.Range `json:"range,omitempty"`
	// Outside counts the numbers beyond the range.
	Outside int `json:"outside"`
}

// Step counts the actions taken at one decision of the episodes.
type Step struct {
	// Step is the number of the decision, from 0.
	Step int `json:"step"`
	// Episodes reach it.
	Episodes int `json:"episodes"`
	// Actions counts them by action.
	Actions []int `json:"actions"`
}

// Propensity describes the behaviour probabilities of the logged actions.
type Propensity struct {
	Spread
	// Constant tells that all of them are equal.
	Constant bool `json:"constant"`
}

// Weights describes the importance weights of whole episodes.
type Weights struct {
	Spread
	// StdErr is the standard error of the mean, by episode.
	StdErr float64 `json:"std_err"`
	// EffectiveSize is the effective sample size, in episodes.
	EffectiveSize float64 `json:"effective_size"`
	// Zero counts the episodes of weight 0: the target policy would not have acted so.
	Zero int `json:"zero"`
	// Cap is the public cap on a weight, 0 for none; BeyondShare is the share of
	// the episodes above it and BeyondMass their share of the sum of weights that
	// the cap cuts off.
	Cap         float64 `json:"cap,omitempty"`
	BeyondShare float64 `json:"beyond_share"`
	BeyondMass  float64 `json:"beyond_mass"`
	// Uniform tells that they are those of uniform actions, where the policy is not learned yet.
	Uniform bool `json:"uniform,omitempty"`
}

// Facts are the public facts that the data are held against.
type Facts struct {
	// Persons is the stated number, 0 for none; Lower tells that it is a lower bound.
	Persons int64
	Lower   bool
	// Gamma discounts returns.
	Gamma float64
	// Horizon is the number of decisions of an episode that counts whole, 0 if not known.
	Horizon int64
	// Reward and Return are the public ranges, nil for none.
	Reward, Return *evaluate.Range
	// OneReward tells that all rewards of an episode but its last are 0.
	OneReward bool
	// Listed are all returns that there are said to be, increasing; nil where nothing says so.
	Listed []float64
	// Target is the policy to evaluate, the first of several that is not the logged one, and Others
	// are those after it; of these only weights are told, in warnings.
	Target policy.Policy
	Others []evaluate.NamedPolicy
	// Learned tells that the policy is to be learned; Target then has uniform actions.
	Learned bool
	// Cap is the public cap on an importance weight, 0 for none.
	Cap float64
	// Words are the public words of the actions by number, nil for none. An action
	// that has one is counted although it was never taken.
	Words map[int]string
	// Estimated says how behaviour probabilities are estimated, nil where they are known.
	Estimated *evaluate.EstimatedBehavior
	// Outcome are the facts where they ask for survival, nil where they ask for a value.
	Outcome *evaluate.Public
	// Features are those that a regression of them uses, nil for none.
	Features feature.Map
	// Report tells that a report is asked for, beside warnings.
	Report bool
}

// name is an action's number, and its word where it has one.
func (f Facts) name(action int) string {
	if word := f.Words[action]; word != "" {
		return fmt.Sprintf("%d %s", action, word)
	}
	return strconv.Itoa(action)
}

// Look describes a whole dataset as an evaluation would use it. It fails where the
// target policy needs a column that is not there.
func Look(d *trajectory.Dataset, f Facts) (*Report, error) {
	f.Report = true
	w, err := Watched(d, f)
	if err != nil {
		return nil, err
	}
	return w.Report()
}

// spread sorts x in place, and takes the sign from zeros.
func spread(x []float64) Spread {
	if len(x) == 0 {
		return Spread{}
	}
	slices.Sort(x)
	sum := 0.0
	for i := range x {
		x[i] += 0
		sum += x[i]
	}
	return Spread{Min: x[0], Median: (x[(len(x)-1)/2] + x[len(x)/2]) / 2, Mean: sum / float64(len(x)), Max: x[len(x)-1], Bins: bins(x)}
}

// mostBins bounds the bins of a spread.
const mostBins = 24

// bins counts sorted numbers in equal parts of their range.
func bins(x []float64) []int {
	low, high, n := x[0], x[len(x)-1], mostBins
	whole := !slices.ContainsFunc(x, func(v float64) bool { return v != math.Trunc(v) })
	if whole && high-low < mostBins {
		n = int(high-low) + 1
	} else if low == high {
		n = 1
	}
	counts := make([]int, n)
	for _, v := range x {
		i := 0
		switch {
		case n == 1:
		case n < mostBins && whole:
			i = int(v - low)
		default: // halves, because high - low may overflow
			i = min(int(float64(n)*((v/2-low/2)/(high/2-low/2))), n-1)
		}
		counts[i]++
	}
	return counts
}

// returns are the discounted returns of the episodes.
func returns(d *trajectory.Dataset, gamma float64) []float64 {
	out := make([]float64, d.Episodes())
	for e := range out {
		out[e] = returnOf(d, e, gamma)
	}
	return out
}

func returnOf(d *trajectory.Dataset, episode int, gamma float64) float64 {
	sum, factor, lo := 0.0, 1.0, d.EpisodeStart[episode]
	for i, r := range d.Reward[lo:d.EpisodeStart[episode+1]] {
		sum += factor * r
		if d.Discount != nil {
			factor *= d.Discount[lo+i]
		} else {
			factor *= gamma
		}
	}
	return sum
}

// Name is an action's number, and its word where it has one.
func (r *Report) Name(action int) string {
	if r.Words == nil || r.Words[action] == "" {
		return strconv.Itoa(action)
	}
	return fmt.Sprintf("%d %s", action, r.Words[action])
}
