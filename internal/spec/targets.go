package spec

import (
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
)

// about is the configuration that asks about one policy.
func about(c config.Config, t config.Target) config.Config {
	c.Target, c.Targets = t, nil
	return c
}

// targetsOf builds the policy to evaluate, or what is asked about several.
func targetsOf(c config.Config) (policy.Policy, *evaluate.Targets, error) {
	if !several(c) {
		p, err := policyOf(c)
		if err != nil {
			err = fmt.Errorf("target: %w", err)
		}
		return p, nil, err
	}
	t := &evaluate.Targets{Best: c.Select != nil}
	if !byLimits(c.Select) {
		t.Choose = &evaluate.Choice{By: c.Select.Best, Value: c.Select.Value}
		if c.Select.Gap != nil {
			t.Choose.Gap = *c.Select.Gap
		}
	}
	for _, n := range c.Targets {
		p, err := policyOf(about(c, n.Target()))
		if err != nil {
			return nil, nil, fmt.Errorf("targets: %s: %w", n.Name, err)
		}
		t.Policies = append(t.Policies, evaluate.NamedPolicy{Name: n.Name, Policy: p})
		t.Levels = append(t.Levels, n.Name)
	}
	if l := c.Levels; l != nil && (l.None || len(l.Names) > 0) {
		t.Levels = l.Names
	}
	if c.Contrasts != nil {
		askContrasts(*c.Contrasts, t)
	}
	return nil, t, nil
}

// askContrasts writes the pairs out.
func askContrasts(c config.Contrasts, t *evaluate.Targets) {
	t.Contrasts = c.Pairs
	switch c.Word {
	case "all":
		for i, a := range t.Policies {
			for _, b := range t.Policies[i+1:] {
				t.Contrasts = append(t.Contrasts, [2]string{a.Name, b.Name})
			}
		}
	case loggedName:
		base := slices.IndexFunc(t.Policies, func(a evaluate.NamedPolicy) bool { return policy.OnPolicy(a.Policy) })
		if base < 0 {
			base = len(t.Policies)
			t.Policies = append(t.Policies, evaluate.NamedPolicy{Name: loggedName, Policy: policy.Logged{}})
		}
		for i, a := range t.Policies {
			if i != base {
				t.Contrasts = append(t.Contrasts, [2]string{a.Name, t.Policies[base].Name})
			}
		}
	}
}

// policyLabels says in words which policies are evaluated: one, or a list with names.
func policyLabels(c config.Config, t *evaluate.Targets) any {
	if !several(c) {
		return policyWords(c)
	}
	var out []string
	for _, n := range c.Targets {
		out = append(out, n.Name+": "+policyWords(about(c, n.Target())))
	}
	for _, a := range t.Policies[len(c.Targets):] {
		out = append(out, a.Name+": "+config.Target{Kind: "logged"}.String())
	}
	return out
}

// Policies are all that are evaluated.
func Policies(p evaluate.Public) []policy.Policy {
	if p.Targets == nil {
		return []policy.Policy{p.Target}
	}
	var out []policy.Policy
	for _, a := range p.Targets.Policies {
		out = append(out, a.Policy)
	}
	return out
}
