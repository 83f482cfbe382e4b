package train

import (
	"encoding/json"
	"fmt"
	"slices"
)

// aggregatorSnapshot is the written form of an aggregator.
type aggregatorSnapshot struct {
	Schema string   `json:"schema"`
	Terms  Terms    `json:"terms"`
	Secret [32]byte `json:"secret"`
	State  state    `json:"state"`
}

const aggregatorSchema = "discreet/aggregator/v1"

// Snapshot writes all that the aggregator is, as JSON: weights, buffer, optimizer,
// spent tokens, counts, and the secret that tokens are made with. Keep it as
// closely as the aggregator itself. Reports that were accepted later are in the
// log: give those to [Aggregator.Replay] after [RestoreAggregator].
func (a *Aggregator) Snapshot() ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed != nil {
		return nil, a.failed
	}
	return json.Marshal(aggregatorSnapshot{aggregatorSchema, a.terms, a.secret, a.state})
}

// reservedSlots is how many tasks may have been issued between a snapshot and the
// end of its process without a restored aggregator issuing one of them again.
const reservedSlots = 1 << 16

// mostSlots bounds the slots that a run may issue; a simulation numbers its
// evaluating agents from there.
const mostSlots = 1 << 63

// RestoreAggregator makes an aggregator that goes on where a snapshot was taken:
// the same reports move it in the same way, bit for bit. New tasks leave out the
// 65536 slots after the snapshot's last, for agents may be at work on those; keep
// snapshots that close together, or say Options.KnowsTasks. Secret and RunSeed of the
// options are not used. The error wraps [ErrState].
func RestoreAggregator(data []byte, o Options) (*Aggregator, error) {
	var s aggregatorSnapshot
	if err := json.Unmarshal(data, &s); err != nil || s.Schema != aggregatorSchema {
		return nil, fmt.Errorf("%w: not a snapshot of this version", ErrState)
	}
	o.Secret, o.RunSeed = &s.Secret, &s.State.RunSeed
	a, err := NewAggregator(s.Terms, s.State.Theta, o)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrState, err)
	}
	if !a.fits(&s.State) {
		return nil, fmt.Errorf("%w: the snapshot contradicts itself", ErrState)
	}
	a.state = s.State
	if !o.KnowsTasks {
		a.state.Issued += reservedSlots
	}
	return a, nil
}

// fits tells whether a state can be one of this aggregator.
func (a *Aggregator) fits(s *state) bool {
	same := func(x, of []float64) bool { return len(x) == len(of) && allFinite(x) }
	return s.Run == a.state.Run && same(s.Sum, a.state.Sum) &&
		same(s.Steps.First, a.state.Steps.First) && same(s.Steps.Second, a.state.Steps.Second) &&
		len(s.Spent.First) > 0 && slices.IsSorted(s.Spent.First) &&
		s.Accepted <= s.Issued && s.Issued < mostSlots && s.Accepted <= a.terms.Submissions &&
		s.Spent.Base+uint64(len(s.Spent.Digests)) <= s.Issued && s.InBuffer >= 0 && s.Size >= 1
}
