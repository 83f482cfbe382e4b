package train

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/discreet-rl/discreet/rl/learn"
	"github.com/discreet-rl/discreet/rl/sim"
)

// Policy is a trained policy as it is written.
type Policy struct {
	// Network has the weights Theta.
	Network learn.Network
	Theta   []float64
	// Columns names the observations, and Ranges are what they were scaled from (sim.Scaled), nil where they
	// were not.
	Columns []string
	Ranges  []sim.Range
	// Greedy takes the most probable action instead of drawing one.
	Greedy bool
}

// Write writes the policy as JSON. A network without hidden layers becomes a policy file that
// policy.ReadSoftmax reads, policy.ReadSoftGreedy where the policy is greedy, and with it `discreet
// evaluate` as a target of kind softmax or soft-greedy: the same policy, whatever it observes.
// Any other network is written as its layout and weights. A value head is left out
// of the first form.
//
// Where observations were scaled the first form has the weights and intercepts that do the same, up to
// rounding, to observations as they are; the other one states the ranges.
func (p Policy) Write(w io.Writer) error {
	n, theta, columns, ranges := p.Network, p.Theta, p.Columns, p.Ranges
	net, err := learn.NewMLP(n)
	if err != nil {
		return err
	}
	if len(theta) != net.Dim() || len(columns) != n.Inputs || ranges != nil && len(ranges) != n.Inputs {
		return fmt.Errorf("%w: %d weights, %d columns, %d ranges; want %d, %d, as many or none", ErrConfig, len(theta), len(columns), len(ranges), net.Dim(), n.Inputs)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if len(n.Hidden) > 0 || n.ReLULogits {
		var ends [][2]float64
		for _, r := range ranges {
			ends = append(ends, [2]float64{r.Low, r.High})
		}
		return e.Encode(struct {
			Schema  string        `json:"schema"`
			Columns []string      `json:"columns"`
			Scaled  [][2]float64  `json:"scaled_from,omitempty"`
			Network learn.Network `json:"network"`
			Greedy  bool          `json:"greedy,omitempty"`
			Theta   []float64     `json:"theta"`
		}{"discreet/network-policy/v1", columns, ends, n, p.Greedy, theta})
	}
	file := struct {
		Schema    string      `json:"schema"`
		Kind      string      `json:"kind"`
		Inputs    []string    `json:"inputs"`
		Weights   [][]float64 `json:"weights"`
		Intercept []float64   `json:"intercept,omitempty"`
	}{Schema: "discreet/policy/v1", Kind: "softmax", Inputs: columns}
	if p.Greedy {
		file.Kind = "soft-greedy" // with epsilon 0
	}
	for a := range n.Actions {
		file.Weights = append(file.Weights, theta[a*n.Inputs:(a+1)*n.Inputs])
	}
	if n.Bias {
		file.Intercept = theta[n.Actions*n.Inputs : n.Actions*n.Inputs+n.Actions]
	}
	if ranges != nil {
		file.Weights, file.Intercept = unscaled(file.Weights, file.Intercept, ranges)
	}
	return e.Encode(file)
}

// unscaled are the weights and intercepts that make of observations as they are what the given ones
// make of scaled observations: w (x - m)/h + b = (w/h) x + (b - w m/h).
func unscaled(weights [][]float64, intercept []float64, ranges []sim.Range) (w [][]float64, b []float64) {
	b = make([]float64, len(weights))
	copy(b, intercept)
	for a, row := range weights {
		w = append(w, make([]float64, len(row)))
		for i, v := range row {
			middle, half := ranges[i].Line()
			w[a][i] = v / half
			b[a] -= v / half * middle
		}
	}
	return w, b
}
