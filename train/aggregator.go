package train

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"io"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/discreet-rl/discreet/dp/local"
)

// Options are the aggregator's own affairs.
type Options struct {
	// Secret makes tokens; it is drawn if nil.
	Secret *[32]byte
	// RunSeed determines the seeds of all tasks; it is drawn if nil. It is public
	// once tasks have been issued.
	RunSeed *[32]byte
	// Log receives every accepted report as it came, of ReportSize bytes, before it
	// counts. [Aggregator.Replay] of the same bytes in the same order rebuilds the
	// same weights.
	Log io.Writer
	// Now is the clock that deadlines are held against; time.Now if nil.
	Now func() time.Time
	// KnowsTasks says to [RestoreAggregator] that its caller knows every task that was
	// issued after the snapshot, so that no slots are left out for them.
	KnowsTasks bool
}

// Aggregator holds the weights, issues tasks and turns reports into updates. It is
// safe for concurrent use. It sees nothing but randomised reports, so everything
// that it does with them is post-processing.
type Aggregator struct {
	mu      sync.Mutex
	terms   Terms
	codec   *Codec
	secret  [32]byte
	log     io.Writer
	now     func() time.Time
	mac     hash.Hash
	sum     [sha256.Size]byte
	message [48]byte
	weight  float64 // of a decoded estimate

	state    state
	estimate []float64
	failed   error
	hash     [sha256.Size]byte // of state.Theta
}

// state is what reports change; see Snapshot.
type state struct {
	Run      RunID          `json:"run"`
	RunSeed  [32]byte       `json:"run_seed"`
	Theta    []float64      `json:"theta"`
	Version  uint64         `json:"version"`
	Issued   uint64         `json:"issued"`
	Accepted uint64         `json:"accepted"`
	Sum      []float64      `json:"sum"`
	InBuffer int            `json:"in_buffer"`
	Size     float64        `json:"size"` // of the buffer, before it is rounded down
	Baseline float64        `json:"baseline"`
	Steps    OptimizerState `json:"optimizer"`
	Spent    spent          `json:"spent"`
	Counts   Counts         `json:"counts"`
}

// NewAggregator starts a run from the weights theta, which are copied.
func NewAggregator(t Terms, theta []float64, o Options) (*Aggregator, error) {
	t.Optimizer = t.Optimizer.withDefaults()
	if err := t.check(); err != nil {
		return nil, err
	}
	if len(theta) != t.Dim || !allFinite(theta) {
		return nil, fmt.Errorf("%w: %d initial weights; want %d, all finite", ErrConfig, len(theta), t.Dim)
	}
	c, err := NewCodec(t.Randomizer, t.Dim)
	if err != nil {
		return nil, err
	}
	a := &Aggregator{terms: t, codec: c, log: o.Log, now: o.Now, weight: 1}
	if a.now == nil {
		a.now = time.Now
	}
	a.secret = drawn(o.Secret)
	a.mac = hmac.New(sha256.New, a.secret[:])
	if t.Printed {
		rows := float64(c.filled.Rows)
		a.weight = rows * math.Tanh(t.Randomizer.Epsilon/rows/2)
	}
	a.estimate = make([]float64, t.Dim)
	a.state = state{RunSeed: drawn(o.RunSeed), Theta: slices.Clone(theta), Sum: make([]float64, t.Dim), Size: float64(t.Buffer)}
	run := sha256.Sum256(append([]byte("discreet training run 1"), a.state.RunSeed[:]...))
	copy(a.state.Run[:], run[:])
	a.state.Steps = t.Optimizer.NewState(t.Dim)
	a.state.Spent.First = []uint64{0}
	a.hash = HashWeights(theta)
	return a, nil
}

func drawn(given *[32]byte) [32]byte {
	if given != nil {
		return *given
	}
	var b [32]byte
	_, _ = rand.Read(b[:]) // it ends the process rather than fail
	return b
}

func allFinite(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}

// Terms returns the terms of the run, with defaults filled in.
func (a *Aggregator) Terms() Terms { return a.terms }

// ReportSize is the length of every report.
func (a *Aggregator) ReportSize() int { return reportHeader + a.codec.Size() }

// RunSeed is what the seeds of all tasks follow from. It tells runs apart and is
// public once tasks have been issued.
func (a *Aggregator) RunSeed() [32]byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.state.RunSeed
}

// Issue hands out the next task, for the weights as they are. A deadline is in
// seconds since 1970; 0 means none.
func (a *Aggregator) Issue(deadline int64) Task {
	a.mu.Lock()
	defer a.mu.Unlock()
	t := a.task(a.state.Issued, a.state.Version, deadline, a.hash)
	a.state.Issued++
	return t
}

// Reissue makes a task again that was issued, on a slot, for the weights of an earlier
// version. The aggregator does not remember those: they have to be the same.
func (a *Aggregator) Reissue(slot, version uint64, deadline int64, theta []float64) Task {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.task(slot, version, deadline, HashWeights(theta))
}

func (a *Aggregator) task(slot, version uint64, deadline int64, weights [sha256.Size]byte) Task {
	return Task{
		Run: a.state.Run, Slot: slot, Version: version, Weights: weights, Deadline: deadline,
		Seed: taskSeed(a.state.RunSeed, slot), Token: a.token(slot, version, deadline),
		Dim: a.terms.Dim, Randomizer: a.terms.Randomizer,
	}
}

// taskSeed is a fresh public seed for each task.
func taskSeed(run [32]byte, slot uint64) local.Seed {
	var in [22 + 32 + 8]byte
	copy(in[:], "discreet task's seed 1")
	copy(in[22:], run[:])
	binary.LittleEndian.PutUint64(in[54:], slot)
	return sha256.Sum256(in[:])
}

// token authenticates what a report echoes of its task.
func (a *Aggregator) token(slot, version uint64, deadline int64) Token {
	m := a.message[:0]
	m = append(m, a.state.Run[:]...)
	m = binary.LittleEndian.AppendUint64(m, slot)
	m = binary.LittleEndian.AppendUint64(m, version)
	m = binary.LittleEndian.AppendUint64(m, uint64(deadline))
	a.mac.Reset()
	a.mac.Write(m)
	a.mac.Sum(a.sum[:0])
	return Token(a.sum[:16])
}

// Theta overwrites dst, of length Dim, with the current weights and returns their
// version.
func (a *Aggregator) Theta(dst []float64) uint64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	copy(dst, a.state.Theta)
	return a.state.Version
}

// Status is public knowledge about a run.
type Status struct {
	Version  uint64 `json:"version"`
	Issued   uint64 `json:"issued"`
	Accepted uint64 `json:"accepted"`
	InBuffer int    `json:"in_buffer"`
	Buffer   int    `json:"buffer"`
	Counts   Counts `json:"counts"`
	Done     bool   `json:"done"`
}

// Status returns what has been counted so far.
func (a *Aggregator) Status() Status {
	a.mu.Lock()
	defer a.mu.Unlock()
	s := &a.state
	return Status{Version: s.Version, Issued: s.Issued, Accepted: s.Accepted, InBuffer: s.InBuffer,
		Buffer: int(s.Size), Counts: s.Counts, Done: s.Accepted >= a.terms.Submissions}
}
