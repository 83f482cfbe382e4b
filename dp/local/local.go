package local

import (
	"errors"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/fault"
)

// Sentinel errors. Everything this package returns wraps one of them.
var (
	// ErrParameter marks a public parameter outside its range.
	ErrParameter = fault.Input("invalid randomiser parameter")
	// ErrReport marks bytes that are not a report of the randomiser.
	ErrReport = errors.New("invalid report")
)

// The range of epsilon, of clips and of dimensions.
const (
	minEpsilon = 1e-3
	maxEpsilon = 64
	MinClip    = 1e-100
	MaxClip    = 1e100
	maxDim     = 1 << 24
)

// Vector is a local randomiser of a vector. Values of this package that
// implement it are immutable and safe for concurrent use, each goroutine with its
// own noise.Source.
type Vector interface {
	// Dim is the length of the input and of the estimate.
	Dim() int
	// Epsilon is an upper bound on the privacy loss of one report.
	Epsilon() float64
	// Event describes one report to an accountant.
	Event() dp.Event
	// Size is the length of a report in bytes.
	Size() int
	// Randomize appends the report on x to dst. It panics unless x has length
	// Dim. A vector that is not finite is treated as zero.
	Randomize(dst []byte, x []float64, src *noise.Source) []byte
	// Estimate overwrites dst, of length Dim, with what the report says of x. It
	// panics if dst has another length; the error wraps ErrReport.
	Estimate(dst []float64, report []byte) error
}

// Compile-time checks.
var (
	_ Vector = SignPRS{}
	_ Vector = PRS{}
	_ Vector = Laplace{}
	_ Vector = Coordinates{}
	_ Vector = PrivUnitG{}
	_ Vector = Ball{}
)

// version is the high half of a report's first byte.
const version = 1

// kind is the low half of a report's first byte. The numbers are part of the
// format and never change.
type kind byte

const (
	kindResponse kind = iota + 1
	kindOneBit
	kindSignPRS
	kindPRS
	kindLaplace
	kindPiecewise
	kindHybrid
	kindPrivUnitG
	kindBall
)

func (k kind) header() byte { return version<<4 | byte(k) }

// open checks length and header and returns the body of a report.
func (k kind) open(report []byte, size int) ([]byte, error) {
	if len(report) != size {
		return nil, fmt.Errorf("%w: %d bytes; want %d; check that both sides use the same parameters", ErrReport, len(report), size)
	}
	if report[0] != k.header() {
		return nil, fmt.Errorf("%w: it starts with %#02x; want %#02x (version %d, randomiser %d)", ErrReport, report[0], k.header(), version, k)
	}
	return report[1:], nil
}

// coins is the randomness of a discrete randomiser, by decision, so that tests
// can walk through every outcome of the same code with its exact probability.
type coins interface {
	below(threshold uint64) bool // with probability threshold/2^64
	uniform(n uint64) uint64     // in [0, n)
	bernoulli(p float64) bool
}

// secure draws the coins from a cryptographic source.
type secure struct{ src *noise.Source }

func (s secure) below(threshold uint64) bool { return s.src.Uint64() < threshold }
func (s secure) uniform(n uint64) uint64     { return s.src.Uint64n(n) }
func (s secure) bernoulli(p float64) bool    { return s.src.Bernoulli(p) }

func pure(epsilon float64) dp.Event { return dp.ApproximateDP{Epsilon: epsilon} }

func checkEpsilon(epsilon float64) error {
	if !(epsilon >= minEpsilon && epsilon <= maxEpsilon) {
		return fmt.Errorf("%w: epsilon is %v; want %v to %v", ErrParameter, epsilon, minEpsilon, maxEpsilon)
	}
	return nil
}

func checkDim(dim, limit int) error { return checkDimRange(dim, 1, limit) }

func checkDimRange(dim, least, limit int) error {
	if dim < least || dim > limit {
		return fmt.Errorf("%w: dimension is %d; want %d to %d", ErrParameter, dim, least, limit)
	}
	return nil
}

func checkClip(clip float64) error {
	if !(clip >= MinClip && clip <= MaxClip) {
		return fmt.Errorf("%w: clip is %v; want %v to %v", ErrParameter, clip, MinClip, MaxClip)
	}
	return nil
}

func mustLen(got, want int) {
	if got != want {
		panic(fmt.Sprintf("local: vector of length %d; want %d", got, want))
	}
}

// largest returns max |x_i|, or 0 if an entry is not finite: the caller then
// treats x as the zero vector. A comparison with NaN is false, so NaN is asked for
// by name.
func largest(x []float64) float64 {
	m := 0.0
	for _, v := range x {
		a := math.Abs(v)
		if math.IsNaN(a) || math.IsInf(a, 0) {
			return 0
		}
		m = max(m, a)
	}
	return m
}
