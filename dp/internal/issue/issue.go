package issue

import (
	"fmt"

	"github.com/discreet-rl/discreet/dp"
)

// Seal is what a receipt is issued with. Its zero value is none.
type Seal struct{ valid bool }

// New returns a seal.
func New() Seal { return Seal{valid: true} }

// Valid reports whether the seal was made by New.
func (s Seal) Valid() bool { return s.valid }

// EventText is the canonical JSON of a caller's event. A nil pointer in it, at
// whatever depth, panics when its value is read; here that is an error.
func EventText(e dp.Event) (text []byte, err error) {
	defer func() {
		if recover() != nil {
			text, err = nil, fmt.Errorf("%w: it cannot be read: it holds a nil pointer, or is changed while it is charged", dp.ErrEvent)
		}
	}()
	return dp.MarshalEvent(e)
}
