package evaluate

import (
	"fmt"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/fqe"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// modelStart is the part of a baseline's share that the mean over first states gets.
const modelStart = 0.15

// modelBaseline is the model of [DPFQE] as a baseline of [DPDR].
type modelBaseline struct{ direct }

// fix plans the model at the noise that its stages got: the one that [DPFQE] takes by
// itself, a table for numbered states and a linear one for other features.
func (m *modelBaseline) fix(method string, p Public, n scalar.Stages) error {
	named := method + " with baseline model"
	m.start = fqe.Start{Public: p.numbers(), Multiplier: n.Start}
	if (DPFQE{}).isLinear(p) {
		err := DPFQE{}.checkAsked(named, p)
		if err == nil {
			m.linear, err = DPFQE{}.linearFor(named, p, n.Baseline)
		}
		return err
	}
	f, err := DPFQE{}.check(named, p)
	if err != nil {
		return err
	}
	if m.table, err = (DPFQE{}).tableFor(method, p, f, n.Baseline); err != nil {
		return err
	}
	if m.table.Form == fqe.ByAction {
		if m.target, err = fqe.Target(p.Target, f); err != nil {
			return fmt.Errorf("%w: %s: baseline model: %w; give the policy as uniform, constant or table over the column of the states, or use another baseline", ErrMethod, method, err)
		}
	}
	return nil
}

// check holds data against what the model needs of them.
func (m *modelBaseline) check(p Public, d *trajectory.Dataset) error { return m.fits(p, d) }

// payer makes the model's releases: the table or the moments, and the mean over first states.
func (m *modelBaseline) payer() func(s *value.Sample, src *noise.Source) (*scalar.Guess, error) {
	return func(s *value.Sample, src *noise.Source) (*scalar.Guess, error) {
		start, err := m.atStart(s, src)
		if err != nil {
			return nil, err
		}
		return &scalar.Guess{Overall: start.Value}, nil
	}
}

// atStart is the model's value at the start.
func (m *modelBaseline) atStart(s *value.Sample, src *noise.Source) (fqe.Mean, error) {
	if m.linear != nil {
		_, _, start, err := m.saysLinear(s, src)
		return start, err
	}
	_, _, start, err := m.says(s, src)
	return start, err
}

// describe tells the plan.
func (m *modelBaseline) describe(plan *Plan) {
	if m.linear != nil {
		m.linearFacts(plan)
		return
	}
	plan.Facts["form"] = m.table.Form
	plan.Facts["coordinates"] = m.table.Coordinates()
	plan.Facts["model_norm"] = m.table.Most()
}
