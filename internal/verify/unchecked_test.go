package verify

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/evaluate"
)

// TestWhatVerifyCannotCheckIsNamed: by field, and only where the release has it.
func TestWhatVerifyCannotCheckIsNamed(t *testing.T) {
	for document, want := range map[string][]string{
		`{"public": {}, "diagnostics": {"clip": {}}}`:                                         nil,
		`{"public": {"features": {}, "persons": 3, "by": {"column": "a"}}}`:                   {"public.features, public.by.column: ", "public.persons: "},
		`{"public": {"persons": 3}}`:                                                          nil,
		`{"diagnostics": {"overlap": {"mean_weight": 1, "effective_sample_size": 2}}}`:        {"diagnostics.overlap.mean_weight: "},
		`{"answers": [{"diagnostics": {}}, {"diagnostics": {"sums": {}}}]}`:                   {"answers[].diagnostics.sums: "},
		`{"ledger": {"dataset": "a", "key": "b"}}`:                                            {"ledger.dataset, ledger.key: "},
		`{"signature": {"algorithm": "ed25519"}}`:                                             {"signature: "},
		`{"disclosure": {"code_version": "a", "config_hash": "b", "mechanisms": []}}`:         {"disclosure.code_version, disclosure.config_hash: "},
		`{"diagnostics": {"std_privacy_by_coordinate": [1]}, "public": {"parameters": null}}`: {"diagnostics.std_privacy_by_coordinate: "},
	} {
		var root map[string]any
		r := &evaluate.Release{Method: "dp-dr", Privacy: &evaluate.Statement{}, Answers: []evaluate.PolicyAnswer{{Estimate: &evaluate.Estimate{}}}}
		if err := errors.Join(json.Unmarshal([]byte(document), &root), loosely(root["public"], &r.Public), loosely(root["signature"], &r.Signature)); err != nil {
			t.Fatal(err)
		}
		got := (&Verification{Release: r}).notChecked(root)
		if len(got) != len(want) {
			t.Errorf("%s: %q; want %q", document, got, want)
			continue
		}
		for i, w := range want {
			if !strings.HasPrefix(got[i], w) {
				t.Errorf("%s: %q; want %q", document, got[i], w)
			}
		}
	}
}
