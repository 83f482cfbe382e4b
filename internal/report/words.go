package report

import (
	"fmt"
	"math"
	"math/big"
	"strconv"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
)

func title(r *evaluate.Release) string {
	switch {
	case r.Survival != nil:
		return survivalTitle(r)
	case r.Learned != nil:
		return "A learned policy, and what it is worth"
	case r.Experiment != nil:
		return "How the arms of an experiment compare"
	case r.Distribution != nil:
		return "How returns are distributed"
	case One(r) != nil:
		return "What the policy is worth"
	case r.Answer != nil:
		return "Answer of a method by another author"
	case len(r.Answers) > 0 && r.Answers[0].Kind == evaluate.OfGroup:
		return "What the policy is worth, group by group"
	case Picked(r) != "":
		return "Which policy is best, without a value"
	case len(r.Answers) > 0:
		return "How policies compare"
	case len(r.Values) > 0 || len(r.Theta) > 0:
		return "What each state is worth under the policy"
	}
	return "A release without a number"
}

// methodWords says in a sentence what a method does; empty for a method that is
// not known here.
func methodWords(name string) string {
	m, err := evaluate.MethodNamed(name)
	if err != nil {
		return ""
	}
	return m.Summary
}

// samplingWords says where the sampling error comes from.
func samplingWords(s evaluate.SamplingSource) string {
	switch s {
	case evaluate.Paid:
		return "estimated from a noisy statistic whose privacy cost is included"
	case evaluate.PublicBound:
		return "an upper bound from the public range alone"
	case evaluate.NotPrivate:
		return "estimated from the data, without protection"
	case evaluate.NoSampling:
		return "none: the answer does not depend on data"
	}
	return string(s)
}

// warning stands at the top of the page.
type warning struct {
	Stop    bool // must not be published as it is; otherwise: with care
	Heading string
	Text    string
}

func warnings(r *evaluate.Release) []warning {
	var out []warning
	stop := func(heading, text string) { out = append(out, warning{true, heading, text}) }
	care := func(heading, text string) { out = append(out, warning{false, heading, text}) }
	s := r.Privacy
	if why := Refuted(r); why != "" {
		stop("The probabilities of the logged actions are wrong", why+" Correct data.behavior; a larger budget does not help.")
	} else if why := Unanswered(r); why != "" {
		help := "A larger ε, more persons, a shorter horizon, or data logged by a policy closer to the target would help."
		if r.Survival != nil {
			help = "A larger ε, more persons or fewer bins would help."
		}
		stop("This release cannot answer the question", why+" "+help)
	}
	if why := InPart(r); why != "" {
		care("The data answer only a part of the question", why)
	}
	if x := r.Experiment; x != nil && x.Mismatch {
		stop("The arms do not have the shares that were stated", "Something besides chance decided who is in which arm, or whose records are there: no number on this page can be trusted until it is found.")
	}
	if Picked(r) != "" {
		care("This release comes without a value", "It names a policy that was drawn at random, with better policies more likely. It does not say what any policy is worth, nor how much better another may be.")
	}
	if s == nil {
		stop("No privacy: a reference, not for release",
			"These numbers were computed without any protection. They may reveal the data of single persons.")
	} else {
		if s.Seeded {
			stop("Seeded noise: protects nobody",
				"The noise came from a seed, as in tests. Whoever knows or guesses the seed can subtract it. No guarantee on this page holds.")
		}
		if overBudget(s) {
			stop("The accounted ε is above the promised one",
				fmt.Sprintf("The release promises ε\u00a0=\u00a0%s, but its own accounting certifies only %s. The guarantee does not hold.",
					exact(s.Epsilon), significant(s.Accounted.Upper, 6, up)))
		}
		if !charged(r) {
			stop("Not charged to a ledger",
				"No ledger recorded what was spent. The costs of releases from the same data add up: before publishing, add this one to all the others by hand, or have somebody keep the sum.")
		}
		if s.Noise == "fast" {
			care("Fast noise", "The noise was drawn in floating-point numbers, whose gaps can reveal the noise. The guarantee holds for ideal noise; attacks on the last digits are not excluded.")
		}
	}
	return out
}

// overBudget reports that the certified epsilon exceeds the stated one.
func overBudget(s *evaluate.Statement) bool { return s.Accounted.Upper > s.Epsilon }

// promise is the guarantee in words.
type promise struct {
	Epsilon, Delta string
	Unit           string
	Units          string // more than one of it
	Adjacency      string
	Lower, Upper   string // accounted epsilon, rounded outward
	Accountant     string
	Noise          string
	Charged        bool
	Void           string // why the guarantee does not hold; empty if it may
	Meaning        []string
}

func newPromise(s *evaluate.Statement, public map[string]any) *promise {
	p := &promise{
		Epsilon:    exact(s.Epsilon),
		Delta:      exact(s.Delta),
		Unit:       string(s.Unit),
		Units:      unit(s) + "s",
		Adjacency:  s.Adjacency.String(),
		Lower:      significant(s.Accounted.Lower, 6, down),
		Upper:      significant(s.Accounted.Upper, 6, up),
		Accountant: s.Accountant,
		Noise:      s.Noise,
	}
	switch {
	case s.Seeded:
		p.Void = "This guarantee is void: the noise came from a seed."
	case overBudget(s):
		p.Void = "This guarantee is void: the accounted ε is above the promised one."
	}
	if p.Void == "" {
		p.Meaning = meaning(s, public)
	}
	return p
}

// meaning restates the guarantee for a reader without mathematics.
func meaning(s *evaluate.Statement, public map[string]any) []string {
	if s.Event == (dp.ApproximateDP{}) {
		return []string{fmt.Sprintf("The release does not depend on any %s’s record: it would have been the same, whatever that record says.", unit(s))}
	}
	out := []string{supposition(s, public) + " " + consequence(s), guess(s)}
	if s.Delta > 0 {
		out = append(out, failure(s, public))
	}
	return out
}

func supposition(s *evaluate.Statement, public map[string]any) string {
	if s.Adjacency == dp.AddRemoveOne {
		return fmt.Sprintf("If one %s had not been in the data, or one more had been in it, with all other records the same,", unit(s))
	}
	if fixedGroups(public) {
		return fmt.Sprintf("If one %s’s record had been different in any way except for the group of the %[1]s, with all other records the same,", unit(s))
	}
	return fmt.Sprintf("If one %s’s record had been different in any way, with all other records the same,", unit(s))
}

// fixedGroups tells that the guarantee hides nobody's group.
func fixedGroups(public map[string]any) bool {
	by, _ := public["by"].(map[string]any)
	return by["group"] == "fixed"
}

func consequence(s *evaluate.Statement) string {
	out := fmt.Sprintf("every outcome of this release, and every conclusion that anyone can draw from it by any means, would have been at most %s times as likely as it is (e to the power ε, with ε\u00a0=\u00a0%s)",
		factor(s.Epsilon), exact(s.Epsilon))
	if s.Delta > 0 {
		out += fmt.Sprintf(", plus a probability of %s (δ)", exact(s.Delta))
	}
	return out + ". The same bound holds in the other direction."
}

// guess states the bound on a test between two neighbours as a guess between
// equally likely ones.
func guess(s *evaluate.Statement) string {
	between := "considers two versions of this one equally likely"
	if s.Adjacency == dp.AddRemoveOne {
		between = fmt.Sprintf("considers it equally likely that this %s is in the data or not", unit(s))
	}
	right := 1 - (1-s.Delta)/(1+math.Exp(s.Epsilon))
	return fmt.Sprintf("In other words: somebody who knows all other records and %s guesses right half of the time without the release, and with probability at most %s with it.",
		between, percent(min(right*(1+slack), 1), up))
}

// failure explains delta by its worst case, an outcome that is impossible under
// the neighbour: its probability is at most delta for each person, so at most
// delta times the number of persons are expected to meet one.
func failure(s *evaluate.Statement, public map[string]any) string {
	out := fmt.Sprintf("In the worst case, δ is the probability that a given %s’s record is revealed completely", unit(s))
	persons, ok := count(public)
	n, isNumber := number(persons)
	ok = ok && isNumber
	if !ok || n <= 0 || s.Adjacency != dp.ReplaceOne {
		return out + "; it should be far below one in the number of persons."
	}
	return out + fmt.Sprintf("; over all %s persons, at most %s such cases are expected.",
		newFact(persons).Text, significant(product(s.Delta, n), digits, up))
}

// product multiplies the decimal forms of two numbers, as a reader of the page
// would, so that 10⁻⁵ times 2000 is 0.02 and rounds up to itself.
func product(x, y float64) float64 {
	a, okA := new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, 64))
	b, okB := new(big.Rat).SetString(strconv.FormatFloat(y, 'g', -1, 64))
	if !okA || !okB {
		return x * y
	}
	f, _ := a.Mul(a, b).Float64()
	return f
}

// slack covers the rounding of the few operations behind a bound on the page.
const slack = 1e-12

// count is the public number of persons, or of whatever the unit is.
func count(public map[string]any) (any, bool) {
	for _, name := range []string{"persons", "units"} {
		if n, ok := public[name]; ok {
			return n, true
		}
	}
	return nil, false
}

func unit(s *evaluate.Statement) string {
	if s.Unit == "" {
		return "person"
	}
	return string(s.Unit)
}

// factor is e^epsilon rounded up, or its form where it is out of range.
func factor(epsilon float64) string {
	f := math.Exp(epsilon)
	if math.IsInf(f, 0) {
		return "e^" + exact(epsilon)
	}
	return significant(f*(1+slack), digits, up)
}
