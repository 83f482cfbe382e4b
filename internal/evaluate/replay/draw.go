package replay

import (
	"context"
	"fmt"

	"github.com/discreet-rl/discreet/dp/noise"
)

// Shown is what one run showed.
type Shown struct {
	// Ratio is the logarithm of the likelihood ratio of all noisy sums between the
	// neighbour and the dataset: the best number there is to tell the two apart. Of a
	// mechanism that is mu-Gaussian private its two laws differ no more than N(0, 1)
	// and N(mu, 1).
	Ratio float64
	// Noise holds, by noisy sum, the noise of each coordinate over its standard
	// deviation: independent standard normal numbers, if the noise is as it says.
	Noise [][]float64
}

// Draw runs a dataset, or its neighbour, with the noise of a seed, and then the other
// one as [CheckRun] does, to learn what its sums would have been where the same had
// been shown. It is for a run that passes CheckRun.
func Draw(ctx context.Context, run Run, neighbour bool, seed uint64) (Shown, error) {
	var shown Shown
	own := new(keeper)
	if _, err := run(ctx, neighbour, noise.NewTaped(seed, own)); err != nil {
		return shown, err
	}
	other := &forcer{kept: own.kept, compare: true}
	if _, err := run(ctx, !neighbour, noise.NewTaped(seed, other)); err != nil {
		return shown, err
	}
	if own.amiss != "" {
		return shown, fmt.Errorf("%w: %s", ErrBroken, own.amiss)
	}
	if other.wrong != "" || len(other.sums) != len(own.kept) {
		return shown, fmt.Errorf("%w: %s: %d noisy sums, and %d of the other dataset", ErrBroken, other.wrong, len(own.kept), len(other.sums))
	}
	for i, k := range own.kept {
		residuals := make([]float64, len(k.sum))
		for j := range k.sum {
			mine := float64(k.noisy[j]-k.sum[j]) / k.sigma
			apart := float64(k.sum[j]-other.sums[i][j]) / k.sigma
			residuals[j] = mine
			shown.Ratio += apart * (mine + apart/2) // for the run's own dataset
		}
		shown.Noise = append(shown.Noise, residuals)
	}
	if !neighbour {
		shown.Ratio = -shown.Ratio
	}
	return shown, nil
}
