package local

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// Seed determines a public projection. The server draws it, fresh for each task.
type Seed [32]byte

// ReducedDim is the number of numbers worth reporting at a budget of epsilon:
// max(1, min(dim, floor(epsilon/2.5))) (Wang et al. 2019, section IV).
func ReducedDim(dim int, epsilon float64) int {
	return max(1, min(dim, int(math.Floor(epsilon/2.5))))
}

// projection is a random dhat x dim matrix with independent entries -sqrt 3, 0,
// sqrt 3 of probability 1/6, 2/3, 1/6 (Achlioptas 2003), rows one after the other.
// It is public. Its bytes are SHA-256(seed, i) for i = 0, 1, ... as little-endian
// 64-bit integers; bytes above 251 are skipped, the others count modulo 6: 0 is
// -sqrt 3, 1 is sqrt 3, the rest 0.
type projection struct {
	dim, rows int
	seed      Seed
}

// entries yields the signs of the matrix, -1, 0 or +1, in order.
type entries struct {
	input [len(Seed{}) + 8]byte // seed and number of the next block
	block [sha256.Size]byte
	left  int // bytes of block that were not read yet, at its end
}

func (p projection) entries() entries {
	var e entries
	copy(e.input[:], p.seed[:])
	return e
}

func (e *entries) next() int {
	for {
		if e.left == 0 {
			e.block, e.left = sha256.Sum256(e.input[:]), len(e.block)
			number := e.input[len(Seed{}):]
			binary.LittleEndian.PutUint64(number, binary.LittleEndian.Uint64(number)+1)
		}
		b := e.block[len(e.block)-e.left]
		e.left--
		if b >= 252 { // 252 is 42 times 6: the remainder is uniform
			continue
		}
		switch b % 6 {
		case 0:
			return -1
		case 1:
			return 1
		}
		return 0
	}
}

// project returns row x of the matrix, without its factor sqrt 3, after division of
// x by scale > 0, its largest entry: nothing overflows.
func (e *entries) project(x []float64, scale float64) float64 {
	sum := 0.0
	for _, v := range x {
		switch e.next() {
		case 1:
			sum += v / scale
		case -1:
			sum -= v / scale
		}
	}
	return sum
}

// back adds weight times the matrix's transposed row to dst.
func (e *entries) back(dst []float64, weight float64) {
	for i := range dst {
		switch e.next() {
		case 1:
			dst[i] += weight
		case -1:
			dst[i] -= weight
		}
	}
}

// bits is what both projected randomisers share: a projection, one randomised
// bit for each row, and the share of epsilon that each bit gets.
type bits struct {
	projection
	kind    kind
	epsilon float64
	lie     uint64
}

func newBits(k kind, dim, rows int, epsilon float64, seed Seed) (bits, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return bits{}, err
	}
	if err := checkDim(dim, maxDim); err != nil {
		return bits{}, err
	}
	if rows < 1 || rows > dim {
		return bits{}, fmt.Errorf("%w: reduced dimension is %d; want 1 to the dimension %d", ErrParameter, rows, dim)
	}
	share := xmath.DivDown(epsilon, float64(rows))
	if share < minEpsilon {
		return bits{}, fmt.Errorf("%w: reduced dimension %d leaves epsilon %v a bit; want %v at least: reduce it", ErrParameter, rows, share, minEpsilon)
	}
	return bits{projection{dim, rows, seed}, k, epsilon, lieThreshold(share, 1)}, nil
}

// Dim returns the length of the input and of the estimate.
func (b bits) Dim() int { return b.dim }

// ReducedDim returns the number of bits in a report.
func (b bits) ReducedDim() int { return b.rows }

// Epsilon bounds the privacy loss of one report from above.
func (b bits) Epsilon() float64 { return b.epsilon }

// Event describes one report to an accountant.
func (b bits) Event() dp.Event { return pure(b.epsilon) }

// Size returns the bytes of a report: one, and one for each eight bits.
func (b bits) Size() int { return 1 + (b.rows+7)/8 }

// randomize appends a report in which bit i is set with probability place(u_i),
// u_i the i-th projection of x, and then passed through randomised response. So
// each bit is epsilon/rows-private whatever place returns in [0, 1].
func (b bits) randomize(dst []byte, x []float64, place func(u, scale float64) float64, c coins) []byte {
	mustLen(len(x), b.dim)
	scale := largest(x)
	dst = append(dst, b.kind.header())
	e := b.entries()
	var packed byte
	for i := range b.rows {
		p := .5
		if scale > 0 {
			p = place(e.project(x, scale), scale)
		}
		if c.bernoulli(p) != c.below(b.lie) {
			packed |= 1 << (i % 8)
		}
		if i%8 == 7 || i == b.rows-1 {
			dst = append(dst, packed)
			packed = 0
		}
	}
	return dst
}

// estimate overwrites dst with weight M' s, where s holds the signs that were
// reported and M the matrix of signs.
func (b bits) estimate(dst []float64, report []byte, weight float64) error {
	mustLen(len(dst), b.dim)
	body, err := b.kind.open(report, b.Size())
	if err != nil {
		return err
	}
	if used := b.rows % 8; used != 0 && body[len(body)-1]>>used != 0 {
		return fmt.Errorf("%w: a bit is set beyond the %d that a report has", ErrReport, b.rows)
	}
	clear(dst)
	e := b.entries()
	for i := range b.rows {
		if body[i/8]>>(i%8)&1 == 1 {
			e.back(dst, weight)
		} else {
			e.back(dst, -weight)
		}
	}
	return nil
}

// SignPRS reports the signs of random projections of a vector, each through
// randomised response, so only its direction is used: projected random signs
// (Ono, Takahashi 2020) in the limit of a small clip, with a projection that the
// server knows already, so that [SignPRS.ReducedDim] bits are all that is sent.
// Make one with [NewSignPRS].
type SignPRS struct{ bits }

// NewSignPRS returns the randomiser for vectors of length dim, with
// [ReducedDim] bits. The error wraps [ErrParameter].
func NewSignPRS(dim int, epsilon float64, seed Seed) (SignPRS, error) {
	b, err := newBits(kindSignPRS, dim, ReducedDim(dim, epsilon), epsilon, seed)
	return SignPRS{b}, err
}

// Randomize appends the report on x to dst. A projection of exactly 0 gives a fair
// coin, so the report on the zero vector is uniform.
func (s SignPRS) Randomize(dst []byte, x []float64, src *noise.Source) []byte {
	return s.randomize(dst, x, signPlace, secure{src})
}

func signPlace(u, _ float64) float64 {
	switch {
	case u > 0:
		return 1
	case u < 0:
		return 0
	}
	return .5
}

// Estimate overwrites dst with an estimate of x/|x|. Averaged over seeds it is
// unbiased in the limit in which no coordinate dominates x, where projections are
// normal; for a vector with one coordinate its mean is shorter by the factor
// sqrt(pi/6) = .72. For a given seed it lies in the span of ReducedDim rows.
func (s SignPRS) Estimate(dst []float64, report []byte) error {
	// E[m sign(m'v)] = sqrt(2/pi) v for normal m and a unit vector v.
	return s.estimate(dst, report, math.Sqrt(3*math.Pi/2)/(float64(s.rows)*gain(s.lie)))
}

// PRS is the projected random sign mechanism as printed (Ono, Takahashi 2020, algorithm 3), except
// for what is sent: projections are clipped to [-Clip, Clip], each becomes a random sign with that
// mean, and each sign goes through randomised response with epsilon/ReducedDim. The paper sends
// M'u; here the server applies M', which it knows from the seed. Make one with [NewPRS].
type PRS struct {
	bits
	clip float64
}

// NewPRS returns the randomiser for vectors of length dim with reduced dimension
// rows, 1 to dim, and the given clip of a projection. [ReducedDim] is a good
// choice of rows. The error wraps [ErrParameter].
func NewPRS(dim, rows int, clip, epsilon float64, seed Seed) (PRS, error) {
	if err := checkClip(clip); err != nil {
		return PRS{}, err
	}
	b, err := newBits(kindPRS, dim, rows, epsilon, seed)
	return PRS{b, clip}, err
}

// Clip returns the bound on the absolute value of a projection.
func (p PRS) Clip() float64 { return p.clip }

// Randomize appends the report on x to dst.
func (p PRS) Randomize(dst []byte, x []float64, src *noise.Source) []byte {
	return p.randomize(dst, x, p.place, secure{src})
}

// place is (u + C)/(2C) for the clipped projection u. The product may overflow to
// an infinity, which is clipped; it is never NaN, for scale > 0.
func (p PRS) place(u, scale float64) float64 {
	r := math.Sqrt(3) * u * scale / p.clip
	return .5 + .5*min(1, max(-1, r))
}

// Estimate overwrites dst with an estimate of x, unbiased over seeds as long as no
// projection is clipped: the printed M'u divided by
// rows (e^(epsilon/rows)-1)/(e^(epsilon/rows)+1).
func (p PRS) Estimate(dst []float64, report []byte) error {
	return p.estimate(dst, report, math.Sqrt(3)*p.clip/(float64(p.rows)*gain(p.lie)))
}
