package discreet

import (
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/evaluate"
)

// TestWhatVerifyCannotCheckIsNamed: by field, and only where the release has it.
func TestWhatVerifyCannotCheckIsNamed(t *testing.T) {
	for _, c := range []struct {
		public, diagnostics map[string]any
		want                []string
	}{
		{nil, map[string]any{"sums": map[string]any{}}, nil},
		{nil, map[string]any{"baseline": map[string]any{"value": 1.0}}, nil},
		{map[string]any{"features": map[string]any{}}, nil, []string{"public.features"}},
		{map[string]any{"features": map[string]any{}}, map[string]any{"model": map[string]any{}}, []string{"public.features", "state_values"}},
		{nil, map[string]any{"baseline": map[string]any{"state_values": []any{}}}, []string{"diagnostics.baseline"}},
	} {
		got := notChecked(&evaluate.Release{Public: c.public, Diagnostics: c.diagnostics})
		if len(got) != len(c.want) {
			t.Errorf("%v: %q; want %q", c, got, c.want)
			continue
		}
		for i, w := range c.want {
			if !strings.Contains(got[i], w) {
				t.Errorf("%q; want %q", got[i], w)
			}
		}
	}
}

// TestAnotherPolicyNamedLogged is refused where contrasts would bring in the logged one
// under that name, and with the name of the key.
func TestAnotherPolicyNamedLogged(t *testing.T) {
	c := Config{Contrasts: &Contrasts{Word: "logged"}, Targets: []NamedTarget{{Name: "new", Kind: "uniform", Actions: 2}, {Name: "logged", Kind: "uniform", Actions: 3}}}
	if err := c.validateTargets(); err == nil || !strings.Contains(err.Error(), `targets[1].name is "logged"`) {
		t.Errorf("%v", err)
	}
	c.Targets[1] = NamedTarget{Name: "logged", Kind: "logged"}
	if err := c.validateTargets(); err != nil {
		t.Error(err)
	}
}
