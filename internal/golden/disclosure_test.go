package golden

import (
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/hook"
)

// counter counts the draws of noise that a release is made of.
type counter struct{ sums, laplaces, choices int64 }

var _ hook.ChoiceTape = &counter{}

// Release implements [hook.Tape].
func (c *counter) Release(_, _ float64, _, _ []int64) { c.sums++ }

// ReleaseLaplace implements [hook.LaplaceTape].
func (c *counter) ReleaseLaplace(float64, []int64, []int64) { c.laplaces++ }

// Choose implements [hook.ChoiceTape].
func (c *counter) Choose(_ []int64, _ *big.Rat, drawn int) int {
	c.choices++
	return drawn
}

// TestMechanismsAreTheDrawsOfARun counts how often a run draws noise, for all questions, and
// holds the disclosure against it. Neither fast noise nor noise of a private scale reaches
// a tape.
func TestMechanismsAreTheDrawsOfARun(t *testing.T) {
	dir := writeData(t)
	for _, q := range private() {
		if slowToPlan.MatchString(q.name) || strings.HasPrefix(q.name, "dp-ls") || strings.Contains(q.privacy, "fast") {
			continue
		}
		adjacency := "replace_one"
		if q.only != "" {
			adjacency = q.only
		}
		var c counter
		r, err := discreet.Evaluate(t.Context(), parse(t, dir, q.config(adjacency)), discreet.WithSource(noise.NewTaped(1, &c)))
		if err != nil {
			t.Fatalf("%s: %v", q.name, err)
		}
		var told counter
		for _, m := range r.Release.Disclosure.Mechanisms {
			switch m.Kind {
			case "gaussian":
				told.sums += m.Runs
			case "discrete_laplace":
				told.laplaces += m.Runs
			case "permute_and_flip":
				told.choices += m.Runs
			default:
				t.Errorf("%s: mechanism %s", q.name, m.Kind)
			}
		}
		if told != c {
			t.Errorf("%s: the disclosure says %+v, and the run drew %+v", q.name, told, c)
		}
	}
}

// TestTheDisclosureSaysWhichRecordsAreCovered by the rule for invalid ones: where a value
// can make a run fail, a run with such a value fails, and the disclosure says that the
// guarantee does not hide it; elsewhere the same value is repaired.
func TestTheDisclosureSaysWhichRecordsAreCovered(t *testing.T) {
	dir := writeData(t)
	for more, fails := range map[string]bool{
		"":                              false,
		"data.on_violation=reject":      true,
		"problem.reward.outside=reject": true,
		"data.missing=reject":           true,
		"data.missing=zero":             false,
		"problem.records=complete":      true,
		"problem.reward.outside=clip":   false,
	} {
		name, from, to := "dp-wis", ",1\n", ",7\n" // a reward outside its range
		if strings.HasPrefix(more, "data.missing") {
			name, from, to = "dp-wis-fitted", "u0,", "u0,," // no observation
		}
		q := private()[slices.IndexFunc(private(), func(q question) bool { return q.name == name })]
		var overrides []string
		if more != "" {
			overrides = []string{more}
		}
		c, err := discreet.Parse("case", []byte(q.config("replace_one")), overrides...)
		if err != nil {
			t.Fatal(err)
		}
		c.Dir = dir
		d := evaluated(t, c).Release.Disclosure
		const outside = "whether a record is invalid"
		if covered := !strings.Contains(d.DataDomain, "only valid ones are covered"); covered == fails ||
			fails != slices.ContainsFunc(d.Unprotected, func(s string) bool { return strings.HasPrefix(s, outside) }) {
			t.Errorf("%q: %q, %q", more, d.DataDomain, d.Unprotected)
		}
		if strings.Contains(d.DataDomain, "any content") {
			t.Errorf("%q: %q", more, d.DataDomain)
		}
		c.Dir = writeData(t)
		log := filepath.Join(c.Dir, "bandit.csv")
		text, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		spoilt := strings.Replace(string(text), from, to, 1)
		if name == "dp-wis-fitted" {
			spoilt = regexp.MustCompile(`(?m)^u0,,\d`).ReplaceAllString(spoilt, "u0,")
		}
		if err := os.WriteFile(log, []byte(spoilt), 0o600); err != nil || spoilt == string(text) {
			t.Fatal(err)
		}
		_, err = discreet.Evaluate(t.Context(), c, discreet.WithSource(noise.NewSeeded(1)))
		if (err != nil) != fails {
			t.Errorf("%q: with an invalid value: %v; want an error: %v", more, err, fails)
		}
	}
}
