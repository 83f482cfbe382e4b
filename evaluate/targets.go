package evaluate

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/discreet-rl/discreet/rl/policy"
)

// Targets asks for several policies in one release: the values of some of them, and
// differences between two. All intervals hold together with 95%.
type Targets struct {
	Policies []NamedPolicy
	// Levels are the names of the policies whose own value is an answer.
	Levels []string
	// Contrasts are pairs of names: the value of the first less that of the second.
	Contrasts [][2]string
	// Best asks which policy of Levels is best, as far as the intervals tell. It costs
	// nothing more, and needs two of them or more.
	Best bool
	// Choose says by which way; nil for that of limits. By permute-and-flip the policies of
	// Levels are in question, and no value of them is an answer.
	Choose *Choice
	// Drawn is the policy by which actions were drawn, where it is public, and nil elsewhere: it
	// stands for the logged one in differences.
	Drawn policy.Policy

	// bounds are what the policies of each contrast say of each other, where that is stated and
	// does not follow from Policies: a plan that is made again from a release does not have them,
	// and one that learns a policy not yet.
	bounds []*policy.DifferenceBound
	stated bool
	// alone tells that a single policy is in question, which has no name.
	alone bool
	// unanchored is that of releases whose contrasts were measured from the middle, and separate that
	// of those whose every value was a release of its own.
	unanchored, separate bool
	// pure tells that the forecast of a release by permute-and-flip is of values with Laplace noise.
	pure bool
}

// NamedPolicy is one of several policies.
type NamedPolicy struct {
	Name   string
	Policy policy.Policy
}

// Limits on what one release may ask.
const (
	mostAnswers  = 100
	longestName  = 60
	bestName     = "best"
	contrastSign = " - "
)

// single refuses several targets where the method estimates one policy, and groups where
// it has one answer for all persons.
func (p Public) single(method string) error {
	grouped, several := methodsWith(func(m Method) bool { return m.groups && !m.NeedOutcome }), methodsWith(func(m Method) bool { return m.several })
	m, err := MethodNamed(method)
	switch {
	case p.groups().some() && (err != nil || !m.groups):
		return fmt.Errorf("%w: %s has one answer for all persons, and by asks for one of each group; use %s, or leave by out", ErrMethod, method, strings.Join(grouped, ", "))
	case !p.targets().alone && !slices.Contains(several, method):
		return fmt.Errorf("%w: %s estimates one policy, and targets asks for several; use %s, or a configuration with one target for each", ErrMethod, method, strings.Join(several, ", "))
	}
	return nil
}

// validate checks names and what is asked of them.
func (t *Targets) validate() error {
	if t.alone {
		return nil
	}
	for _, a := range t.Policies {
		switch {
		case a.Policy == nil:
			return fmt.Errorf("%w: targets: %q is no policy", ErrPublic, a.Name)
		case strings.Contains(" "+a.Name+" ", contrastSign):
			return fmt.Errorf("%w: targets: a name is %q, and a hyphen between spaces is the sign of a difference; write it without the spaces", ErrPublic, a.Name)
		}
	}
	if err := ownNames("targets", "policies", t.names()); err != nil {
		return err
	}
	if t.first() == nil {
		return fmt.Errorf("%w: targets: every policy is the logged one; name one to compare it with", ErrPublic)
	}
	named := slices.Clone(t.Levels)
	for _, c := range t.Contrasts {
		named = append(named, c[:]...)
	}
	for _, name := range named {
		if t.place(name) < 0 {
			return fmt.Errorf("%w: targets: no policy is named %q, which levels or contrasts ask for; the names are %s", ErrPublic, name, strings.Join(t.names(), ", "))
		}
	}
	asked := map[string]bool{bestName: t.Best}
	for _, a := range t.estimands() {
		switch {
		case asked[a.name]:
			return fmt.Errorf("%w: targets: %q is asked for twice, or the name of two answers", ErrPublic, a.name)
		case len(a.of) == 2 && a.of[0].policy == a.of[1].policy:
			return fmt.Errorf("%w: targets: the contrast %q is of a policy with itself", ErrPublic, a.name)
		}
		asked[a.name] = true
	}
	return t.validateAnswers()
}

func (t *Targets) validateAnswers() error {
	switch n := len(t.estimands()); {
	case n == 0:
		return fmt.Errorf("%w: targets: neither levels nor contrasts ask for anything", ErrPublic)
	case n > mostAnswers:
		return fmt.Errorf("%w: targets: %d answers in one release; want at most %d", ErrPublic, n, mostAnswers)
	case t.Best && len(t.Levels) < 2:
		return fmt.Errorf("%w: targets: which policy is best is told of those whose levels are asked for; ask for the levels of two or more", ErrPublic)
	}
	return t.validateChoice()
}

// ownNames wants a good name for each, and another one.
func ownNames(section, things string, names []string) error {
	for i, name := range names {
		switch {
		case !goodName(name):
			return fmt.Errorf("%w: %s: a name is %q; want up to %d printable characters, none of them a space at either end", ErrPublic, section, name, longestName)
		case slices.Contains(names[:i], name):
			return fmt.Errorf("%w: %s: two %s are named %q; give each a name of its own", ErrPublic, section, things, name)
		}
	}
	return nil
}

func goodName(name string) bool {
	return oneLine(name) && len(name) <= longestName && strings.TrimSpace(name) == name
}

// oneLine tells whether a text stays on one line and shows all of itself: nothing in it
// breaks the line, changes the direction of writing or takes no space.
func oneLine(text string) bool {
	return text != "" && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// first is the first policy that is not the logged one, nil where there is none.
func (t *Targets) first() policy.Policy {
	for _, a := range t.Policies {
		if !policy.OnPolicy(a.Policy) {
			return a.Policy
		}
	}
	return nil
}

func (t *Targets) names() []string {
	var out []string
	for _, a := range t.Policies {
		out = append(out, a.Name)
	}
	return out
}

// place finds a policy.
func (t *Targets) place(name string) int {
	return slices.IndexFunc(t.Policies, func(a NamedPolicy) bool { return a.Name == name })
}

// estimands lists what is asked for, each of which gets an interval, levels first.
func (t *Targets) estimands() []estimand {
	var out []estimand
	for _, name := range t.Levels {
		out = append(out, estimand{name, OfPolicy, []term{{t.place(name), 1}}})
	}
	for _, c := range t.Contrasts {
		out = append(out, estimand{c[0] + contrastSign + c[1], OfContrast, []term{{t.place(c[0]), 1}, {t.place(c[1]), -1}}})
	}
	return out
}

// clone copies what the caller could still change.
func (t *Targets) clone() *Targets {
	if t == nil {
		return nil
	}
	c := *t
	c.Policies, c.Levels, c.Contrasts = slices.Clone(t.Policies), slices.Clone(t.Levels), slices.Clone(t.Contrasts)
	c.Choose, c.bounds = copied(t.Choose), slices.Clone(t.bounds)
	if c.Choose != nil {
		c.Choose.Value = copied(t.Choose.Value)
	}
	return &c
}

// targetsFact is the public form of what is asked: all that a plan sees of policies.
type targetsFact struct {
	Policies  []policyFact `json:"policies"`
	Levels    []string     `json:"levels"`
	Contrasts [][2]string  `json:"contrasts,omitempty"`
	Best      bool         `json:"best,omitempty"`
	Choose    *Choice      `json:"choose,omitempty"`
	// Differences are what the policies of each contrast say of each other, where weights are known.
	Differences []*policy.DifferenceBound `json:"differences,omitempty"`
}

type policyFact struct {
	Name     string `json:"name"`
	OnPolicy bool   `json:"on_policy"`
	Actions  int    `json:"actions,omitempty"`
	// Constant tells that the last action is always taken.
	Constant bool `json:"constant,omitempty"`
}

func (t *Targets) fact(weighed bool) *targetsFact {
	if t == nil {
		return nil
	}
	f := &targetsFact{Levels: append([]string{}, t.Levels...), Contrasts: t.Contrasts, Best: t.Best, Choose: t.Choose}
	for _, a := range t.Policies {
		_, constant := a.Policy.(policy.Constant)
		f.Policies = append(f.Policies, policyFact{a.Name, policy.OnPolicy(a.Policy), a.Policy.Actions(), constant})
	}
	if all := t.differences(); weighed && slices.ContainsFunc(all, func(b *policy.DifferenceBound) bool { return b != nil }) {
		f.Differences = all
	}
	return f
}

// targets makes policies of which a plan sees the same.
func (f targetsFact) targets() (*Targets, error) {
	t := &Targets{Levels: f.Levels, Contrasts: f.Contrasts, Best: f.Best, Choose: f.Choose, bounds: f.Differences, stated: true}
	if n := len(f.Differences); n > 0 && n != len(f.Contrasts) {
		return nil, fmt.Errorf("differences: %d of %d contrasts", n, len(f.Contrasts))
	}
	for i, b := range f.Differences {
		if b != nil && !(b.Distance >= 0 && b.Distance <= 1 && (b.Weight == 0 || b.Weight >= 1)) {
			return nil, fmt.Errorf("differences[%d]: distance %v and weight %v; want a distance from 0 to 1, and a weight of at least 1 or none", i, b.Distance, b.Weight)
		}
	}
	for _, p := range f.Policies {
		like, err := targetLike(p.OnPolicy, p.Actions)
		if p.Constant {
			like, err = policy.NewConstant(p.Actions - 1)
		}
		if err != nil {
			return nil, err
		}
		t.Policies = append(t.Policies, NamedPolicy{p.Name, like})
	}
	return t, nil
}

// disjoint reports whether two policies never take the same action, so that no episode has
// a weight above 0 under both.
func disjoint(a, b policy.Policy) bool {
	_, first := a.(policy.Constant)
	_, second := b.(policy.Constant)
	return first && second && a.Actions() != b.Actions()
}
