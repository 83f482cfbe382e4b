package evaluate

import (
	"fmt"
	"maps"
	"math"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/fqe"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// paidBaseline is a baseline with its share of the budget.
type paidBaseline struct {
	scalar.Baseline
	share float64
	model *modelBaseline // of kind model; nil of others
}

// stages are its shares of the budget.
func (b *paidBaseline) stages(s *scalar.Stages) {
	s.Baseline = b.share
	if b.model != nil {
		s.Start = modelStart * b.share
		s.Baseline -= s.Start
	}
}

// summary repeats the baseline; nothing where there is none.
func (b *paidBaseline) summary() summary {
	if b == nil {
		return summary{}
	}
	s := summary{facts: map[string]any{"baseline": b.Kind, "baseline_share": b.share}}
	if b.Guess != nil {
		s.facts["baseline_values"] = baselineFacts(b.Guess)
	}
	if b.model != nil {
		maps.Copy(s.facts, b.model.model.facts())
	}
	return s
}

// check holds data against what the baseline needs of them.
func (b *paidBaseline) check(p Public, d *trajectory.Dataset) error {
	if b.ByState() {
		if err := feature.Check(p.Features, d); err != nil {
			return err
		}
	}
	if b.ByAction() && d.Rows() != d.Episodes() {
		return errByAction
	}
	if b.model != nil {
		return b.model.check(p, d)
	}
	return nil
}

// coordinates are those of the largest sum of the baseline.
func (b *paidBaseline) coordinates(p Public) int {
	if b.model != nil {
		return max(b.model.model.Coordinates(), 6)
	}
	return 2 * max(b.States, p.Target.Actions(), 3)
}

var errByAction = fmt.Errorf("%w: dp-dr: a baseline by action needs episodes of one row", ErrData)

// baseline fixes the baseline and its share of the budget.
func (m DPDR) baseline(method string, p Public) (scalar.Baseline, float64, error) {
	b, share := scalar.Baseline{Public: p.numbers(), Kind: m.Baseline}, m.BaselineShare
	if f, ok := p.Features.(feature.Finite); ok {
		b.States = f.States()
	}
	var err error
	if b.Guess, err = m.publicGuess(method, p, b.States); err != nil {
		return b, 0, err
	}
	if b.Kind == "" || b.Kind == "auto" {
		b.Kind = chooseBaseline(b, p)
	}
	if err := checkBaseline(b, method, p); err != nil {
		return b, 0, err
	}
	paid := b.Kind != "public" && b.Kind != "none"
	switch {
	case !paid && share != 0:
		return b, 0, fmt.Errorf("%w: %s: baseline_share is %v, but the baseline is %s and costs nothing", ErrMethod, method, share, b.Kind)
	case paid && share == 0:
		if share = defaultTableShare; b.Kind == scalar.BaselineValue {
			share = defaultValueShare
		}
	case b.Kind == "none":
		b.Guess = &scalar.Guess{Overall: p.Returns().Mid()}
	}
	return b, share, nil
}

// chooseBaseline is the rule of baseline auto.
func chooseBaseline(b scalar.Baseline, p Public) string {
	switch {
	case b.Guess != nil:
		return "public"
	case policy.OnPolicy(p.Target):
		return "none"
	}
	return "value"
}

// checkBaseline refuses a baseline that the public facts do not allow.
func checkBaseline(d scalar.Baseline, method string, p Public) error {
	public := d.Guess != nil
	switch d.Kind {
	case "none", "value":
	case "public":
		if !public {
			return fmt.Errorf("%w: %s: baseline is public; give constant, action_values or state_values", ErrMethod, method)
		}
	case "action":
		if p.Target.Actions() == 0 {
			return fmt.Errorf("%w: %s: a baseline by action needs the target policy's probability of every action; give the policy as uniform, constant, table or softmax, or use baseline: value", ErrMethod, method)
		}
	case "state":
		if d.States == 0 {
			return fmt.Errorf("%w: %s: a baseline by state needs features over numbered states; give features of kind tabular or aggregate, or use baseline: value", ErrMethod, method)
		}
		if err := listable(method, d.States, mostListed); err != nil {
			return err
		}
	case scalar.BaselineModel:
		if policy.OnPolicy(p.Target) {
			return fmt.Errorf("%w: %s: on-policy every baseline cancels, and a model would be paid for in vain; leave baseline out, or use dp-fqe", ErrMethod, method)
		}
	default:
		return fmt.Errorf("%w: %s: baseline is %q; want auto, public, none, value, action, state or model", ErrMethod, method, d.Kind)
	}
	if public && d.Kind != "public" {
		return fmt.Errorf("%w: %s: baseline is %s, but constant, action_values or state_values is given; leave one of them out", ErrMethod, method, d.Kind)
	}
	return nil
}

// publicGuess reads a public baseline; nil when there is none.
func (m DPDR) publicGuess(method string, p Public, states int) (*scalar.Guess, error) {
	var given []float64
	g := &scalar.Guess{Action: m.ActionValues, State: m.StateValues}
	given = append(append(given, m.ActionValues...), m.StateValues...)
	kinds := 0
	for _, there := range []bool{m.Constant != nil, len(m.ActionValues) > 0, len(m.StateValues) > 0} {
		if there {
			kinds++
		}
	}
	if m.Constant != nil {
		given = append(given, *m.Constant)
	}
	if kinds == 0 {
		return nil, nil
	}
	for _, v := range given {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%w: %s: a public baseline holds %v; want finite numbers", ErrMethod, method, v)
		}
		g.Overall += v / float64(len(given))
	}
	switch {
	case kinds > 1:
		return nil, fmt.Errorf("%w: %s: give one of constant, action_values and state_values", ErrMethod, method)
	case g.State != nil && len(g.State) != states:
		return nil, fmt.Errorf("%w: %s: %d state_values for %d states; give features over numbered states and one number for each", ErrMethod, method, len(g.State), states)
	case g.Action != nil && len(g.Action) != p.Target.Actions():
		return nil, fmt.Errorf("%w: %s: %d action_values; the target policy knows of %d actions", ErrMethod, method, len(g.Action), p.Target.Actions())
	}
	g.Overall = min(max(g.Overall, p.Returns().Min), p.Returns().Max)
	return g, nil
}

// modelStart is the part of a baseline's share that the mean over first states gets.
const modelStart = 0.15

// modelBaseline is the model of [DPFQE] as a baseline of [DPDR].
type modelBaseline struct {
	model model
	start fqe.Start
}

// fix plans the model at the noise that its stages got: the one that [DPFQE] takes by
// itself, a table for numbered states and a linear one for other features.
func (m *modelBaseline) fix(method string, p Public, n scalar.Stages) error {
	named := method + " with baseline model"
	m.start = fqe.Start{Public: p.numbers(), Multiplier: n.Start}
	f, err := DPFQE{}.check(named, p)
	if err == nil {
		m.model, err = DPFQE{}.modelFor(named, p, f, n.Baseline, method+": baseline model", "another baseline")
	}
	return err
}

// check holds data against what the model needs of them.
func (m *modelBaseline) check(p Public, d *trajectory.Dataset) error { return fits(m.model, p, d) }

// pay makes the model's releases: the table or the moments, and the mean over first states.
func (m *modelBaseline) pay(s value.Persons, src *noise.Source) (*scalar.Guess, error) {
	said, _, err := m.model.say(s, m.start, src)
	return &scalar.Guess{Overall: said.Value}, err
}
