package evaluate_test

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// decisions is a method of one's own: the mean number of decisions of a person, from a
// rough round and a finer one around its result. Its fields are public.
type decisions struct {
	Persons float64 `json:"persons"`
	Most    float64 `json:"most"`
}

// Outline implements evaluate.Sums.
func (m decisions) Outline(evaluate.Public) (evaluate.Outline, error) {
	return evaluate.Outline{Method: "example/decisions", Estimates: "the mean number of decisions of a person",
		Rounds: []evaluate.Round{{Dim: 1, Clip: m.Most / 2, Share: 0.2}, {Dim: 1, Clip: m.Most / 16, Share: 0.8}}}, nil
}

// centre is where a round's numbers are counted from.
func (m decisions) centre(earlier [][]float64) float64 {
	if len(earlier) == 0 {
		return m.Most / 2
	}
	return m.Most/2 + earlier[0][0]/m.Persons
}

// Contribution implements evaluate.Sums. Longer vectors than the clip are shrunk to it.
func (m decisions) Contribution(dst []float64, _ int, earlier [][]float64, person *trajectory.Dataset) {
	dst[0] = float64(person.Rows()) - m.centre(earlier)
}

// Answer implements evaluate.Sums.
func (m decisions) Answer(_ evaluate.Public, sums []evaluate.NoisySum) (evaluate.Answer, error) {
	value := m.centre([][]float64{sums[0].Sum}) + sums[1].Sum[0]/m.Persons
	half := 1.96 * sums[1].SD / m.Persons
	return evaluate.Answer{Value: value, Interval: &[2]float64{value - half, value + half}, Confidence: 0.95,
		Claim: "holds, over the noise, the mean over these persons where no number lies beyond the finer clip"}, nil
}

func ExampleOfSums() {
	var b trajectory.Builder
	for person := range 2000 {
		b.Add(&trajectory.Episode{Person: person, Reward: make([]float64, 30+person%21), Terminated: true})
	}
	data := b.Dataset()
	plan, err := evaluate.OfSums(decisions{Persons: 2000, Most: 400}).Plan(evaluate.Public{
		Persons: 2000, Gamma: 1, Horizon: 400, Reward: evaluate.Range{Min: 0, Max: 1}, Target: policy.Logged{},
		Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ready, err := plan.Check(context.Background(), data)
	if err != nil {
		fmt.Println(err)
		return
	}
	src := noise.NewSeeded(1) // for this example; people need noise.NewSource
	release, err := ready.Run(context.Background(), receipt.None(), src)
	if err != nil {
		fmt.Println(err)
		return
	}
	truth := float64(data.Rows()) / 2000
	fmt.Printf("epsilon %.0f; %.0f decisions (truly %.0f)\n", release.Privacy.Epsilon, release.Answer.Value, truth)
	// Output: epsilon 1; 40 decisions (truly 40)
}
