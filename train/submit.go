package train

import (
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"io"
	"math"
)

// Verdict is what becomes of a report.
type Verdict uint8

// The verdicts. Everything from Malformed on is a rejection, which changes nothing
// but a count.
const (
	// Accepted: the report counts.
	Accepted Verdict = iota
	// Duplicate: the same bytes were accepted before; the sender may stop retrying.
	Duplicate
	// Malformed: not the encoding of a report.
	Malformed
	// Forged: the token is not that of the task.
	Forged
	// Spent: the token was used for another report.
	Spent
	// Stale: the weights have moved on too far.
	Stale
	// Late: the deadline has passed.
	Late
	// Closed: the run has all the reports that it wants.
	Closed

	verdicts
)

// String names the verdict.
func (v Verdict) String() string {
	if v >= verdicts {
		return fmt.Sprintf("Verdict(%d)", uint8(v))
	}
	return [...]string{"accepted", "duplicate", "malformed", "forged", "spent", "stale", "late", "closed"}[v]
}

// Counts holds the number of reports by verdict.
type Counts [verdicts]uint64

// MarshalJSON writes an object by the names of verdicts.
func (c Counts) MarshalJSON() ([]byte, error) {
	named := map[string]uint64{}
	for v, n := range c {
		named[Verdict(v).String()] = n
	}
	return json.Marshal(named)
}

// UnmarshalJSON reads what MarshalJSON wrote, or an array in the order of verdicts.
func (c *Counts) UnmarshalJSON(data []byte) error {
	var array [verdicts]uint64
	if json.Unmarshal(data, &array) == nil {
		*c = array
		return nil
	}
	var named map[string]uint64
	if err := json.Unmarshal(data, &named); err != nil {
		return err
	}
	*c = Counts{}
	for v := range verdicts {
		c[v] = named[v.String()]
	}
	return nil
}

// Of returns the number of reports with the verdict.
func (c Counts) Of(v Verdict) uint64 { return c[v] }

// Rejected is the number of reports that were rejected for any reason.
func (c Counts) Rejected() uint64 {
	n := uint64(0)
	for _, k := range c[Malformed:] {
		n += k
	}
	return n
}

// Submit takes a report as it was sent. The same bytes may be sent again: the
// answer is Duplicate and nothing changes. The error, which is about the
// aggregator and not about the report, means that the run cannot go on: the log
// could not be written, or the weights overflowed.
func (a *Aggregator) Submit(report []byte) (Verdict, error) { return a.take(report, a.log, true) }

// Replay takes a report from the log again, after [RestoreAggregator]: it was in
// time when it came, and is not logged a second time. Else it is as
// [Aggregator.Submit].
func (a *Aggregator) Replay(report []byte) (Verdict, error) { return a.take(report, nil, false) }

// take submits a report, with a log or without, and holds it to its deadline or not.
func (a *Aggregator) take(report []byte, log io.Writer, timely bool) (Verdict, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.failed != nil {
		return Closed, a.failed
	}
	v, err := a.submit(report, log, timely)
	a.state.Counts[v]++
	a.failed = err
	return v, err
}

func (a *Aggregator) submit(data []byte, log io.Writer, timely bool) (Verdict, error) {
	r, err := ParseReport(data)
	if err != nil || len(r.Body) != a.codec.Size() {
		return Malformed, nil
	}
	want := a.token(r.Slot, r.Version, r.Deadline)
	if subtle.ConstantTimeCompare(want[:], r.Token[:]) == 0 {
		return Forged, nil
	}
	s := &a.state
	digest := digest(data)
	switch before := s.Spent.at(r.Slot); {
	case r.Slot < s.Spent.Base:
		return Stale, nil // forgotten, whether it was spent or not
	case before == digest:
		return Duplicate, nil
	case before != 0:
		return Spent, nil
	case s.Accepted >= a.terms.Submissions:
		return Closed, nil
	case a.terms.Staleness >= 0 && r.Version+uint64(a.terms.Staleness) < s.Version:
		return Stale, nil
	case timely && r.Deadline != 0 && a.now().Unix()-a.terms.Grace > r.Deadline:
		return Late, nil
	}
	seed := taskSeed(s.RunSeed, r.Slot)
	if err := a.codec.Decode(a.estimate, r.Body, seed); err != nil {
		return Malformed, nil
	}
	if log != nil {
		if _, err := log.Write(data); err != nil {
			return Closed, fmt.Errorf("log of reports: %w; free space and resume", err)
		}
	}
	s.Issued = max(s.Issued, r.Slot+1) // where a log is submitted again to what a snapshot held
	s.Spent.mark(r.Slot, digest)
	s.Accepted++
	if a.terms.Randomizer.Mechanism == OneBit {
		a.perturbation(seed)
	}
	return Accepted, a.add()
}

// perturbation turns the reported sign, in estimate[0], into a descent direction:
// minus the sign, centred by the running mean of all signs, along the perturbation
// that was tried.
func (a *Aggregator) perturbation(seed [32]byte) {
	s := &a.state
	sign := a.estimate[0]
	centred := sign - s.Baseline
	s.Baseline += (sign - s.Baseline) / float64(min(s.Accepted, 200))
	Perturb(a.estimate, seed, -centred)
}

// add puts the estimate at hand into the buffer and, when that is full, steps.
func (a *Aggregator) add() error {
	s := &a.state
	a.terms.Influence.Clip(a.estimate, s.Steps.First)
	for i, v := range a.estimate {
		s.Sum[i] += a.weight * v
	}
	s.InBuffer++
	if s.InBuffer < int(s.Size) {
		return nil
	}
	scale := 1 / float64(s.InBuffer)
	for i := range s.Sum {
		s.Sum[i] *= scale
	}
	a.terms.Optimizer.Apply(s.Theta, s.Sum, &s.Steps, s.Accepted)
	clear(s.Sum)
	s.InBuffer = 0
	s.Version++
	s.Size = math.Min(s.Size*(1+a.terms.Growth), 1<<30)
	s.Spent.advance(s.Issued, a.terms.Staleness)
	a.hash = HashWeights(s.Theta)
	if !allFinite(s.Theta) {
		return fmt.Errorf("%w at version %d: make optimizer.step smaller", ErrDiverged, s.Version)
	}
	return nil
}
