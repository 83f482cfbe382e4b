package transcript

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"time"

	"github.com/discreet-rl/discreet/fleet/fleetv1"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/internal/fleet/aggregator"
	"github.com/discreet-rl/discreet/train"
)

// ErrWrong marks a transcript that contradicts itself or its signatures.
var ErrWrong = errors.New("the transcript does not hold")

// Found is what a transcript says, recomputed.
type Found struct {
	Run     train.RunID
	Purpose string
	Rounds  uint64
	// At is when the end was signed, and Ended says that no round followed.
	At    time.Time
	Ended bool
	// Version is that of the last weights, and Reports is how many reports were accepted.
	Version, Reports uint64
	// Epsilon is that of one report, and Devices[n-1] is how many devices have drawn n permits: epsilon n times that each, at most.
	Epsilon float64
	Devices []uint64
	// NotChecked says what could not be recomputed, and why.
	NotChecked []string
}

// Version is the weights of one version, recomputed.
type Version struct {
	Version uint64    `json:"version"`
	Round   uint64    `json:"round"`
	Weights []float64 `json:"weights"`
}

// longestLine bounds a line of a transcript.
const longestLine = 1 << 30

// checker goes through a transcript.
type checker struct {
	run      *fleet.Run
	learning aggregator.Learning
	how      [sha256.Size]byte
	versions []state
	head     fleet.Head
	round    *fleet.Round
	previous fleet.Hash // of the last record, or of the run
	recorded bool       // the last round has a record
	moved    uint64     // reports that moved weights
	drawn    []uint64
	permits  uint64
	places   map[fleet.Hash]bool
	// baseline says that what one-bit reports are compared with is known, sums that all weights are.
	baseline, sums bool
	without        uint64 // rounds without their reports
	found          Found
	each           func(Version) error
}

// state is the weights of a version with the optimizer's memory.
type state struct {
	theta  []float64
	memory aggregator.Memory
}

func wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrWrong, fmt.Sprintf(format, args...))
}

// Verify checks a transcript against the root's public key, and hands the weights of every version to each, if it is not nil. The error wraps [ErrFile] where the file is
// none, and [ErrWrong] where anything in it is not as was signed, or does not follow.
func Verify(r io.Reader, root ed25519.PublicKey, each func(Version) error) (Found, error) {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 1<<16), longestLine)
	var first line
	if err := next(lines, &first); err != nil {
		return Found{}, err
	}
	c := &checker{places: map[fleet.Hash]bool{}, baseline: true, sums: true, each: each}
	if err := c.begin(first, root); err != nil {
		return Found{}, err
	}
	for {
		var l line
		if err := next(lines, &l); errors.Is(err, ErrFile) {
			return Found{}, wrong("after round %d: %v", c.head.Round, err)
		} else if err != nil {
			return Found{}, err
		}
		if l.End != nil {
			if err := c.end(l); err != nil {
				return Found{}, err
			}
			if lines.Scan() || lines.Err() != nil {
				return Found{}, wrong("something follows its end")
			}
			return c.found, nil
		}
		if err := c.add(l); err != nil {
			return Found{}, err
		}
	}
}

func next(lines *bufio.Scanner, l *line) error {
	if !lines.Scan() {
		if err := lines.Err(); err != nil {
			return fmt.Errorf("%w: %w", ErrFile, err)
		}
		return wrong("it was cut off: the signed end is missing")
	}
	d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
	d.DisallowUnknownFields()
	if err := d.Decode(l); err != nil {
		return fmt.Errorf("%w: %w", ErrFile, err)
	}
	return nil
}

// begin reads the run and the initial weights.
func (c *checker) begin(l line, root ed25519.PublicKey) error {
	if l.Schema != Schema {
		return fmt.Errorf("%w: schema %q; want %s", ErrFile, l.Schema, Schema)
	}
	var specs []*fleetv1.SignedSpec
	for _, s := range l.Run {
		specs = append(specs, s.message())
	}
	var err error
	if c.run, err = fleet.VerifyRun(root, specs); err != nil {
		return wrong("%v", err)
	}
	d := json.NewDecoder(bytes.NewReader(l.Learning))
	d.DisallowUnknownFields()
	if err := d.Decode(&c.learning); err != nil {
		return wrong("how weights are moved: %v", err)
	}
	if err := c.learning.Optimizer.Validate("optimizer"); err != nil {
		return wrong("%v", err)
	}
	theta, err := fleet.DecodeWeights(l.Weights)
	if err != nil || len(theta) != c.run.Dim {
		return wrong("%d initial weights of %d: %v", len(theta), c.run.Dim, err)
	}
	c.how, c.head, c.previous = sha256.Sum256(l.Learning), c.run.Head(), c.run.First
	c.found = Found{Run: c.run.ID, Purpose: c.run.Purpose, Epsilon: c.run.Randomizer.Epsilon}
	return c.version(state{theta, c.learning.NewMemory(c.run.Dim)}, 0)
}

// version adds the weights of the next version.
func (c *checker) version(s state, round uint64) error {
	c.versions = append(c.versions, s)
	if c.each == nil {
		return nil
	}
	return c.each(Version{uint64(len(c.versions) - 1), round, s.theta})
}

// add checks the next round.
func (c *checker) add(l line) error {
	round, err := c.run.VerifyRound(c.head, l.Round.message())
	if err != nil {
		return wrong("%v", err)
	}
	c.head, c.round, c.recorded = round.Head(), round, l.Record != nil
	c.found.Rounds++
	if l.Record == nil {
		c.sums, c.baseline = false, false
		c.found.NotChecked = append(c.found.NotChecked, fmt.Sprintf("round %d has no record, and weights from there on", round.Number))
		return nil
	}
	m, err := c.run.VerifyRecord(l.Record.message())
	if err != nil {
		return wrong("round %d: %v", round.Number, err)
	}
	at := func(format string, args ...any) error {
		return wrong("round %d: %s", round.Number, fmt.Sprintf(format, args...))
	}
	is := func(hash []byte, of [sha256.Size]byte) bool { return bytes.Equal(hash, of[:]) }
	switch {
	case m.GetRound() != round.Number || !is(m.GetSpecSha256(), round.Hash):
		return at("its record is of another round")
	case !is(m.GetPrevious(), c.previous):
		return at("its record does not follow the one before")
	case !is(m.GetLearningSha256(), c.how):
		return at("weights were moved in another way than the transcript says")
	case !is(m.GetReportsSha256(), sha256.Sum256(l.Hashes)):
		return at("the reports are not those of its record")
	case !is(m.GetPermitsSha256(), sha256.Sum256(l.Permits)):
		return at("the permits are not those of its record")
	}
	leaves, err := fleet.ParseAscending(l.Hashes)
	if err != nil || uint64(len(leaves)) != m.GetAccepted() {
		return at("%d hashes of %d reports: %v", len(leaves), m.GetAccepted(), err)
	}
	if err := c.counts(l, m); err != nil {
		return at("%v", err)
	}
	c.previous = sha256.Sum256(l.Record.Spec)
	c.found.Reports += m.GetAccepted()
	if err := c.moves(l, m, leaves); err != nil {
		return at("%v", err)
	}
	return nil
}

// counts holds the permits of a round against those before it: one a device.
func (c *checker) counts(l line, m *fleetv1.RoundRecord) error {
	places, err := fleet.ParseAscending(l.Permits)
	if err != nil {
		return err
	}
	for _, p := range places {
		if c.places[p] {
			return errors.New("a permit was drawn in an earlier round")
		}
		c.places[p] = true
	}
	c.permits += uint64(len(places))
	drawn, total := m.GetDrawn(), uint64(0)
	for i, n := range drawn {
		var same, below uint64 // before the round: devices with as many, and with one less
		if i < len(c.drawn) {
			same = c.drawn[i]
		}
		if below = math.MaxUint64; i > 0 {
			below = 0
			if i <= len(c.drawn) {
				below = c.drawn[i-1]
			}
		}
		if n < same || n > below || n == 0 {
			return fmt.Errorf("%d devices have drawn %d permits, and %d had before", n, i+1, same)
		}
		total += n
	}
	if len(drawn) < len(c.drawn) || len(drawn) > c.run.Reports || total != c.permits || m.GetAccepted() > uint64(len(places)) {
		return fmt.Errorf("%d reports by %d permits, %d in all, and devices drew %d; at most %d each", m.GetAccepted(), len(places), c.permits, total, c.run.Reports)
	}
	c.drawn = drawn
	return nil
}

// moves recomputes the sum from the reports, where they are there, and the weights from the sum.
func (c *checker) moves(l line, m *fleetv1.RoundRecord, leaves []fleet.Hash) error {
	evaluates := c.round.Kind == fleetv1.Kind_KIND_EVALUATE
	enough := m.GetAccepted() >= uint64(c.round.MinReports)
	applied := m.GetState() == fleetv1.RoundState_ROUND_STATE_APPLIED
	switch {
	case !applied && m.GetState() != fleetv1.RoundState_ROUND_STATE_ABANDONED, applied && !enough:
		return fmt.Errorf("it is %v with %d reports", m.GetState(), m.GetAccepted())
	case (len(m.GetSumSha256()) > 0) != (enough && !evaluates) || m.GetPositive() > m.GetAccepted() || !evaluates && m.GetPositive() > 0:
		return fmt.Errorf("a sum, or answers, of a round that has none, or none of one that has")
	}
	var from state
	if c.sums {
		if c.round.Version >= uint64(len(c.versions)) {
			return fmt.Errorf("it starts from version %d, which is not there", c.round.Version)
		}
		if from = c.versions[c.round.Version]; fleet.Hash(train.HashWeights(from.theta)) != c.round.WeightsHash {
			return fmt.Errorf("it starts from other weights than those that follow from the rounds before")
		}
	}
	sum, baseline, err := c.sum(l, m, from, leaves)
	if err != nil || !c.sums {
		return err
	}
	if sum != nil {
		to := state{slices.Clone(from.theta), from.memory}
		to.memory.Baseline = baseline
		to.memory.Optimizer.First, to.memory.Optimizer.Second = slices.Clone(from.memory.Optimizer.First), slices.Clone(from.memory.Optimizer.Second)
		err := c.learning.Move(c.round, to.theta, &to.memory, c.moved, m.GetAccepted(), sum)
		switch {
		case errors.Is(err, aggregator.ErrDiverged) == applied:
			return fmt.Errorf("it is %v, and its weights: %v", m.GetState(), err)
		case applied:
			c.moved += m.GetAccepted()
			if err := c.version(to, c.round.Number); err != nil {
				return err
			}
		}
	}
	last := uint64(len(c.versions) - 1)
	if weights := train.HashWeights(c.versions[last].theta); m.GetVersion() != last || !bytes.Equal(m.GetWeightsSha256(), weights[:]) {
		return fmt.Errorf("its record says version %d of the weights, or others, where version %d follows", m.GetVersion(), last)
	}
	return nil
}

// sum reads the sum of a round, nil where it has none, and recomputes it from the reports, with what one-bit reports are compared with after it.
func (c *checker) sum(l line, m *fleetv1.RoundRecord, from state, leaves []fleet.Hash) (sum []float64, baseline float64, err error) {
	baseline = from.memory.Baseline
	if len(m.GetSumSha256()) > 0 {
		if len(l.Sum) != 8*c.run.Dim {
			return nil, 0, fmt.Errorf("a sum of %d bytes; want %d", len(l.Sum), 8*c.run.Dim)
		}
		for b := range slices.Chunk(l.Sum, 8) {
			sum = append(sum, math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
		if digest := aggregator.DigestOf(m.GetAccepted(), sum); !bytes.Equal(digest[:], m.GetSumSha256()) {
			return nil, 0, errors.New("the sum is not that of its record")
		}
	} else if len(l.Sum) > 0 {
		return nil, 0, errors.New("a sum where none moves weights")
	}
	if len(l.Reports) == 0 && len(leaves) > 0 {
		c.without++
		c.baseline = c.baseline && c.round.Codec().Randomizer().Mechanism != train.OneBit
		return sum, baseline, nil
	}
	found := make([]fleet.Hash, 0, len(l.Reports))
	for i, r := range l.Reports {
		if len(r.Nullifier) != len(fleet.Hash{}) || i > 0 && bytes.Compare(l.Reports[i-1].Nullifier, r.Nullifier) >= 0 {
			return nil, 0, errors.New("reports that are not in the order of their nullifiers")
		}
		found = append(found, fleet.Leaf(c.run.ID, c.round.Number, [32]byte(r.Nullifier), r.Body))
	}
	if !bytes.Equal(fleet.Ascending(found), l.Hashes) {
		return nil, 0, errors.New("a report is not one of its record")
	}
	evaluates := c.round.Kind == fleetv1.Kind_KIND_EVALUATE
	if !evaluates && (!c.sums || !c.baseline || sum == nil) { // nothing is known to add them to, or nothing was added up
		if sum != nil {
			c.without++
		}
		return sum, baseline, nil
	}
	u, err := c.learning.Apply(c.round, from.theta, from.memory, c.moved, func(f func([32]byte, []byte) error) error {
		for _, r := range l.Reports {
			if err := f([32]byte(r.Nullifier), r.Body); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil && !errors.Is(err, aggregator.ErrDiverged) {
		return nil, 0, err
	}
	if evaluates {
		if u.Positive != m.GetPositive() {
			return nil, 0, fmt.Errorf("%d reports say yes, and its record says %d", u.Positive, m.GetPositive())
		}
		return nil, baseline, nil
	}
	if !bytes.Equal(u.Digest[:], m.GetSumSha256()) {
		return nil, 0, errors.New("the reports add up to another sum")
	}
	return sum, u.Memory.Baseline, nil
}

// end checks that nothing was cut off.
func (c *checker) end(l line) error {
	m, err := c.run.VerifyEnd(l.End.message())
	if err != nil {
		return wrong("%v", err)
	}
	last := c.previous[:]
	if c.head.Round == 0 || !c.recorded {
		last = nil
	}
	if m.GetRounds() != c.head.Round || !bytes.Equal(m.GetRecordSha256(), last) {
		return wrong("it ends after round %d, and was signed to end after round %d, or another one", c.head.Round, m.GetRounds())
	}
	c.found.At, c.found.Ended = time.UnixMilli(m.GetAt()), m.GetEnded()
	c.found.Version = uint64(len(c.versions) - 1)
	for i, n := range c.drawn {
		exactly := n
		if i+1 < len(c.drawn) {
			exactly -= c.drawn[i+1]
		}
		c.found.Devices = append(c.found.Devices, exactly)
	}
	if c.without > 0 {
		c.found.NotChecked = append(c.found.NotChecked, fmt.Sprintf("the sums, or answers, of %d of %d rounds, whose reports are not in the transcript", c.without, c.found.Rounds))
	}
	return nil
}
