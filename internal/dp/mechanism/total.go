package mechanism

import (
	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// Total is the noisy sum over persons 0, 1, ...: add adds one of them to it.
func Total[N any](sum interface {
	Release(src *noise.Source) (N, dp.Event, error)
}, persons int, add func(person int) error, src *noise.Source) (noisy N, err error) {
	for p := range persons {
		if err := add(p); err != nil {
			return noisy, err
		}
	}
	noisy, _, err = sum.Release(src)
	return noisy, err
}
