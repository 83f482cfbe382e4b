package serve

import (
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/config"

	"github.com/discreet-rl/discreet/internal/yamlfile"
)

// TestABudgetIsCalledMissingOnlyWhereItIs: a number that cannot be is named as it was asked.
func TestABudgetIsCalledMissingOnlyWhereItIs(t *testing.T) {
	for epsilon, want := range map[float64]string{
		0:            "privacy.epsilon is missing or 0; want a number above 0",
		-1:           "privacy.epsilon is -1; want a number above 0",
		math.NaN():   "privacy.epsilon is NaN; want a number above 0",
		math.Inf(-1): "privacy.epsilon is -Inf; want a number above 0",
	} {
		q := question{Method: config.Method{Name: "dp-wis"}}
		q.Privacy.Epsilon = epsilon
		if err := new(dataset).allows(q); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("epsilon %v: %v; want %q", epsilon, err, want)
		}
	}
}

// TestAnUnknownKeyOfAQuestionNamesNoGo: its sections have no names of their own there.
func TestAnUnknownKeyOfAQuestionNamesNoGo(t *testing.T) {
	_, err := yamlfile.Decode[question]("question", []byte("privacy: {epsilon: 1, detla: 1e-5}\n"), nil)
	if err == nil || strings.Contains(err.Error(), "struct") || !strings.Contains(err.Error(), `unknown key "detla" in privacy;`) {
		t.Error(err)
	}
}
