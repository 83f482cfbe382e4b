package spec

import (
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/config"
)

// TestAnotherPolicyNamedLogged is refused where contrasts would bring in the logged one
// under that name, and with the name of the key.
func TestAnotherPolicyNamedLogged(t *testing.T) {
	c := config.Config{Contrasts: &config.Contrasts{Word: "logged"}, Targets: []config.NamedTarget{{Name: "new", Kind: "uniform", Actions: 2}, {Name: "logged", Kind: "uniform", Actions: 3}}}
	if err := validateTargets(c); err == nil || !strings.Contains(err.Error(), `targets[1].name is "logged"`) {
		t.Errorf("%v", err)
	}
	c.Targets[1] = config.NamedTarget{Name: "logged", Kind: "logged"}
	if err := validateTargets(c); err != nil {
		t.Error(err)
	}
}
