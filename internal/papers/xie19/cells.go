package xie19

import (
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// cells is a grid over continuous observations, public like the features:
// output perturbation needs states that can be counted.
type cells struct {
	low, high []float64
	side      int // cells along a column
	features  feature.Finite
}

// cellColumn holds the number of a cell.
const cellColumn = "obs_cell"

func newCells(low, high []float64, side int) (*cells, error) {
	n := 1
	for range low {
		n *= side
	}
	f, err := feature.NewTabular(n, cellColumn)
	return &cells{low: low, high: high, side: side, features: f}, err
}

// of is the cell of an observation.
func (c *cells) of(obs []float64) int {
	cell := 0
	for j, x := range obs {
		k := int(float64(c.side) * (x - c.low[j]) / (c.high[j] - c.low[j]))
		cell = cell*c.side + min(max(k, 0), c.side-1)
	}
	return cell
}

// number returns the dataset that observes the cell alone.
func (c *cells) number(d *trajectory.Dataset) *trajectory.Dataset {
	out := *d
	out.Columns = []string{cellColumn}
	out.Obs = c.all(d.Obs)
	if d.Final != nil {
		out.Final = c.all(d.Final)
	}
	return &out
}

func (c *cells) all(obs []float64) []float64 {
	k := len(c.low)
	out := make([]float64, len(obs)/k)
	for i := range out {
		out[i] = float64(c.of(obs[i*k : (i+1)*k]))
	}
	return out
}
