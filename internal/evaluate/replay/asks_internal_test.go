package replay

import (
	"context"
	"errors"
	"testing"

	"github.com/discreet-rl/discreet/dp/noise"
)

// TestTheSamplerIsAskedForWhatIsTold: a draw of another standard deviation than the tape is told
// refutes a plan, whatever the number that was drawn, and so does a draw that is missing.
func TestTheSamplerIsAskedForWhatIsTold(t *testing.T) {
	const sigma = 1e6
	for name, c := range map[string]struct {
		asked  float64
		draws  int
		honest bool
	}{
		"as told": {sigma, 2, true}, "and more": {sigma, 3, true},
		"smaller": {0.999 * sigma, 2, false}, "larger": {2 * sigma, 2, false}, "too few": {sigma, 1, false},
	} {
		run := func(_ context.Context, _ bool, src *noise.Source) (any, error) {
			g, err := noise.NewGaussian(c.asked)
			if err != nil {
				return nil, err
			}
			noisy := make([]int64, 2)
			for i := range c.draws {
				noisy[i%2] = g.Sample(src)
			}
			src.Tape().Release(1, sigma, []int64{0, 0}, noisy)
			return noisy, nil
		}
		_, err := CheckRun(t.Context(), run, 1, 1)
		if (err == nil) != c.honest || err != nil && !errors.Is(err, ErrBroken) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
