package simulate_test

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"math"
	"runtime"
	"testing"

	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/train"
	"github.com/discreet-rl/discreet/train/simulate"
)

// TestSeededRunsKeepTheirWeights byte for byte: SHA-256 of the final weights and of
// the scores. A change of what a run computes has to change these on purpose.
func TestSeededRunsKeepTheirWeights(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the compiler fuses multiplications and additions on " + runtime.GOARCH)
	}
	steps := ours(3, train.PrivUnit, 4, 150)
	steps.Local.Network.Hidden = []int{8}
	steps.Local.Steps, steps.Local.Episodes, steps.Local.Optimizer = 3, 2, train.Optimizer{Kind: "adam", Step: .05}
	fleet := ours(2, train.SignPRS, 1, 400)
	fleet.Agents, fleet.Budget, fleet.Workers = 100, 9, 7
	fleet.Terms.Staleness, fleet.Init = 1, learn.Init{Normal: .1}
	fleet.Success = &simulate.Success{Every: 100, Agents: 20, Epsilon: 1, Threshold: 60}
	for name, c := range map[string]struct {
		config          simulate.Config
		weights, scores string
	}{
		"PGC-A3C, laplace":              {paper(1, 4, 300), "61f67c43deb735ed7cbbf76b49badcf1", "893c306e7718adbc5efbdb11223ee04b"},
		"fleet of 100, sign-prs":        {fleet, "cefbf2986917e57c0230cb9f3f4c979e", "e948dcb0ec4a74bfcbaeb732fe67a793"},
		"local steps by adam, privunit": {steps, "00ea50330f904ef73645a386d745c690", "b025ebd3c05e4666bf7d4ffbca7a82af"},
	} {
		r := run(t, c.config)
		if got := hashOf(r.Theta); got != c.weights {
			t.Errorf("%s: weights %s; want %s", name, got, c.weights)
		}
		told := append([]float64(nil), r.Scores...)
		for _, e := range r.Success {
			told = append(told, e.Share)
		}
		if got := hashOf(told); got != c.scores {
			t.Errorf("%s: scores and shares %s; want %s", name, got, c.scores)
		}
	}
}

func hashOf(x []float64) string {
	h := sha256.New()
	for _, v := range x {
		_ = binary.Write(h, binary.LittleEndian, math.Float64bits(v))
	}
	return hex.EncodeToString(h.Sum(nil))[:32]
}
