package examine

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/fnv"
	"math"

	"github.com/discreet-rl/discreet/dp/audit"
	"github.com/discreet-rl/discreet/dp/local"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/train"
)

// pair is two vectors that agents may have, and the seed of the task that they answer.
type pair struct {
	kind    string
	vectors [2][]float64
	task    local.Seed
}

// encoder makes the body of a report.
type encoder func(x []float64, task local.Seed, src *noise.Source) ([]byte, error)

// plainly encodes as an agent does; nothing is charged, for nothing is sent.
func plainly(c *train.Codec) encoder {
	return func(x []float64, task local.Seed, src *noise.Source) ([]byte, error) {
		return c.Encode(nil, x, task, receipt.None(), src)
	}
}

// subject is a randomiser that is looked at: as it is, or with a mistake.
type subject struct {
	codec  *train.Codec
	encode encoder
	claim  audit.Claim
	pairs  []pair
	runs   int
	seed   uint64
}

// pairsOf are vectors at and beyond every clip, opposite or beside nothing, in one coordinate and in all; and ones that no
// training makes. Tasks have several seeds, for a projection may not see some of them.
func pairsOf(c *train.Codec, clip float64, seed uint64) []pair {
	if clip == 0 {
		clip = 1
	}
	if c.Len() == 1 && c.Dim() > 1 || c.Randomizer().Mechanism == train.OneBit {
		score := func(kind string, a, b float64) pair {
			return pair{kind: kind, vectors: [2][]float64{{a}, {b}}}
		}
		return []pair{
			score("both ends of the range", clip, 0), score("far beyond both ends", 1e300, -1e300), score("one end of the range and NaN", 0, math.NaN()),
			score("infinities", math.Inf(1), math.Inf(-1)), score("one end of the range and the next smaller number", clip, math.Nextafter(clip, 0)),
		}
	}
	src := noise.NewSeeded(seed ^ 0x5eed)
	every := func(size float64) []float64 {
		x := make([]float64, c.Dim())
		for i := range x {
			x[i] = size
			if src.Uint64()&1 == 1 {
				x[i] = -size
			}
		}
		return x
	}
	one := func(i int, size float64) []float64 {
		x := make([]float64, c.Dim())
		x[i] = size
		return x
	}
	negative := func(x []float64) []float64 {
		y := make([]float64, len(x))
		for i := range x {
			y[i] = -x[i]
		}
		return y
	}
	missing := every(clip)
	missing[c.Dim()-1] = math.NaN()
	last := c.Dim() - 1
	var all []pair
	add := func(kind string, a, b []float64) {
		p := pair{kind: kind, vectors: [2][]float64{a, b}}
		binary.LittleEndian.PutUint64(p.task[:], seed+uint64(len(all)))
		all = append(all, p)
	}
	dense := every(clip)
	add("opposite vectors in one coordinate", one(0, clip/2), one(0, -clip/2))
	add("opposite vectors far beyond the clip", one(last, 1e6*clip), one(last, -1e6*clip))
	add("opposite vectors in all coordinates", dense, negative(dense))
	dense = every(1e6 * clip)
	add("opposite vectors in all coordinates, far beyond the clip", dense, negative(dense))
	add("random vectors close to zero", every(1e-9*clip), every(1e-9*clip))
	add("a vector and the zero vector", every(clip), make([]float64, c.Dim()))
	add("a vector and one with NaN", every(clip), missing)
	add("the largest numbers", one(0, math.MaxFloat64), one(0, -math.MaxFloat64))
	add("two coordinates", one(0, clip/2), one(last, clip/2))
	return all
}

// exactly is the largest loss between the vectors of a pair, by the law of their reports.
func (s *subject) exactly() (loss float64, ok bool) {
	for _, p := range s.pairs {
		var laws [2]map[string]float64
		for i, x := range p.vectors {
			if laws[i], ok = s.codec.Law(x, p.task); !ok {
				return 0, false
			}
		}
		for world, law := range laws {
			for body, mass := range law {
				loss = math.Max(loss, math.Log(mass/laws[1-world][body]))
			}
		}
	}
	return loss, true
}

// outcome is what was seen.
type outcome struct {
	found  audit.Found
	at     int // the pair that shows most
	broken string
	by     string
}

// examine bounds what reports on every pair show, and on the one that shows most at length. Each bound has its share of the
// false-alarm rate.
func (s *subject) examine(ctx context.Context) (outcome, error) {
	var o outcome
	for i := range s.pairs {
		found, err := s.bound(ctx, i, runsAll, 0, audit.DefaultFalseAlarm/2/float64(len(s.pairs)))
		if err != nil {
			return o, err
		}
		if i == 0 || found.Epsilon > o.found.Epsilon {
			o.found, o.at = found, i
		}
		if err := s.hold(&o, found); err != nil || o.broken != "" {
			return o, err
		}
	}
	if s.runs <= runsAll {
		return o, nil
	}
	found, err := s.bound(ctx, o.at, s.runs, 1, audit.DefaultFalseAlarm/2)
	if err != nil {
		return o, err
	}
	if found.Epsilon > o.found.Epsilon {
		o.found = found
	}
	return o, s.hold(&o, found)
}

func (s *subject) hold(o *outcome, found audit.Found) error {
	err := s.claim.Hold(found)
	if errors.Is(err, audit.ErrBroken) {
		o.broken, o.by = err.Error(), "lower bound"
		return nil
	}
	return err
}

func (s *subject) bound(ctx context.Context, at, runs int, part uint64, alarm float64) (audit.Found, error) {
	p := s.pairs[at]
	samples := audit.Samples{Columns: []string{"estimate along the first vector", "estimate along the second vector", "first coordinate", "length", "bytes", "reports like the first", "last byte"}}
	for world := range samples.Worlds {
		src := noise.NewSeeded(s.seed<<20 ^ part<<16 ^ uint64(at)<<8 ^ uint64(world)<<1 ^ 1<<63)
		for range runs {
			if err := ctx.Err(); err != nil {
				return audit.Found{}, err
			}
			body, err := s.encode(p.vectors[world], p.task, src)
			if err != nil {
				return audit.Found{}, err
			}
			samples.Worlds[world] = append(samples.Worlds[world], s.values(p, body))
		}
	}
	return samples.Bound(audit.Options{FalseAlarm: alarm})
}

// values are numbers of a body, by which the vectors may be told apart.
func (s *subject) values(p pair, body []byte) []float64 {
	estimate, part := make([]float64, s.codec.Dim()), make([]float64, s.codec.Dim())
	leaning := 0.0 // parts of a body that look like the first vector
	for rest := body; len(rest) >= s.codec.Size(); rest = rest[s.codec.Size():] {
		if s.codec.Decode(part, rest[:s.codec.Size()], p.task) != nil {
			break // what cannot be read tells by its bytes
		}
		for i, v := range part {
			estimate[i] += v
		}
		if along(part, p.vectors[0]) > along(part, p.vectors[1]) {
			leaning++
		}
	}
	sum := fnv.New32a()
	sum.Write(body)
	out := []float64{along(estimate, p.vectors[0]), along(estimate, p.vectors[1]), estimate[0], float64(len(body)), float64(sum.Sum32() % (1 << 16)), leaning, 0}
	if len(body) > 0 {
		out[6] = float64(body[len(body)-1])
	}
	return out
}

// along is the product of an estimate with the signs of a vector where that is largest: what a clip leaves of it.
func along(estimate, x []float64) float64 {
	largest := 0.0
	for _, v := range x {
		if math.Abs(v) > largest {
			largest = math.Abs(v)
		}
	}
	sum := 0.0
	for i := range min(len(x), len(estimate)) {
		if largest > 0 && x[i] == x[i] {
			sum += estimate[i] * math.Copysign(math.Min(math.Abs(x[i])/largest, 1), x[i])
		}
	}
	if math.IsNaN(sum) || math.IsInf(sum, 0) {
		return 0
	}
	return sum
}

// once has many agents report once each, of whom a fair coin gives each one vector of the pair.
func (s *subject) once(ctx context.Context, p pair, agents int) (audit.Once, error) {
	var run audit.OneRun
	src, coins := noise.NewSeeded(s.seed^3<<61), noise.NewSeeded(s.seed^5<<60)
	for range agents {
		if err := ctx.Err(); err != nil {
			return audit.Once{}, err
		}
		world := int(coins.Uint64() & 1)
		body, err := s.encode(p.vectors[world], p.task, src)
		if err != nil {
			return audit.Once{}, err
		}
		v := s.values(p, body)
		run.Member, run.Score = append(run.Member, world == 0), append(run.Score, v[0]-v[1])
	}
	if p.vectors[0][0] == 0 && len(p.vectors[0]) == 1 { // of a score the first is the lower end
		for i := range run.Score {
			run.Score[i] = -run.Score[i]
		}
	}
	return run.Bound(audit.Options{})
}
