package train

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/local"
	"github.com/discreet-rl/discreet/dp/noise"
)

// Mechanism names a local randomiser.
type Mechanism string

// The mechanisms; those of package dp/local unless said otherwise.
const (
	Laplace   Mechanism = "laplace"
	PRS       Mechanism = "prs"
	SignPRS   Mechanism = "sign-prs"
	PrivUnit  Mechanism = "privunit"
	Ball      Mechanism = "ball"
	Piecewise Mechanism = "piecewise"
	Hybrid    Mechanism = "hybrid"
	// OneBit reports the score of weights that the task's seed perturbed, by one
	// bit: an evolution strategy.
	OneBit Mechanism = "one-bit"
	// NotPrivate sends the vector as it is, a reference: it protects nobody.
	NotPrivate Mechanism = "none"
)

// mechanisms lists all of them; the index is their number in a task and never
// changes.
func mechanisms() []Mechanism {
	return []Mechanism{NotPrivate, Laplace, PRS, SignPRS, PrivUnit, Ball, Piecewise, Hybrid, OneBit}
}

// Randomizer says how a report is made. It is part of every task; an agent answers
// only tasks that name the one it agreed to.
type Randomizer struct {
	Mechanism Mechanism `json:"mechanism" yaml:"mechanism"`
	// Epsilon bounds the privacy loss of one report.
	Epsilon float64 `json:"epsilon" yaml:"epsilon"`
	// Clip is that of Laplace (l1 norm Clip/2), PRS (a projection), Ball (l2 norm),
	// Piecewise and Hybrid (a coordinate), OneBit (scores lie in [0, Clip]) and,
	// unless it is 0, NotPrivate (as Laplace). SignPRS and PrivUnit report a
	// direction and have none: there it is 0.
	Clip float64 `json:"clip,omitempty" yaml:"clip"`
	// Rows is the reduced dimension of PRS; 0 stands for local.ReducedDim, and it is
	// 0 for all others.
	Rows int `json:"rows,omitempty" yaml:"rows"`
}

// Private reports whether reports are protected at all.
func (r Randomizer) Private() bool { return r.Mechanism != NotPrivate }

// coder is a randomiser for vectors of one length: encode is the device's side,
// decode the server's. It is immutable.
type coder struct {
	Randomizer
	asked  Randomizer // as it was given, before defaults
	dim    int
	size   int
	vector local.Vector // of the mechanisms that need no seed
	bit    local.OneBit
}

func newCoder(r Randomizer, dim int) (*coder, error) {
	c := &coder{Randomizer: r, asked: r, dim: dim}
	err := c.prepare()
	if err != nil {
		return nil, fmt.Errorf("%w: randomizer %s: %w", ErrConfig, r.Mechanism, err)
	}
	return c, nil
}

func (c *coder) prepare() (err error) {
	r, dim := c.Randomizer, c.dim
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
	case Laplace:
		c.vector, err = local.NewLaplace(dim, r.Clip, r.Epsilon)
	case PrivUnit:
		c.vector, err = local.NewPrivUnitG(dim, r.Epsilon)
	case Ball:
		c.vector, err = local.NewBall(dim, r.Clip, r.Epsilon)
	case Piecewise:
		c.vector, err = local.NewPiecewise(dim, r.Clip, r.Epsilon)
	case Hybrid:
		c.vector, err = local.NewHybrid(dim, r.Clip, r.Epsilon)
	case PRS:
		if c.Rows == 0 {
			c.Rows = local.ReducedDim(dim, r.Epsilon)
		}
		var p local.PRS
		p, err = local.NewPRS(dim, c.Rows, r.Clip, r.Epsilon, local.Seed{})
		if err == nil {
			c.size = p.Size()
		}
		return err
	case SignPRS:
		var p local.SignPRS
		p, err = local.NewSignPRS(dim, r.Epsilon, local.Seed{})
		if err == nil {
			c.Rows = p.ReducedDim()
			c.size = p.Size()
		}
		return err
	default:
		return fmt.Errorf("%w: no such mechanism; want one of %v", local.ErrParameter, mechanisms())
	}
	if err == nil {
		c.size = c.vector.Size()
	}
	return err
}

// check refuses settings that the mechanism has no use for, so that nobody takes
// them for protection, and those that package dp/local does not look at.
func (r Randomizer) check() error {
	switch within := r.Clip >= local.MinClip && r.Clip <= local.MaxClip; r.Mechanism {
	case NotPrivate:
		if r.Epsilon != 0 {
			return fmt.Errorf("%w: epsilon is %v, and nothing is protected; remove it", local.ErrParameter, r.Epsilon)
		}
		if r.Clip != 0 && !within {
			return fmt.Errorf("%w: clip is %v; want %v to %v, or 0 for none", local.ErrParameter, r.Clip, local.MinClip, local.MaxClip)
		}
	case OneBit:
		if !within {
			return fmt.Errorf("%w: clip is %v; want %v to %v", local.ErrParameter, r.Clip, local.MinClip, local.MaxClip)
		}
	case SignPRS, PrivUnit:
		if r.Clip != 0 {
			return fmt.Errorf("%w: clip is %v, and a direction has none; remove it", local.ErrParameter, r.Clip)
		}
	}
	if r.Rows != 0 && r.Mechanism != PRS {
		return fmt.Errorf("%w: rows is %d, and only %s has rows; remove it", local.ErrParameter, r.Rows, PRS)
	}
	return nil
}

// agreed is the randomiser as terms and tasks state it.
func (c *coder) agreed() Randomizer { return c.asked }

// event describes one report to an accountant; nil where nothing is protected.
func (c *coder) event() dp.Event {
	if !c.Private() {
		return nil
	}
	return dp.ApproximateDP{Epsilon: c.Epsilon}
}

// plainHeader begins a body that is not randomised.
const plainHeader = 0x1f

// encode appends the randomised body for x. For OneBit, x[0] is the score.
func (c *coder) encode(dst []byte, x []float64, seed local.Seed, src *noise.Source) ([]byte, error) {
	switch c.Mechanism {
	case NotPrivate:
		return c.plain(dst, x), nil
	case OneBit:
		return c.bit.Randomize(dst, x[0], src), nil
	case PRS:
		p, err := local.NewPRS(c.dim, c.Rows, c.Clip, c.Epsilon, seed)
		if err != nil {
			return dst, err
		}
		return p.Randomize(dst, x, src), nil
	case SignPRS:
		p, err := local.NewSignPRS(c.dim, c.Epsilon, seed)
		if err != nil {
			return dst, err
		}
		return p.Randomize(dst, x, src), nil
	}
	return c.vector.Randomize(dst, x, src), nil
}

// plain clips x to l1 norm Clip/2, as Laplace does, and appends it.
func (c *coder) plain(dst []byte, x []float64) []byte {
	norm := 0.0
	for _, v := range x {
		norm += math.Abs(v)
	}
	factor := 1.0
	if c.Clip > 0 && norm > c.Clip/2 {
		factor = c.Clip / 2 / norm
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

// decode overwrites dst with what a body says of the vector. For OneBit it is the
// sign that was reported, in dst[0]; see perturb. The error wraps
// [local.ErrReport].
func (c *coder) decode(dst []float64, body []byte, seed local.Seed) error {
	switch c.Mechanism {
	case NotPrivate:
		return c.readPlain(dst, body)
	case OneBit:
		v, err := c.bit.Estimate(body)
		dst[0] = 1
		if v < c.Clip/2 {
			dst[0] = -1
		}
		return err
	case PRS:
		p, err := local.NewPRS(c.dim, c.Rows, c.Clip, c.Epsilon, seed)
		if err != nil {
			return err
		}
		return p.Estimate(dst, body)
	case SignPRS:
		p, err := local.NewSignPRS(c.dim, c.Epsilon, seed)
		if err != nil {
			return err
		}
		return p.Estimate(dst, body)
	}
	return c.vector.Estimate(dst, body)
}

func (c *coder) readPlain(dst []float64, body []byte) error {
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
