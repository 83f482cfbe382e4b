package train_test

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/internal/rl/sim/mountaincar"
	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/sim"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/train"
)

// TestAPolicyOfScaledObservationsIsWrittenForRawOnes: the file, read as a softmax policy of observations as they are, gives the
// probabilities that the network gives at the scaled ones.
func TestAPolicyOfScaledObservationsIsWrittenForRawOnes(t *testing.T) {
	car, err := mountaincar.New(mountaincar.Options{})
	if err != nil {
		t.Fatal(err)
	}
	spec := car.Spec()
	for _, bias := range []bool{false, true} {
		net, err := learn.NewMLP(learn.Network{Inputs: 2, Actions: 3, Bias: bias})
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		theta := make([]float64, net.Dim())
		for i := range theta {
			theta[i] = 3 * rng.NormFloat64()
		}
		var file bytes.Buffer
		if err := (train.Policy{Network: net.Network(), Theta: theta, Columns: spec.Columns, Ranges: spec.Ranges}).Write(&file); err != nil {
			t.Fatal(err)
		}
		pi, err := policy.ReadSoftmax(&file, "policy.json")
		if err != nil {
			t.Fatal(err)
		}
		obs := []float64{0, 0}
		bound, err := pi.Bind(&trajectory.Dataset{Columns: spec.Columns, PersonStart: []int{0, 1}, EpisodeStart: []int{0, 1}, Obs: obs,
			Action: []int32{0}, Reward: []float64{0}, Terminated: []bool{false}})
		if err != nil {
			t.Fatal(err)
		}
		got, want := make([]float64, 3), make([]float64, 3)
		for range 200 {
			obs[0], obs[1] = -1.2+1.8*rng.Float64(), -.07+.14*rng.Float64()
			bound.Distribution(got, 0)
			net.Probabilities(want, theta, []float64{(obs[0] + .3) / .9, obs[1] / .07}, nil)
			for a := range want {
				if math.Abs(got[a]-want[a]) > 1e-12 {
					t.Fatalf("bias %v, at %v: %v; want %v", bias, obs, got, want)
				}
			}
		}
	}
}

// TestAWiderNetworkStatesTheRanges from which its observations are scaled, and nothing where they are not.
func TestAWiderNetworkStatesTheRanges(t *testing.T) {
	n := learn.Network{Inputs: 1, Actions: 2, Hidden: []int{1}}
	for _, ranges := range [][]sim.Range{nil, {{Low: -2, High: 3}}} {
		var file bytes.Buffer
		if err := (train.Policy{Network: n, Theta: []float64{1, 2, 3}, Columns: []string{"obs_x"}, Ranges: ranges}).Write(&file); err != nil {
			t.Fatal(err)
		}
		var got struct {
			Scaled [][2]float64 `json:"scaled_from"`
		}
		if err := json.Unmarshal(file.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if want := [][2]float64{{-2, 3}}; ranges == nil != (got.Scaled == nil) || ranges != nil && !slices.Equal(got.Scaled, want) {
			t.Errorf("ranges %v: %v is stated", ranges, got.Scaled)
		}
	}
	if err := (train.Policy{Network: n, Theta: []float64{1, 2, 3}, Columns: []string{"obs_x"}, Ranges: []sim.Range{}}).Write(&bytes.Buffer{}); err == nil {
		t.Error("ranges of no column are taken")
	}
}

// TestAGreedyPolicyIsWrittenAsOne: read as a soft-greedy policy it takes the most probable action for certain, and it is no softmax target.
func TestAGreedyPolicyIsWrittenAsOne(t *testing.T) {
	for _, greedy := range []bool{false, true} {
		var file bytes.Buffer
		p := train.Policy{Network: learn.Network{Inputs: 1, Actions: 2}, Theta: []float64{-1, 1}, Columns: []string{"obs_x"}, Greedy: greedy}
		if err := p.Write(&file); err != nil {
			t.Fatal(err)
		}
		text := file.Bytes()
		_, drawn := policy.ReadSoftmax(bytes.NewReader(text), "policy.json")
		pi, certain := policy.ReadSoftGreedy(bytes.NewReader(text), "policy.json")
		if (drawn == nil) == greedy || (certain == nil) != greedy {
			t.Fatalf("greedy %v: read as softmax %v, as soft-greedy %v", greedy, drawn, certain)
		}
		if !greedy {
			continue
		}
		bound, err := pi.Bind(&trajectory.Dataset{Columns: p.Columns, PersonStart: []int{0, 1}, EpisodeStart: []int{0, 1}, Obs: []float64{.1},
			Action: []int32{0}, Reward: []float64{0}, Terminated: []bool{false}})
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, 2)
		if bound.Distribution(got, 0); got[0] != 0 || got[1] != 1 {
			t.Errorf("probabilities %v; want 0 and 1", got)
		}
	}
}
