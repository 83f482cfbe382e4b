package local

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/xmath"
)

// Response is k-ary randomised response (Warner 1965 for two buckets; Kairouz,
// Oh, Viswanath 2016): it reports the true bucket with probability
// e^epsilon/(e^epsilon+k-1), and each other one with probability
// 1/(e^epsilon+k-1). Make one with [NewResponse].
type Response struct {
	buckets uint64
	epsilon float64
	lie     uint64 // of 2^64
}

// NewResponse returns randomised response over 2 to 2^20 buckets. The error wraps
// [ErrParameter].
func NewResponse(buckets int, epsilon float64) (Response, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return Response{}, err
	}
	if buckets < 2 || buckets > 1<<20 {
		return Response{}, fmt.Errorf("%w: %d buckets; want 2 to %d", ErrParameter, buckets, 1<<20)
	}
	// Odds of the truth against all lies together: e^epsilon/(k-1).
	weight := xmath.DivDown(1, float64(buckets-1))
	return Response{uint64(buckets), epsilon, lieThreshold(epsilon, weight)}, nil
}

// Buckets returns the number of buckets.
func (r Response) Buckets() int { return int(r.buckets) }

// Epsilon bounds the privacy loss of one report from above.
func (r Response) Epsilon() float64 { return r.epsilon }

// Event describes one report to an accountant.
func (r Response) Event() dp.Event { return pure(r.epsilon) }

// Size returns 5, the bytes of a report.
func (r Response) Size() int { return 5 }

// Truth returns the probability with which the true bucket is reported.
func (r Response) Truth() float64 { return 1 - lieProbability(r.lie) }

// Randomize appends the report on bucket, in [0, Buckets), to dst. A bucket
// outside counts as bucket 0.
func (r Response) Randomize(dst []byte, bucket int, src *noise.Source) []byte {
	return r.randomize(dst, bucket, secure{src})
}

func (r Response) randomize(dst []byte, bucket int, c coins) []byte {
	truth := uint64(0)
	if bucket >= 0 && uint64(bucket) < r.buckets {
		truth = uint64(bucket)
	}
	said := truth
	if c.below(r.lie) {
		said = c.uniform(r.buckets - 1)
		if said >= truth {
			said++ // one of the others
		}
	}
	return binary.LittleEndian.AppendUint32(append(dst, kindResponse.header()), uint32(said))
}

// Decode returns the reported bucket. The error wraps [ErrReport].
func (r Response) Decode(report []byte) (int, error) {
	body, err := kindResponse.open(report, r.Size())
	if err != nil {
		return 0, err
	}
	said := binary.LittleEndian.Uint32(body)
	if uint64(said) >= r.buckets {
		return 0, fmt.Errorf("%w: bucket %d of %d", ErrReport, said, r.buckets)
	}
	return int(said), nil
}

// Estimate overwrites dst with unbiased estimates of the share of persons in each
// bucket, from counts of reports by bucket; both have length Buckets, otherwise it
// panics. Shares may be negative or above 1. With no reports they are NaN.
func (r Response) Estimate(dst []float64, counts []int64) {
	mustLen(len(dst), r.Buckets())
	mustLen(len(counts), r.Buckets())
	total := 0.0
	for _, n := range counts {
		total += float64(n)
	}
	lie := lieProbability(r.lie)
	other := lie / float64(r.buckets-1)
	for i, n := range counts {
		dst[i] = (float64(n)/total - other) / (1 - lie - other)
	}
}

// OneBit reports a number in [Low, High] by one bit: a coin whose bias is the
// number's place in the range, passed through randomised response (Duchi, Jordan,
// Wainwright 2018, in one dimension). An evolution strategy needs no more: the
// server knows the perturbation that the score belongs to. Make one with
// [NewOneBit].
type OneBit struct {
	low, high float64
	epsilon   float64
	lie       uint64
}

// NewOneBit returns the one-bit randomiser for numbers in [low, high], both
// within 1e100 of zero and low < high. The error wraps [ErrParameter].
func NewOneBit(low, high, epsilon float64) (OneBit, error) {
	if err := checkEpsilon(epsilon); err != nil {
		return OneBit{}, err
	}
	if !(low >= -MaxClip && high <= MaxClip && low < high) {
		return OneBit{}, fmt.Errorf("%w: range [%v, %v]; want low < high, both within %v of zero", ErrParameter, low, high, MaxClip)
	}
	return OneBit{low, high, epsilon, lieThreshold(epsilon, 1)}, nil
}

// Epsilon bounds the privacy loss of one report from above.
func (o OneBit) Epsilon() float64 { return o.epsilon }

// Event describes one report to an accountant.
func (o OneBit) Event() dp.Event { return pure(o.epsilon) }

// Size returns 2, the bytes of a report.
func (o OneBit) Size() int { return 2 }

// Randomize appends the report on x to dst. A number outside the range counts as
// the nearer end, one that is not finite as the middle.
func (o OneBit) Randomize(dst []byte, x float64, src *noise.Source) []byte {
	return o.randomize(dst, x, secure{src})
}

func (o OneBit) randomize(dst []byte, x float64, c coins) []byte {
	place := .5
	if !math.IsNaN(x) && !math.IsInf(x, 0) {
		place = min(1, max(0, (min(max(x, o.low), o.high)-o.low)/(o.high-o.low)))
	}
	bit := byte(0)
	if c.bernoulli(place) != c.below(o.lie) {
		bit = 1
	}
	return append(dst, kindOneBit.header(), bit)
}

// Estimate returns an unbiased estimate of the clipped number. It is one of two
// values, both outside the range. The error wraps [ErrReport].
func (o OneBit) Estimate(report []byte) (float64, error) {
	body, err := kindOneBit.open(report, o.Size())
	if err != nil {
		return 0, err
	}
	if body[0] > 1 {
		return 0, fmt.Errorf("%w: %d in place of a bit", ErrReport, body[0])
	}
	half := (o.high - o.low) / 2 / gain(o.lie)
	return o.low + (o.high-o.low)/2 + half*(2*float64(body[0])-1), nil
}

// gain is the factor by which randomised response shrinks the mean of a sign,
// 1 - 2 lie/2^64, computed without cancellation: 2^63 - lie is exact.
func gain(lie uint64) float64 { return math.Ldexp(float64(1<<63-lie), -63) }
