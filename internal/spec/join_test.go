package spec_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/discreet-rl/discreet/config"
	"github.com/discreet-rl/discreet/internal/spec"
)

// Whoever is absent has 0, has 1 or has no outcome: three contracts.
func TestAnAbsentOutcomeIsInTheContract(t *testing.T) {
	var all []map[string]any
	for _, absent := range []*config.Value{nil, {Word: "0", Numeric: true}, {Word: "1", Numeric: true}} {
		c := config.Config{}
		c.Data.Outcome = &config.Outcome{Path: config.Names{"deaths.csv"}, By: "unit_id", Column: "alive", Absent: absent}
		terms, err := spec.ComparedTerms(c)
		if err != nil {
			t.Fatal(err)
		}
		for _, other := range all {
			if cmp.Equal(other, terms) {
				t.Errorf("%v is not told from another: %v", absent, terms)
			}
		}
		all = append(all, terms)
	}
}
