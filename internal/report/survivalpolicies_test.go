package report_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/evaluate"
)

// A page about policies speaks of policies, says what a person adds, and where there are limits
// alone says so.
func TestPagesOfSurvivalUnderPolicies(t *testing.T) {
	for _, form := range []string{"curves", "limits"} {
		for _, r := range []*evaluate.Release{survivalRelease(), armRelease(2), armRelease(5)} {
			r.Public["form"], r.Public["max_weight"], r.Public["target"] = form, 2.0, []string{"new: constant", "old: constant"}
			for i := range r.Survival.Arms {
				if a := &r.Survival.Arms[i]; form == "limits" {
					a.Survival.Values, a.Median = []float64{}, nil
				}
				r.Survival.Arms[i].Name = strings.ReplaceAll(r.Survival.Arms[i].Name, "arm", "policy")
			}
			for i := range r.Answers {
				r.Answers[i].Name = strings.ReplaceAll(r.Answers[i].Name, "arm", "policy")
			}
			r.Notes, r.Disclosure = nil, nil
			delete(r.Public, "by")
			delete(r.Public, "control")
			text := flat(mustParse(t, render(t, r)).find("main", "")[0])
			for words, want := range map[string]bool{
				"Under each policy a person counts": true, "There are limits alone": form == "limits",
				"adds to one cell of each policy": true, "Censoring that depends on prognosis": form == "curves",
			} {
				if strings.Contains(text, words) != want {
					t.Errorf("%s: %q: want %v", form, words, want)
				}
			}
			if at := regexp.MustCompile(`(?i)\barms?\b`).FindStringIndex(text); at != nil {
				t.Errorf("%s: an arm: ...%s...", form, text[max(at[0]-80, 0):min(at[1]+40, len(text))])
			}
		}
	}
}
