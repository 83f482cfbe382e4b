package device

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"time"

	"github.com/discreet-rl/discreet/dp/local"
	"github.com/discreet-rl/discreet/internal/fleet"
	"github.com/discreet-rl/discreet/train"
)

// Work is what a learner is given in a round. All of it is public.
type Work struct {
	Round uint64
	// Evaluate asks for a score instead of something to learn from; Threshold is the score to reach.
	Evaluate  bool
	Threshold float64
	// Theta are the weights to start from. They are the learner's own.
	Theta []float64
	// Len is the number of numbers to report: as many as weights, or 1, a score.
	Len int
	// Seed makes the perturbation that is tried, of train.OneBit.
	Seed local.Seed
	// Until is when the answer has to be there, SendAt when the report goes.
	Until, SendAt time.Time
}

// Run is a run as its operator signed it, verified. All of it is public.
type Run struct {
	ID train.RunID
	// Purpose says in words what the run is for, Local as JSON what devices learn.
	Purpose string
	Local   []byte
	// Randomizer makes the reports that train, Reports is how many of either kind a device sends at most.
	Randomizer train.Randomizer
	Reports    int
	// Dim is the number of weights.
	Dim int
	// Revision numbers the revisions of the run from 0.
	Revision int
}

// runOf is a run as a learner sees it.
func runOf(r *fleet.Run) *Run {
	return &Run{ID: r.ID, Purpose: r.Purpose, Local: bytes.Clone(r.Local), Randomizer: r.Randomizer, Reports: r.Reports, Dim: r.Dim, Revision: r.Revision}
}

// Learner learns in the device's own world. Its calls come one after the other. A learner may also have a method
// Ready() <-chan struct{}, closed when it takes part: before that the agent asks for no round, and nothing is paid; and a method
// Closed() <-chan struct{}, closed when it has left: then the agent finishes its round and ends.
type Learner interface {
	// Prepare is called with the run before its first round. Where the learner has no use for it, the agent does not take part.
	Prepare(run *Run) error
	// Learn returns the vector to report on, of length w.Len: the direction of descent from w.Theta, or, to evaluate or for train.OneBit, the
	// score. What it returns is private. An error, or an answer after w.Until when ctx ends, makes it the zero vector.
	Learn(ctx context.Context, w Work) ([]float64, error)
}

// neutral is what is reported where there is nothing to report: the zero vector, the middle of the scores, or that the
// threshold was not reached.
func neutral(c *train.Codec, evaluate bool) []float64 {
	v := make([]float64, c.Len())
	if r := c.Randomizer(); r.Mechanism == train.OneBit && !evaluate {
		v[0] = r.Clip / 2
	}
	return v
}

// usable tells why an answer cannot be reported; the error wraps errLearner and says nothing of the numbers.
func usable(w Work, vector []float64) error {
	if len(vector) != w.Len {
		return fmt.Errorf("%w: it has another length than was asked for", errLearner)
	}
	for _, v := range vector {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("%w: it is not finite", errLearner)
		}
	}
	return nil
}

// answer lets the learner work until the time is over, and returns what is to be reported and, for the owner, why it is not what
// was learned. The error is that of ctx alone: nothing was decided then.
func (a *Agent) answer(ctx context.Context, l Learner, w Work, c *train.Codec) (vector []float64, why string, err error) {
	limit, cancel := context.WithDeadline(ctx, w.Until)
	defer cancel()
	type result struct {
		vector []float64
		err    error
	}
	done := make(chan result, 1)
	if a.idle != nil { // an earlier call that did not end in its time
		select {
		case <-a.idle:
		case <-limit.Done():
			return neutral(c, w.Evaluate), "late", ctx.Err()
		}
	}
	idle := make(chan struct{})
	a.idle = idle
	go func() {
		defer close(idle)
		defer func() {
			if recover() != nil { // silence would tell of it
				done <- result{err: fmt.Errorf("%w: it panicked", errLearner)}
			}
		}()
		v, err := l.Learn(limit, w)
		done <- result{v, err}
	}()
	var r result
	select {
	case r = <-done:
	case <-limit.Done():
		r.err = limit.Err()
	}
	switch late := limit.Err() != nil; {
	case ctx.Err() != nil:
		return nil, "", ctx.Err()
	case late:
		return neutral(c, w.Evaluate), "late", nil
	case r.err != nil:
		return neutral(c, w.Evaluate), "failed", nil
	}
	if err := usable(w, r.vector); err != nil {
		return neutral(c, w.Evaluate), "unusable", nil
	}
	if w.Evaluate {
		reached := 0.
		if r.vector[0] >= w.Threshold {
			reached = 1
		}
		return []float64{reached}, "", nil
	}
	return append([]float64(nil), r.vector...), "", nil
}
