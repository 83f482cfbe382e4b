package local

import (
	"encoding/binary"
	"fmt"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
)

// OneCoordinate reports one coordinate of a vector, drawn uniformly, by one bit ([OneBit]),
// clipped to [-Clip, Clip]. Which one it is does not depend on the vector, so a report costs
// what the bit does. Make one with [NewOneCoordinate].
type OneCoordinate struct {
	dim int
	bit OneBit
}

// NewOneCoordinate returns the randomiser of vectors of length dim. The error wraps
// [ErrParameter].
func NewOneCoordinate(dim int, clip, epsilon float64) (OneCoordinate, error) {
	if err := checkDim(dim, maxDim); err != nil {
		return OneCoordinate{}, err
	}
	if err := checkClip(clip); err != nil {
		return OneCoordinate{}, err
	}
	bit, err := NewOneBit(-clip, clip, epsilon)
	return OneCoordinate{dim, bit}, err
}

// Dim returns the length of the input and of the estimate.
func (o OneCoordinate) Dim() int { return o.dim }

// Epsilon bounds the privacy loss of one report from above.
func (o OneCoordinate) Epsilon() float64 { return o.bit.Epsilon() }

// Event describes one report to an accountant.
func (o OneCoordinate) Event() dp.Event { return o.bit.Event() }

// Size returns the bytes of a report: one, four for the coordinate, and the bit's.
func (o OneCoordinate) Size() int { return 5 + o.bit.Size() }

// Randomize appends the report on x to dst.
func (o OneCoordinate) Randomize(dst []byte, x []float64, src *noise.Source) []byte {
	return o.randomize(dst, x, secure{src})
}

func (o OneCoordinate) randomize(dst []byte, x []float64, c coins) []byte {
	mustLen(len(x), o.dim)
	value := 0.0 // of a vector that is not finite
	at := c.uniform(uint64(o.dim))
	if largest(x) > 0 {
		value = x[at]
	}
	dst = binary.LittleEndian.AppendUint32(append(dst, kindOneCoordinate.header()), uint32(at))
	return o.bit.randomize(dst, value, c)
}

// Estimate overwrites dst with dim times the reported coordinate, and zeros elsewhere. Its
// mean is the clipped vector.
func (o OneCoordinate) Estimate(dst []float64, report []byte) error {
	mustLen(len(dst), o.dim)
	body, err := kindOneCoordinate.open(report, o.Size())
	if err != nil {
		return err
	}
	at := binary.LittleEndian.Uint32(body)
	if uint64(at) >= uint64(o.dim) {
		return fmt.Errorf("%w: coordinate %d of %d", ErrReport, at, o.dim)
	}
	value, err := o.bit.Estimate(body[4:])
	if err != nil {
		return err
	}
	clear(dst)
	dst[at] = float64(o.dim) * value
	return nil
}
