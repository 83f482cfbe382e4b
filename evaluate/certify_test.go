package evaluate_test

import (
	"errors"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
)

// Every release certifies itself, and none certifies a promise below what its
// event costs, or another adjacency that costs more.
func TestReleasesCertifyThemselves(t *testing.T) {
	const persons = 100
	data := chainData(t, persons, 1)
	for _, name := range []string{"dp-is", "dp-lsw", "gpope", "constant"} {
		e, err := evaluate.New(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		s := run(t, e, chainPublic(t, persons, dp.AddRemoveOne), data, noise.NewSeeded(1)).Privacy
		b, err := s.Certify()
		if err != nil || b != s.Accounted {
			t.Errorf("%s: %v, %v; the release says %v", name, b, err, s.Accounted)
		}
		if name == "constant" {
			continue
		}
		less := *s
		less.Epsilon *= 0.98
		if _, err := less.Certify(); !errors.Is(err, evaluate.ErrOverBudget) {
			t.Errorf("%s: epsilon %v certified: %v; want ErrOverBudget", name, less.Epsilon, err)
		}
		other := *s
		other.Adjacency = dp.ReplaceOne
		if _, err := other.Certify(); name != "dp-lsw" && !errors.Is(err, evaluate.ErrOverBudget) && !errors.Is(err, account.ErrUnsupported) {
			t.Errorf("%s: certified under replace_one: %v", name, err)
		}
	}
	if _, err := (&evaluate.Statement{Adjacency: dp.ReplaceOne, Epsilon: 1}).Certify(); !errors.Is(err, dp.ErrEvent) {
		t.Errorf("no event: %v; want ErrEvent", err)
	}
}
