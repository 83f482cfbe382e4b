package train

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"

	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/learn"
)

// WritePolicy writes the trained policy as JSON. A network without hidden layers
// becomes a policy file that policy.ReadSoftmax reads, and with it `discreet
// evaluate` as a target of kind softmax: columns are divided by their public
// scale there and clipped to [-1, 1], and the weights are multiplied by it, so the
// policies agree where no observation exceeds its scale. Any other network is
// written as its layout and weights. A value head is left out of the first form.
func WritePolicy(w io.Writer, n learn.Network, theta []float64, columns []string, scale []float64) error {
	net, err := learn.NewMLP(n)
	if err != nil {
		return err
	}
	if len(theta) != net.Dim() || len(columns) != n.Inputs || len(scale) != n.Inputs {
		return fmt.Errorf("%w: %d weights, %d columns, %d scales; want %d, %d, %d", ErrConfig, len(theta), len(columns), len(scale), net.Dim(), n.Inputs, n.Inputs)
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
	spec := feature.Spec{Kind: "columns", Names: columns, Scale: map[string]float64{}, Intercept: n.Bias}
	for i, name := range columns {
		spec.Scale[name] = scale[i]
	}
	weights := make([][]float64, n.Actions)
	for a := range weights {
		row := slices.Clone(theta[a*n.Inputs : (a+1)*n.Inputs])
		for i := range row {
			row[i] *= scale[i]
		}
		if n.Bias {
			row = slices.Insert(row, 0, theta[n.Actions*n.Inputs+a])
		}
		weights[a] = row
	}
	return e.Encode(struct {
		learn.Q
		Clip bool `json:"clip"`
	}{learn.Q{Features: spec, Weights: weights}, true})
}
