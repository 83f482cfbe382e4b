package train

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/discreet-rl/discreet/rl/learn"
)

// WritePolicy writes the trained policy as JSON. A network without hidden layers
// becomes a policy file that policy.ReadSoftmax reads, and with it `discreet
// evaluate` as a target of kind softmax: the same policy, whatever it observes.
// Any other network is written as its layout and weights. A value head is left out
// of the first form.
func WritePolicy(w io.Writer, n learn.Network, theta []float64, columns []string) error {
	net, err := learn.NewMLP(n)
	if err != nil {
		return err
	}
	if len(theta) != net.Dim() || len(columns) != n.Inputs {
		return fmt.Errorf("%w: %d weights, %d columns; want %d, %d", ErrConfig, len(theta), len(columns), net.Dim(), n.Inputs)
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	if len(n.Hidden) > 0 || n.ReLULogits {
		return e.Encode(struct {
			Schema  string        `json:"schema"`
			Columns []string      `json:"columns"`
			Network learn.Network `json:"network"`
			Theta   []float64     `json:"theta"`
		}{"discreet/network-policy/v1", columns, n, theta})
	}
	file := struct {
		Schema    string      `json:"schema"`
		Kind      string      `json:"kind"`
		Inputs    []string    `json:"inputs"`
		Weights   [][]float64 `json:"weights"`
		Intercept []float64   `json:"intercept,omitempty"`
	}{Schema: "discreet/policy/v1", Kind: "softmax", Inputs: columns}
	for a := range n.Actions {
		file.Weights = append(file.Weights, theta[a*n.Inputs:(a+1)*n.Inputs])
	}
	if n.Bias {
		file.Intercept = theta[n.Actions*n.Inputs : n.Actions*n.Inputs+n.Actions]
	}
	return e.Encode(file)
}
