package account_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/account"
)

type smoothOracle struct {
	D       int     `json:"d"`
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
	Balle16 float64 `json:"alpha_balle16"`
	Beta    float64 `json:"beta"`
	Exact   float64 `json:"alpha_min_exact"`
	True    float64 `json:"delta_true_at_alpha_balle16"`
}

func readSmoothOracle(t *testing.T) []smoothOracle {
	t.Helper()
	text, err := os.ReadFile("testdata/smooth_sensitivity.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []smoothOracle
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

func TestSmoothAlphaAgreesWithTheOracle(t *testing.T) {
	for _, c := range readSmoothOracle(t) {
		b, err := account.SmoothGaussianAlpha(dp.Budget{Epsilon: c.Epsilon, Delta: c.Delta}, c.Beta, c.D)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		t.Logf("d %d eps %v delta %v: %v rel %.2e %.2e", c.D, c.Epsilon, c.Delta, b, b.Lower/c.Exact-1, b.Upper/c.Exact-1)
	}
}

func TestSmoothDeltaAgreesWithTheOracle(t *testing.T) {
	for _, c := range readSmoothOracle(t) {
		b, err := account.SmoothGaussianDelta(c.Balle16, c.Beta, c.D, c.Epsilon)
		if err != nil {
			t.Errorf("%+v: %v", c, err)
			continue
		}
		t.Logf("d %d eps %v delta %v: %v rel %.2e %.2e", c.D, c.Epsilon, c.Delta, b, b.Lower/c.True-1, b.Upper/c.True-1)
	}
}
