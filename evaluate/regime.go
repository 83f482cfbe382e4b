package evaluate

import (
	"errors"
	"fmt"

	"github.com/discreet-rl/discreet/evaluate/internal/fqe"
	"github.com/discreet-rl/discreet/rl/policy"
)

// regime is how the probabilities of logged actions are known. Only [Public.regime] looks at the
// public facts that it follows from.
type regime int

const (
	recorded  regime = iota // the data hold them, and nothing public bounds the weights
	designed                // public policies bound the weights: [Public.Design]
	estimable               // they are paid for: [Public.Behavior]
)

func (p Public) regime() regime {
	switch {
	case p.Behavior != nil:
		return estimable
	case p.Design != nil:
		return designed
	}
	return recorded
}

// estimates tells whether probabilities of logged actions are to be estimated.
func (p Public) estimates() bool { return p.regime() == estimable }

// onPolicy tells whether the target is the policy that made the data.
func (p Public) onPolicy() bool { return policy.OnPolicy(p.Target) }

// private tells whether there is a guarantee; without one it is a reference.
func (p Public) private() bool { return p.Privacy != nil }

// guarantee is what is asked for; without a number of a reference.
func (p Public) guarantee() Privacy {
	if !p.private() {
		return Privacy{}
	}
	return *p.Privacy
}

// targets are the policies in question and what is asked of them: of a single one its value.
func (p Public) targets() *Targets {
	if p.Targets == nil {
		return &Targets{Policies: []NamedPolicy{{valueName, p.Target}}, Levels: []string{valueName}, alone: true}
	}
	return p.Targets
}

// estimands lists what is asked for.
func (p Public) estimands() (all []estimand) {
	for _, g := range p.groups().Of {
		all = append(all, estimand{name: g.Name, kind: OfGroup})
	}
	if all == nil {
		return p.targets().estimands()
	}
	return all
}

// groups are those that are asked about; none where the answer is of all persons.
func (p Public) groups() Groups {
	if p.By == nil {
		return Groups{}
	}
	return *p.By
}

// sampling says where the sampling error of what is released comes from.
func (p Public) sampling() SamplingSource {
	if p.private() {
		return Paid
	}
	return NotPrivate
}

// planned plans a method that decides from public facts which it can use.
func planned(method string, m Estimator, p Public, decide func(method string, p Public) (draft, error)) (*Plan, error) {
	p = p.asking(m)
	if err := p.suits(method); err != nil {
		return nil, err
	}
	if k, _ := MethodNamed(method); k.eachGroup() && p.groups().some() {
		decide = func(method string, p Public) (draft, error) { return p.grouped(method, m) }
	}
	d, err := decide(method, p)
	if err != nil {
		return nil, err
	}
	return newPlan(d)
}

// suits refuses a private method without a budget, a reference with one, and what the method cannot answer.
func (p Public) suits(method string) error {
	m, err := MethodNamed(method)
	switch reference := err == nil && !m.Private; {
	case !reference && !p.private():
		return fmt.Errorf("%w: %s is a private method; give privacy.epsilon, delta and adjacency, or choose a reference such as is, wis or lstd", ErrMethod, method)
	case reference && p.private():
		return fmt.Errorf("%w: %s has no privacy; say `privacy: none` to run it as a reference, or choose one of the dp- methods", ErrMethod, method)
	}
	if err == nil && m.NeedFeatures && !m.Learns && p.Target != nil && fqe.ReadsStep(p.Target) {
		return fmt.Errorf("%w: the target policy asks for the number of the decision (step), and %s has one value for a state at all of them; use dp-is, dp-pdis, dp-wis or dp-dr", ErrMethod, method)
	}
	if err := errors.Join(p.single(method), p.byRatio(method)); err != nil {
		return err
	}
	return p.Validate()
}
