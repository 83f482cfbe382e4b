package train

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/local"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
)

// Codec is a randomiser for the vectors of one run: Encode is the agent's side,
// Decode the aggregator's. It is immutable and safe for concurrent use.
type Codec struct {
	agreed Randomizer // as it was given
	filled Randomizer // with defaults
	dim    int
	size   int
	vector local.Vector // of the mechanisms that need no seed
	bit    local.OneBit
}

// NewCodec returns the codec of a randomiser in a run of dim weights. The error
// wraps [ErrConfig].
func NewCodec(r Randomizer, dim int) (*Codec, error) {
	c := &Codec{agreed: r, filled: r, dim: dim}
	if dim < 1 {
		return nil, fmt.Errorf("%w: %d weights; want at least 1", ErrConfig, dim)
	}
	if err := c.prepare(); err != nil {
		return nil, fmt.Errorf("%w: randomizer %s: %w", ErrConfig, r.Mechanism, err)
	}
	return c, nil
}

// Randomizer is what the codec was made of, as terms and tasks state it.
func (c *Codec) Randomizer() Randomizer { return c.agreed }

// Dim is the number of weights of the run, and the length of what Decode writes.
func (c *Codec) Dim() int { return c.dim }

// Len is the length of a vector that is reported: Dim, but 1, a score, for
// [OneBit].
func (c *Codec) Len() int {
	if c.agreed.Mechanism == OneBit {
		return 1
	}
	return c.dim
}

// Size is the length of every body, in bytes.
func (c *Codec) Size() int { return c.size }

// Event describes one report to an accountant: it is epsilon-locally private, for
// any vector, under replace-one adjacency. It is nil where nothing is protected.
func (c *Codec) Event() dp.Event {
	if !c.agreed.Private() {
		return nil
	}
	return dp.ApproximateDP{Epsilon: c.agreed.Epsilon}
}

func (c *Codec) prepare() (err error) {
	r, dim := c.agreed, c.dim
	if err := r.check(); err != nil {
		return err
	}
	switch r.Mechanism {
	case NotPrivate:
		c.size = 1 + 8*dim
		return nil
	case OneBit:
		c.bit, err = local.NewOneBit(0, r.Clip, r.Epsilon)
		c.size = c.bit.Size()
		return err
	case PRS:
		if c.filled.Rows == 0 {
			c.filled.Rows = local.ReducedDim(dim, r.Epsilon)
		}
		var p local.PRS
		p, err = local.NewPRS(dim, c.filled.Rows, r.Clip, r.Epsilon, local.Seed{})
		if err == nil {
			c.size = p.Size()
		}
		return err
	case SignPRS:
		var p local.SignPRS
		p, err = local.NewSignPRS(dim, r.Epsilon, local.Seed{})
		if err == nil {
			c.filled.Rows = p.ReducedDim()
			c.size = p.Size()
		}
		return err
	}
	n := r.Mechanism.number()
	if n < 0 {
		var names []Mechanism
		for _, m := range mechanisms() {
			names = append(names, m.name)
		}
		return fmt.Errorf("%w: no such mechanism; want one of %v", local.ErrParameter, names)
	}
	if c.vector, err = mechanisms()[n].vector(dim, r); err == nil {
		c.size = c.vector.Size()
	}
	return err
}

// plainHeader begins a body that is not randomised.
const plainHeader = 0x1f

// Encode appends the body of a report on x, of length Len, for the task with the
// seed. It clips x as the mechanism says, takes one that is not finite for zero, and
// draws noise from src under the receipt, which pays for the codec's Event; where
// nothing is protected both are nil. It panics when x has another length.
func (c *Codec) Encode(dst []byte, x []float64, seed local.Seed, paid *receipt.Receipt, src *noise.Source) ([]byte, error) {
	if len(x) != c.Len() {
		panic(fmt.Sprintf("train: Encode: %d numbers; want %d", len(x), c.Len()))
	}
	if event := c.Event(); event != nil {
		if err := paid.Redeem(dp.ReplaceOne, event); err != nil {
			return dst, err
		}
	}
	switch c.agreed.Mechanism {
	case NotPrivate:
		return c.plain(dst, x), nil
	case OneBit:
		return c.bit.Randomize(dst, x[0], src), nil
	case PRS:
		p, err := local.NewPRS(c.dim, c.filled.Rows, c.agreed.Clip, c.agreed.Epsilon, seed)
		if err != nil {
			return dst, err
		}
		return p.Randomize(dst, x, src), nil
	case SignPRS:
		p, err := local.NewSignPRS(c.dim, c.agreed.Epsilon, seed)
		if err != nil {
			return dst, err
		}
		return p.Randomize(dst, x, src), nil
	}
	return c.vector.Randomize(dst, x, src), nil
}

// Law is the exact probability of every body that Encode makes of x for a task with the seed, for mechanisms of
// few bits; ok is false for all others.
func (c *Codec) Law(x []float64, seed local.Seed) (bodies map[string]float64, ok bool) {
	switch c.agreed.Mechanism {
	case OneBit:
		return c.bit.Law(x[0]), true
	case PRS:
		if p, err := local.NewPRS(c.dim, c.filled.Rows, c.agreed.Clip, c.agreed.Epsilon, seed); err == nil {
			return local.Law(p, x)
		}
	case SignPRS:
		if p, err := local.NewSignPRS(c.dim, c.agreed.Epsilon, seed); err == nil {
			return local.Law(p, x)
		}
	}
	return nil, false
}

// plain clips x to l1 norm Clip/2, as Laplace does, and appends it.
func (c *Codec) plain(dst []byte, x []float64) []byte {
	norm := 0.0
	for _, v := range x {
		norm += math.Abs(v)
	}
	factor := 1.0
	if c.agreed.Clip > 0 && norm > c.agreed.Clip/2 {
		factor = c.agreed.Clip / 2 / norm
	}
	dst = append(dst, plainHeader)
	for _, v := range x {
		if math.IsNaN(norm) || math.IsInf(norm, 0) {
			v = 0
		}
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(factor*v))
	}
	return dst
}

// Decode overwrites dst, of length Dim, with what a body says of the vector: an
// estimate without bias. For [OneBit] it is the sign that was reported, in dst[0];
// [Perturb] turns it into a direction. The error wraps [local.ErrReport]. It panics
// when dst has another length.
func (c *Codec) Decode(dst []float64, body []byte, seed local.Seed) error {
	if len(dst) != c.dim {
		panic(fmt.Sprintf("train: Decode: room for %d numbers; want %d", len(dst), c.dim))
	}
	switch c.agreed.Mechanism {
	case NotPrivate:
		return c.readPlain(dst, body)
	case OneBit:
		v, err := c.bit.Estimate(body)
		dst[0] = 1
		if v < c.agreed.Clip/2 {
			dst[0] = -1
		}
		return err
	case PRS:
		p, err := local.NewPRS(c.dim, c.filled.Rows, c.agreed.Clip, c.agreed.Epsilon, seed)
		if err != nil {
			return err
		}
		return p.Estimate(dst, body)
	case SignPRS:
		p, err := local.NewSignPRS(c.dim, c.agreed.Epsilon, seed)
		if err != nil {
			return err
		}
		return p.Estimate(dst, body)
	}
	return c.vector.Estimate(dst, body)
}

func (c *Codec) readPlain(dst []float64, body []byte) error {
	if len(body) != c.size || body[0] != plainHeader {
		return fmt.Errorf("%w: want %d bytes that begin with %#02x", local.ErrReport, c.size, plainHeader)
	}
	for i := range dst {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(body[1+8*i:]))
		if math.IsNaN(dst[i]) || math.IsInf(dst[i], 0) {
			return fmt.Errorf("%w: coordinate %d is not finite", local.ErrReport, i)
		}
	}
	return nil
}

// HonestNorm is the l2 norm of an honest report's estimate: the root of its mean
// square for laplace, its limit in large dimension for privunit. It is 0 for
// mechanisms whose reports have one size, or whose size is the vector's own.
func (c *Codec) HonestNorm() float64 {
	switch v := c.vector.(type) {
	case local.PrivUnitG:
		return math.Sqrt(float64(c.dim)) / v.Signal()
	case local.Laplace:
		return math.Hypot(v.Scale()*math.Sqrt(2*float64(c.dim)), v.Clip()/2)
	}
	return 0
}
