package learn

import (
	"encoding/json"
	"io"

	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
)

// Q is a linear action-value function: Q(s, a) = Weights[a]' phi(s), in the units
// of a discounted return.
type Q struct {
	// Features describes phi.
	Features feature.Spec `json:"features"`
	// Weights holds a row of numbers an action, one a feature.
	Weights [][]float64 `json:"weights"`
}

// Greedy is the policy that takes the best action with probability 1-epsilon and
// a uniform one otherwise.
func (q Q) Greedy(epsilon float64) (policy.SoftGreedy, error) {
	m, err := q.Features.Map()
	if err != nil {
		return policy.SoftGreedy{}, err
	}
	return policy.NewSoftGreedy(m, q.Weights, epsilon)
}

// Softmax is the policy that takes actions with probabilities proportional to
// exp(Q / temperature).
func (q Q) Softmax(temperature float64) (policy.Softmax, error) {
	m, err := q.Features.Map()
	if err != nil {
		return policy.Softmax{}, err
	}
	return policy.NewSoftmax(m, q.Weights, temperature)
}

// Write writes q as a policy file, which [policy.ReadSoftmax] and
// [policy.ReadSoftGreedy] read. The features clip observations to their ranges, and
// the file says so.
func (q Q) Write(w io.Writer) error {
	return json.NewEncoder(w).Encode(struct {
		Q
		Clip bool `json:"clip"`
	}{q, true})
}
