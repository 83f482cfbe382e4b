package evaluate

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
)

// Choice says by which way the best policy is found, and what is publicly supposed for
// the forecast of both ways. No guarantee rests on what is supposed.
type Choice struct {
	By string `json:"by"`
	// Gap is by how much the best policy is supposed to be better than all others, in
	// units of a return; 0 means a tenth of the public range of a return.
	Gap float64 `json:"gap,omitempty"`
	// Value is about what the policies are supposed to be worth, in units of a return; nil
	// means the middle of the public range.
	Value *float64 `json:"value,omitempty"`
}

// The ways to find the best policy.
const (
	// byLimits takes the policy with the largest value, after values and intervals of all are
	// released; in releases that supposed more, that with the largest lower limit.
	byLimits = "limits"
	// byFlip draws it by permute-and-flip and releases nothing else.
	byFlip = "permute-and-flip"
	// byForecast takes the way that is more likely to name the best policy, as supposed.
	byForecast = "auto"
)

// Pick is a policy that was drawn, and no value of it.
type Pick struct {
	Policy string `json:"policy"`
}

// ChoiceForecast is what a plan knows of a choice beforehand: its public fact "choice".
// Gap, Value and probabilities are suppositions.
type ChoiceForecast struct {
	// By is the way that is taken.
	By    string  `json:"by"`
	Gap   float64 `json:"gap"`
	Value float64 `json:"value"`
	// Limits, where values and intervals are released, and Flip are the probabilities of naming the best
	// policy by each way, 0 where it cannot be taken.
	Limits float64 `json:"limits"`
	Flip   float64 `json:"permute_and_flip"`
	// MaxWeight caps a person's weight, Center is what returns are measured from, in units
	// of a return, and Spread, in shares of its range, clips the differences between one
	// person's scores: of permute-and-flip.
	MaxWeight float64 `json:"max_weight"`
	Center    float64 `json:"center"`
	Spread    float64 `json:"spread"`
}

// byFlip tells that the way is not that of limits alone.
func (t *Targets) byFlip() bool { return t.Choose != nil && t.Choose.By != byLimits }

func (t *Targets) validateChoice() error {
	c := t.Choose
	switch {
	case c == nil:
		return nil
	case !t.Best:
		return fmt.Errorf("%w: targets: a way to find the best policy is given, and the best is not asked for", ErrPublic)
	case c.By != byLimits && c.By != byFlip && c.By != byForecast:
		return fmt.Errorf("%w: targets: the best is found by %q; want limits, permute-and-flip or auto", ErrPublic, c.By)
	case !(c.Gap >= 0) || math.IsInf(c.Gap, 0):
		return fmt.Errorf("%w: targets: select.gap is %v; want by how much the best is supposed to be better than the others, a finite number above 0", ErrPublic, c.Gap)
	case c.By == byLimits && (c.Gap != 0 || c.Value != nil):
		return fmt.Errorf("%w: targets: select.gap and select.value are for the forecast of permute-and-flip, and the best is found by limits; leave them out", ErrPublic)
	case c.By != byLimits && len(t.estimands()) > len(t.Levels):
		return fmt.Errorf("%w: targets: permute-and-flip names a policy and releases no difference; leave contrasts out, or set select to best", ErrPublic)
	}
	return nil
}

// permuteAndFlip is a choice by permute-and-flip. Every person's scores follow from that person's
// records and public facts; mechanism.PermuteAndFlip clips them, sums integers and draws.
// docs/proofs/permuteflip.md.
type permuteAndFlip struct {
	public     Public
	of         vouched
	candidates []int     // places of the policies in question
	caps       []float64 // on weights, of every candidate
	center     float64   // in shares of the range
	spread     float64   // public bound on the differences of one person's scores
}

// choosing plans the choice of the best policy by permute-and-flip or, where that is left
// to the forecast, by limits.
func (m DPIS) choosing(method string, p Public, of vouched) (draft, error) {
	c := p.Targets.Choose
	switch {
	case m.Clip == clipAuto || m.ClipShare != 0:
		return draft{}, fmt.Errorf("%w: %s: permute-and-flip pays for no histogram of weights; leave clip and clip_share out, or set select to best", ErrMethod, method)
	case p.Privacy.Fast:
		return draft{}, fmt.Errorf("%w: %s: the coins of permute-and-flip are exact; set privacy.noise to exact", ErrMethod, method)
	}
	f, err := m.flip(method, p, of)
	if err != nil {
		return draft{}, err
	}
	told, values, err := m.forecast(method, f)
	if err != nil {
		return draft{}, err
	}
	if told.By = c.By; c.By == byForecast {
		if told.By = byFlip; told.Limits >= told.Flip {
			told.By = byLimits
		}
	}
	var d draft
	if told.By == byFlip {
		d = f.draft(method)
	} else if d, err = m.byLimits(method, p, of); err != nil {
		return d, err
	}
	d.summary = d.summary.and(summary{facts: map[string]any{"choice": told}, notes: []string{told.note(c, p.supposes)}})
	if n := values.together(); n > 0 { // which the forecast rests on
		d.summary.facts["values_together"] = n
		if values.answers[0].bounds.Laplace {
			d.summary.facts["values_noise"] = LaplaceNoise
		}
	}
	if !p.supposes {
		d.summary.facts["forecast"] = byWeights
	}
	return d, nil
}

// flip fixes caps, center and spread.
func (m DPIS) flip(method string, p Public, of vouched) (*permuteAndFlip, error) {
	most, err := weightCap(method, p, m.MaxWeight)
	if err != nil {
		return nil, err
	}
	if m.MaxWeight == 0 {
		// A cap c puts noise of scale s c/(m epsilon) on each of two mean scores, s being 2
		// where a person is replaced and else 1, and cuts at most E[w^2]/(4c) of the weight
		// (affordableWeight); at E[w^2] = 4 the sum of the two scales and the cut are equal for
		// c^2 = m epsilon/(2s).
		scale := float64(p.Persons) * p.Privacy.Budget.Epsilon / p.Privacy.Adjacency.SumSensitivity(1)
		most = max(1, min(defaultMaxWeight, math.Sqrt(scale/2)))
	}
	most = min(most, max(of.weights.largest, 1))
	f := &permuteAndFlip{public: p, of: of}
	// Where nothing is cut and nothing can be missing, the mean weight is 1 for all
	// policies, and returns may be measured from anywhere. Elsewhere what is missing counts
	// as the worst return.
	if m.needsGuard(p, of) == "" && lost(p) == "" && most >= of.weights.largest {
		f.center = f.relative(f.value())
	}
	for _, name := range p.Targets.Levels {
		k := p.Targets.place(name)
		f.candidates = append(f.candidates, k)
		f.caps = append(f.caps, (&quantity{estimand: estimand{of: []term{{k, 1}}}, own: of.ownOf(k)}).cap(p.Targets, most))
	}
	for i, a := range f.candidates {
		for j, b := range f.candidates {
			if i == j {
				continue
			}
			up, down := (1-f.center)*f.caps[i], f.center*f.caps[j]
			if disjoint(p.Targets.Policies[a].Policy, p.Targets.Policies[b].Policy) {
				f.spread = max(f.spread, up, down) // one of both scores is 0
			} else {
				f.spread = max(f.spread, up+down)
			}
		}
	}
	return f, nil
}

// value is about what policies are supposed to be worth.
func (f *permuteAndFlip) value() float64 {
	if v := f.public.Targets.Choose.Value; v != nil {
		return *v
	}
	return f.public.Returns().Mid()
}

// relative is a return as a fraction of the range.
func (f *permuteAndFlip) relative(v float64) float64 {
	return min(max((v-f.of.within.Min)/f.of.within.Width(), 0), 1)
}

// forecast supposes a gap and a value, and tells how likely either way names the best, and how values would be released, if
// they can be.
func (m DPIS) forecast(method string, f *permuteAndFlip) (_ *ChoiceForecast, values quantities, err error) {
	p, c := f.public, f.public.Targets.Choose
	returns := p.Returns()
	v := f.value()
	if !(v >= returns.Min && v <= returns.Max) {
		return nil, values, fmt.Errorf("%w: targets: select.value is %v, outside the public range of a return, [%v, %v]", ErrPublic, v, returns.Min, returns.Max)
	}
	told := &ChoiceForecast{Gap: cmp.Or(c.Gap, returns.Width()/10), Value: v, MaxWeight: slices.Max(f.caps), Spread: f.spread, Center: f.of.within.Min + f.center*f.of.within.Width()}
	supposed := scalar.Choosing{Candidates: len(f.candidates), Persons: p.Persons, Gap: told.Gap / f.of.within.Width(), Value: f.relative(v), Center: f.center,
		Square: min(told.MaxWeight, f.of.weights.square)}
	told.Flip = supposed.ByFlip(f.spread, p.Privacy.Budget.Epsilon, p.Privacy.Adjacency)
	if values, err = m.valuesFor(method, p, f.of); err != nil || values.answers == nil {
		return told, values, err
	}
	worst := 1.0
	for _, a := range values.answers {
		cap := a.bounds.Caps.At(0).Max
		if a.share > 0 {
			affordable, err := affordableWeight(values.public)
			if err != nil {
				return nil, values, err
			}
			cap = min(cap, affordable)
		}
		noise, err := a.bounds.ValueNoise(cap, supposed.Value)
		supposed.Square, supposed.Center = min(cap, f.of.weights.square), 0.5
		if f.of.selfNormalised {
			supposed.Center = supposed.Value
		}
		if p.supposes && !a.bounds.Bare() {
			supposed.Center = 0
		}
		if err == nil && p.supposes {
			noise, err = a.bounds.EndNoise(cap)
		}
		if err != nil {
			return nil, values, err
		}
		worst = min(worst, supposed.ByNormal(noise))
	}
	told.Limits = worst
	return told, values, nil
}

// valuesFor plans the values of all policies; it has no answers where delta is 0 and their noise would be Gaussian.
func (m DPIS) valuesFor(method string, p Public, of vouched) (quantities, error) {
	switch pure := p.Targets.pure || !p.replanned && p.Privacy.Budget.Delta == 0; {
	case pure && m.needsGuard(p, of) == "" && lost(p) == "":
		return m.valuesByLaplace(p, of)
	case pure || p.Privacy.Budget.Delta == 0:
		return quantities{}, nil
	case p.replanned:
		return m.answersFor(method, p, of)
	}
	return m.answersByNoise(method, p, of)
}

// note says what the forecast rests on.
func (c *ChoiceForecast) note(asked *Choice, byLimit bool) string {
	largest, all := "value", "values"
	if byLimit {
		largest, all = "lower limit", "lower limits"
	}
	limits := fmt.Sprintf("and with probability %.2f by the largest %s", c.Limits, largest)
	if c.Limits == 0 {
		limits = fmt.Sprintf("and %s cannot be used, since Gaussian noise needs delta above 0", all)
	}
	why := "The configuration fixes which of the two is used."
	if asked.By == byForecast {
		why = "The one with the larger probability is used."
	}
	return fmt.Sprintf("Forecast of the choice, from public assumptions and not from the data: if the best policy is better than all others by %.4g, the others are equal, all are worth about %.4g and nothing is missing, then the best is named with probability %.2f by permute-and-flip, %s. %s",
		c.Gap, c.Value, c.Flip, limits, why)
}

// noValue heads a release that names a policy alone.
const noValue = "This release names a policy and nothing else: it has no value, no interval, and no bound on how much better another policy may be. The policy is drawn at random, and a better score makes it more likely."

// draft is that of permute-and-flip.
func (f *permuteAndFlip) draft(method string) draft {
	p := f.public
	epsilon := p.Privacy.Budget.Epsilon
	m := f.of.byPerson(p.featureless(), len(p.Targets.Policies))
	m.run = func(xz []scalar.Numbers, _ *value.Samples) (draw, error) {
		return func(_ context.Context, src *noise.Source) (*Release, error) { return f.drawn(xz, src) }, nil
	}
	s := summary{facts: map[string]any{"max_weight": slices.Max(f.caps)}}
	if c := f.of.confounding; c > 1 {
		s.facts["confounding"] = c
	}
	s.heading = []string{noValue}
	missing := "Missing mass (weight that is clipped, or decisions that were never logged) counts with the worst return, as in a lower limit."
	if f.center > 0 {
		missing = "By the design nothing is clipped or missing. Returns are measured relative to the assumed value, which changes no difference between expected scores. This assumes that the design and its probabilities are right and that no record is lost, as the curator states (problem.records: complete)."
	}
	s.notes = []string{missing, "The choice is charged as a pure epsilon-differentially private mechanism; it does not use delta."}
	return draft{
		method: method, public: p, event: dp.PermuteAndFlip{Epsilon: epsilon}, prepare: m.preparation(), outcome: f.again, summary: s,
		lowers: true, needsEnds: f.of.needsEnds, onMeans: f.of.stepwise, uncut: slices.Max(f.caps) >= f.of.weights.largest,
	}
}

// drawn adds everybody's scores and draws.
func (f *permuteAndFlip) drawn(xz []scalar.Numbers, src *noise.Source) (*Release, error) {
	choice, err := mechanism.NewPermuteAndFlip(len(f.candidates), f.spread, f.public.Privacy.Budget.Epsilon, f.public.Privacy.Adjacency)
	if err != nil {
		return nil, err
	}
	scores := make([]float64, len(f.candidates))
	for part, persons := range xz[0] {
		for i := range persons {
			for j, k := range f.candidates {
				scores[j] = scalar.Score(xz[2*k][part][i], xz[2*k+1][part][i], f.caps[j], f.center)
			}
			if err := choice.Add(scores); err != nil {
				return nil, err
			}
		}
	}
	best, _, err := choice.Release(src)
	if err != nil {
		return nil, err
	}
	return picked(f.public.Targets.Levels[best]), nil
}

func picked(policy string) *Release {
	return &Release{Answers: []PolicyAnswer{{Name: bestName, Kind: OfPick, Pick: &Pick{policy}}}}
}

// again takes the policy over, if it was in question.
func (f *permuteAndFlip) again(r *Release) (*Release, error) {
	if len(r.Answers) != 1 || r.Answers[0].Pick == nil {
		return nil, fmt.Errorf("answers: want one, which names the policy that was drawn")
	}
	name := r.Answers[0].Pick.Policy
	if !slices.Contains(f.public.Targets.Levels, name) {
		return nil, fmt.Errorf("answers[0].pick.policy is %.60q, which was not in question", name)
	}
	return picked(name), nil
}
