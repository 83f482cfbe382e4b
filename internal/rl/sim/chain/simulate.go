package chain

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Options says what to simulate. The zero value of every field but Episodes has
// a meaning.
type Options struct {
	// Episodes is the number of episodes, at least 1.
	Episodes int
	// Seed chooses the random numbers. Equal seeds give equal data, whatever the
	// number of workers, and the first episodes of a longer simulation are those
	// of a shorter one.
	Seed uint64
	// Advance is the behaviour policy's probability of action 1; 0 stands for
	// 0.5. It must be at least 1e-4 unless MaxSteps bounds the episodes.
	Advance float64
	// Start holds the probability of each of the States first states; nil is
	// uniform. See [At].
	Start []float64
	// MaxSteps truncates an episode that has not terminated after so many steps,
	// and records its final observation; 0 means no limit.
	MaxSteps int
	// EpisodesPerPerson is the number of consecutive episodes that a person owns
	// (the last person may own fewer); 0 stands for 1.
	EpisodesPerPerson int
	// Workers is the number of goroutines; 0 stands for GOMAXPROCS.
	Workers int
}

// unit is one in the 53-bit numbers that draws are compared with.
const unit = 1 << 53

// chunk is the number of episodes that share one random stream. It is part of
// what a seed means.
const chunk = 256

// minAdvance keeps the expected length of an unlimited episode below 400,000.
const minAdvance = 1e-4

// Simulate plays episodes under the behaviour policy and returns them as a
// dataset with one observation column, Column.
//
// Every chunk of episodes is played twice from the same random stream, first to
// count its steps and then to write them where they belong, so that no buffer
// grows and nothing is copied.
func Simulate(o Options) (*trajectory.Dataset, error) {
	sim, err := newSimulator(o)
	if err != nil {
		return nil, err
	}
	sim.forEachChunk(sim.count)
	sim.allocate()
	sim.forEachChunk(sim.fill)
	return sim.d, nil
}

type simulator struct {
	episodes, perPerson int
	maxSteps            int
	workers             int
	seed                uint64
	advance             float64
	threshold           uint64
	start               []uint64
	d                   *trajectory.Dataset
}

func newSimulator(o Options) (*simulator, error) {
	sim := &simulator{
		episodes: o.Episodes, perPerson: max(o.EpisodesPerPerson, 1),
		maxSteps: o.MaxSteps, workers: o.Workers, seed: o.Seed, advance: o.Advance,
	}
	if o.Episodes < 1 || o.EpisodesPerPerson < 0 || o.MaxSteps < 0 || o.Workers < 0 {
		return nil, fmt.Errorf("%w: episodes is %d, episodes per person %d, step limit %d, workers %d; want at least 1 episode and no negative number",
			ErrOptions, o.Episodes, o.EpisodesPerPerson, o.MaxSteps, o.Workers)
	}
	if sim.advance == 0 {
		sim.advance = 0.5
	}
	if !(sim.advance > 0 && sim.advance <= 1) {
		return nil, fmt.Errorf("%w: advance is %v; want above 0 and at most 1", ErrOptions, o.Advance)
	}
	if sim.advance < minAdvance && o.MaxSteps == 0 {
		return nil, fmt.Errorf("%w: advance is %v and episodes have no step limit; set one, or advance with at least %v", ErrOptions, o.Advance, minAdvance)
	}
	if sim.workers == 0 {
		sim.workers = runtime.GOMAXPROCS(0)
	}
	if sim.maxSteps == 0 {
		sim.maxSteps = math.MaxInt
	}
	sim.threshold = uint64(sim.advance * unit)
	var err error
	if sim.start, err = cumulative(o.Start); err != nil {
		return nil, err
	}
	sim.d = &trajectory.Dataset{
		Columns:      []string{Column},
		EpisodeStart: make([]int, o.Episodes+1),
		Terminated:   make([]bool, o.Episodes),
	}
	if o.MaxSteps > 0 {
		sim.d.Final = make([]float64, o.Episodes)
		sim.d.HasFinal = make([]bool, o.Episodes)
	}
	return sim, nil
}

// forEachChunk runs f on every chunk, numbered from 0, each once.
func (sim *simulator) forEachChunk(f func(c, lo, hi int)) {
	chunks := (sim.episodes + chunk - 1) / chunk
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(sim.workers, chunks) {
		wg.Go(func() {
			for {
				c := int(next.Add(1)) - 1
				if c >= chunks {
					return
				}
				f(c, c*chunk, min((c+1)*chunk, sim.episodes))
			}
		})
	}
	wg.Wait()
}

// stream returns the random numbers of a chunk. The two mixes keep the streams
// of neighbouring seeds and chunks apart.
func (sim *simulator) stream(c int) *rand.PCG {
	return rand.NewPCG(mix(sim.seed), mix(^uint64(c)))
}

// mix is the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func (sim *simulator) first(rng *rand.PCG) int {
	u := rng.Uint64() >> 11
	s := 0
	for sim.start[s] <= u {
		s++
	}
	return s
}

// advanceBit is 1 with the advance probability and 0 otherwise, without a
// branch that nobody could predict: both numbers are below 2^54, so that the
// difference is negative exactly when the draw is below the threshold.
func advanceBit(rng *rand.PCG, threshold uint64) uint64 {
	return (rng.Uint64()>>11 - threshold) >> 63
}

// count writes the length of every episode of a chunk to EpisodeStart[e+1].
func (sim *simulator) count(c, lo, hi int) {
	rng := sim.stream(c)
	for e := lo; e < hi; e++ {
		state, steps := uint64(sim.first(rng)), 0
		for state < States && steps < sim.maxSteps {
			state += advanceBit(rng, sim.threshold)
			steps++
		}
		sim.d.EpisodeStart[e+1] = steps
	}
}

// allocate turns lengths into offsets and makes the columns.
func (sim *simulator) allocate() {
	d := sim.d
	rows := 0
	for e := range sim.episodes {
		rows += d.EpisodeStart[e+1]
		d.EpisodeStart[e+1] = rows
	}
	d.Obs = make([]float64, rows)
	d.Action = make([]int32, rows)
	d.Reward = make([]float64, rows)
	d.BehaviorProb = make([]float64, rows)
	for e := 0; e < sim.episodes; e += sim.perPerson {
		d.PersonStart = append(d.PersonStart, e)
	}
	d.PersonStart = append(d.PersonStart, sim.episodes)
	d.EpisodeID = names(sim.episodes)
	d.PersonID = d.EpisodeID[:len(d.PersonStart)-1]
	d.Origin = make([]string, sim.episodes)
	d.FirstRow = make([]int, sim.episodes)
	for e := range sim.episodes {
		d.Origin[e] = "chain"
		d.FirstRow[e] = d.EpisodeStart[e] + 1
	}
}

// names returns "0", "1", ..., all cut from one string.
func names(n int) []string {
	ends := make([]int, n)
	var text []byte
	for i := range ends {
		text = strconv.AppendInt(text, int64(i), 10)
		ends[i] = len(text)
	}
	all, from := string(text), 0
	out := make([]string, n)
	for i, end := range ends {
		out[i] = all[from:end]
		from = end
	}
	return out
}

// fill plays the episodes of a chunk again and writes them down.
func (sim *simulator) fill(c, lo, hi int) {
	rng := sim.stream(c)
	d := sim.d
	prob := [2]float64{1 - sim.advance, sim.advance}
	for e := lo; e < hi; e++ {
		state := uint64(sim.first(rng))
		from, to := d.EpisodeStart[e], d.EpisodeStart[e+1]
		obs, action, behavior := d.Obs[from:to], d.Action[from:to], d.BehaviorProb[from:to]
		for t := range obs {
			obs[t] = float64(state)
			bit := advanceBit(rng, sim.threshold)
			action[t] = int32(bit)
			behavior[t] = prob[bit&1]
			state += bit
		}
		if state == States {
			d.Reward[to-1] = 1
			d.Terminated[e] = true
		} else {
			d.Final[e] = float64(state)
			d.HasFinal[e] = true
		}
	}
}
