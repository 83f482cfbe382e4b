package report

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
)

// RuleLine is a line of a learned rule, with how deep it stands.
type RuleLine struct {
	Depth int
	Text  string
}

// Rule is the learned policy in words, a question or an action a line; nil of another release.
func Rule(r *evaluate.Release) []RuleLine {
	if r.Learned == nil {
		return nil
	}
	nodes, names := r.Learned.Policy.Nodes, namesIn(r.Public, "action_names")
	if nodes == nil {
		return scores(r.Learned, names)
	}
	if states := States(r.Public); states != nil && Tabular(r.Public) {
		return byState(r.Learned.Policy, states, names)
	}
	var out []RuleLine
	var write func(node, depth int, before string)
	write = func(node, depth int, before string) {
		if node < 0 || node >= len(nodes) || depth > len(nodes) {
			return
		}
		n := nodes[node]
		if n.Threshold == nil {
			out = append(out, RuleLine{depth, before + action(n.Probs, names)})
			return
		}
		if before != "" {
			out = append(out, RuleLine{depth, strings.TrimSuffix(before, " ")})
			depth++
		}
		at := parameter(*n.Threshold)
		write(n.Left, depth, fmt.Sprintf("if %s is at most %s: ", askedFor(n), at))
		write(n.Right, depth, fmt.Sprintf("if %s is above %s: ", askedFor(n), at))
	}
	write(0, 0, "")
	return out
}

// byState is the rule of states that have names: neighbours with the same action stand together.
func byState(f evaluate.PolicyFile, states, names []string) (out []RuleLine) {
	last := ""
	var together []string
	for i, state := range states {
		taken := inState(f.Nodes, float64(i), names)
		if i > 0 && taken != last {
			out, together = append(out, RuleLine{0, strings.Join(together, " or ") + ": " + last}), nil
		}
		together, last = append(together, state), taken
	}
	return append(out, RuleLine{0, strings.Join(together, " or ") + ": " + last})
}

// inState is what is done in a state, by the number of the decision where that matters.
func inState(nodes []policy.Node, state float64, names []string) string {
	at, before, first := 0, "", 0.0
	for nodes[at].Threshold != nil {
		switch n := nodes[at]; {
		case n.Step:
			last := math.Floor(*n.Threshold)
			before += fmt.Sprintf("%s up to step %v, ", action(nodes[n.Left].Probs, names), last)
			at, first = n.Right, last+1
		case state <= *n.Threshold:
			at = n.Left
		default:
			at = n.Right
		}
	}
	text := before + action(nodes[at].Probs, names)
	if first > 0 {
		text += fmt.Sprintf(" from step %v on", first)
	}
	return text
}

// askedFor is what a question is about.
func askedFor(n policy.Node) string {
	if n.Step {
		return "step"
	}
	return n.Input
}

func action(probs []float64, names []string) string {
	for a, p := range probs {
		if p == 1 {
			return named(a, names)
		}
	}
	return "no single action"
}

func named(action int, names []string) string {
	if action < len(names) {
		return names[action]
	}
	return fmt.Sprintf("action %d", action)
}

// AnswerName is the name of an answer of a release or a plan by its public facts, with the word
// of the action that a learned policy is compared with.
func AnswerName(public map[string]any, name string) string {
	first, second, _ := pair(name)
	var action int
	if _, err := fmt.Sscanf(second, "action %d", &action); err != nil || public["learned_from"] == nil || action < 0 {
		return name
	}
	return first + " - " + named(action, namesIn(public, "action_names"))
}

// AnswerInterval is what a plan forecasts of each of several answers: a joint interval, or one of that
// confidence alone, and whether it counts what is missing.
func AnswerInterval(public map[string]any) (interval string, counted bool) {
	interval = "joint"
	if public["learned_from"] != nil {
		interval = "90%"
	}
	return interval, public["outcome"] != nil
}

// Notes are the notes of a release, which name its answers as [AnswerName] does.
func Notes(r *evaluate.Release) []string {
	out := slices.Clone(r.Notes)
	for i, note := range out {
		if name, what, of := strings.Cut(note, ": "); of {
			out[i] = AnswerName(r.Public, name) + ": " + what
		}
	}
	return out
}

// scores is a linear rule in words: of two actions by how much the score of one is larger.
func scores(l *evaluate.Learned, names []string) (out []RuleLine) {
	f, within := l.Policy, func(int) string { return "" }
	if len(l.Deviations) == 1+len(f.Inputs) && len(f.Weights) == 2 {
		within = func(i int) string { return " (± " + significant(1.96*l.Deviations[i], 2, up) + ")" }
	}
	sum := func(of func(of []float64) float64, intercept float64) string {
		text := round(intercept) + within(0)
		for j, name := range f.Inputs {
			var column []float64
			for _, w := range f.Weights {
				column = append(column, w[j])
			}
			x, sign := of(column), "+"
			if x < 0 {
				sign = "−"
			}
			text += fmt.Sprintf(" %s %s%s %s", sign, round(math.Abs(x)), within(1+j), name)
		}
		return text
	}
	if len(f.Weights) == 2 {
		more := sum(func(of []float64) float64 { return of[1] - of[0] }, f.Intercept[1]-f.Intercept[0])
		return []RuleLine{{0, fmt.Sprintf("if %s is above 0: %s", more, named(1, names))}, {0, "if not: " + named(0, names)}}
	}
	out = append(out, RuleLine{0, "the action whose score is largest:"})
	for a := range f.Weights {
		out = append(out, RuleLine{1, named(a, names) + ": " + sum(func(of []float64) float64 { return of[a] }, f.Intercept[a])})
	}
	return out
}

// Certificates say what a learned policy is worth at least, each with 95% by itself, and how often it differs from
// what was done.
func Certificates(r *evaluate.Release) []string {
	if r.Learned == nil {
		return nil
	}
	unit, until := lives(r)
	say := func(x float64, over string) string {
		if until != "" {
			if x <= 0 {
				return fmt.Sprintf("The time is not shown to be longer than under %s: the lower limit of the gain is %s%s.", over, significant(x, digits, down), unit)
			}
			return fmt.Sprintf("With 95%% confidence the mean time to the event, %s at most, is at least %s%s longer under the learned policy than under %s.", until, significant(x, digits, down), unit, over)
		}
		text := fmt.Sprintf("With 95%% confidence the learned policy is worth at least %s more than %s.", significant(x, digits, down), over)
		if x <= 0 {
			text = fmt.Sprintf("The learned policy is not shown to be worth more than %s: the lower limit of the gain is %s.", over, significant(x, digits, down))
		}
		return text
	}
	actions := len(r.Learned.Policy.Weights)
	for _, n := range r.Learned.Policy.Nodes {
		actions = max(actions, len(n.Probs))
	}
	out := []string{
		say(r.Learned.OverConstant, fmt.Sprintf("the best of the %d constant actions, whichever that is", actions)),
		say(r.Learned.OverLogged, "the policy that made the data"),
	}
	if d := r.Learned.Differs; d != nil {
		out = append(out, fmt.Sprintf("It differs from what was done in %.0f%% of decisions (90%% interval %g%% to %g%%).", 100*d.Value, math.Floor(100*d.Interval[0]), math.Ceil(100*d.Interval[1])))
	}
	return out
}

// lives are the unit of the times that a policy was learned by, after a space, and the time to which their mean is
// restricted; empty of other rewards.
func lives(r *evaluate.Release) (unit, until string) {
	end, ok := r.Public["until"].(float64)
	if r.Learned == nil || !ok {
		return "", ""
	}
	switch o := r.Public["outcome"].(type) {
	case map[string]any:
		unit, _ = o["unit"].(string)
	case evaluate.Outcome: // of a release that was not read from JSON
		unit = o.Unit
	}
	if unit != "" {
		unit = " " + unit
	}
	return unit, parameter(end) + unit
}

// checkLearned refuses a rule that cannot be shown.
func checkLearned(l *evaluate.Learned) error {
	if l == nil {
		return nil
	}
	if f := l.Policy; f.Kind == "soft-greedy" {
		if len(f.Weights) < 2 || len(f.Intercept) != len(f.Weights) || f.Nodes != nil || slices.ContainsFunc(f.Weights, func(w []float64) bool { return len(w) != len(f.Inputs) || finite("", w...) != nil }) {
			return fmt.Errorf("%w: learned.policy: want nodes or, for every action, an intercept and a weight for each input", ErrRelease)
		}
		return finite("learned", slices.Concat([]float64{l.OverLogged, l.OverConstant}, f.Intercept, l.Deviations)...)
	}
	if len(l.Policy.Nodes) == 0 {
		return fmt.Errorf("%w: learned.policy.nodes: there are none", ErrRelease)
	}
	for i, n := range l.Policy.Nodes {
		if n.Threshold != nil && (n.Left <= i || n.Right <= i || n.Left >= len(l.Policy.Nodes) || n.Right >= len(l.Policy.Nodes)) {
			return fmt.Errorf("%w: learned.policy.nodes[%d]: its sides are not nodes after it", ErrRelease, i)
		}
	}
	return finite("learned", l.OverLogged, l.OverConstant)
}
