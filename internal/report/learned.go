package report

import (
	"fmt"
	"strings"

	"github.com/discreet-rl/discreet/evaluate"
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
		write(n.Left, depth, fmt.Sprintf("if %s is at most %s: ", n.Input, at))
		write(n.Right, depth, fmt.Sprintf("if %s is above %s: ", n.Input, at))
	}
	write(0, 0, "")
	return out
}

func action(probs []float64, names []string) string {
	for a, p := range probs {
		if p == 1 {
			if a < len(names) {
				return names[a]
			}
			return fmt.Sprintf("action %d", a)
		}
	}
	return "no single action"
}

// Certificates say what a learned policy is worth at least, each with 95% by itself.
func Certificates(r *evaluate.Release) []string {
	if r.Learned == nil {
		return nil
	}
	say := func(x float64, over string) string {
		text := fmt.Sprintf("With 95%% confidence the learned policy is worth at least %s more than %s.", significant(x, digits, down), over)
		if x <= 0 {
			text = fmt.Sprintf("It is not shown to be worth more than %s: the lower limit of the gain is %s.", over, significant(x, digits, down))
		}
		return text
	}
	actions := 0
	for _, n := range r.Learned.Policy.Nodes {
		actions = max(actions, len(n.Probs))
	}
	return []string{
		say(r.Learned.OverConstant, fmt.Sprintf("the best of the %d constant actions, whichever that is", actions)),
		say(r.Learned.OverLogged, "the policy that made the data"),
	}
}

// checkLearned refuses a rule that cannot be shown.
func checkLearned(l *evaluate.Learned) error {
	if l == nil {
		return nil
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
