package house

import (
	"strings"
	"testing"
)

// alone are the packages of privacy that stand by themselves: who imports one of them links
// the standard library, other packages of dp, and these two of the ground.
var alone = []string{"./dp", "./dp/account", "./dp/noise", "./dp/mechanism", "./dp/local", "./dp/receipt"}

var aloneMayLink = []string{"/dp", "/dp/", "/internal/dp/hook", "/internal/dp/mechanism", "/internal/fault", "/internal/xmath"}

// TestPrivacyStandsByItself by its whole tree of imports: no learner, command, database
// or module of others.
func TestPrivacyStandsByItself(t *testing.T) {
	for _, pkg := range alone {
		for _, dep := range dependencies(t, nil, pkg) {
			if !mayLink(dep) {
				t.Errorf("%s links %s", pkg, dep)
			}
		}
	}
	if deps := dependencies(t, nil, "./dp/ledger"); !anyOf(deps, func(dep string) bool { return !mayLink(dep) }) {
		t.Error("not even dp/ledger is found to link others: the test sees nothing")
	}
}

// mayLink reports that a package is of the standard library, whose paths begin without a dot, or
// one that privacy stands on.
func mayLink(dep string) bool {
	first, _, _ := strings.Cut(dep, "/")
	if !strings.Contains(first, ".") {
		return true
	}
	own, ok := strings.CutPrefix(dep, module)
	if !ok {
		return false
	}
	for _, at := range aloneMayLink {
		if own == at || strings.HasSuffix(at, "/") && strings.HasPrefix(own, at) && !strings.HasPrefix(own, "/dp/ledger") {
			return true
		}
	}
	return false
}
