package xie19

import (
	"fmt"
	"math"
	"sync"

	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// seedOf chooses the persons of a trial. It does not depend on their number: m
// persons are the first m of more.
func seedOf(trial int) uint64 { return 1<<32 | uint64(trial) }

// noiseSeed chooses the noise of a trial at m persons.
func noiseSeed(trial, m int) uint64 { return uint64(m)<<16 | uint64(trial) }

// first is the dataset of the first m persons, each with one episode.
func first(d *trajectory.Dataset, m int) *trajectory.Dataset {
	if m == d.Persons() {
		return d
	}
	out := *d
	rows := d.EpisodeStart[m]
	out.PersonStart, out.EpisodeStart = d.PersonStart[:m+1], d.EpisodeStart[:m+1]
	out.Obs, out.Reward = d.Obs[:rows*len(d.Columns)], d.Reward[:rows]
	out.Terminated = d.Terminated[:m]
	if d.Action != nil {
		out.Action = d.Action[:rows]
	}
	if d.BehaviorProb != nil {
		out.BehaviorProb = d.BehaviorProb[:rows]
	}
	if d.TargetProb != nil {
		out.TargetProb = d.TargetProb[:rows]
	}
	if d.Final != nil {
		out.Final, out.HasFinal = d.Final[:m*len(d.Columns)], d.HasFinal[:m]
	}
	return &out
}

// latest keeps what the items of one trial share, for the trial that was asked
// for last: trials are run in their order.
type latest[T any] struct {
	mu   sync.Mutex
	kept *made[T]
}

type made[T any] struct {
	trial, m int
	value    func() (T, error)
}

// get returns what make makes for a trial of m persons or more.
func (l *latest[T]) get(trial, m int, make func() (T, error)) (T, error) {
	l.mu.Lock()
	if l.kept == nil || l.kept.trial != trial || l.kept.m < m {
		l.kept = &made[T]{trial: trial, m: m, value: sync.OnceValues(make)}
	}
	kept := l.kept
	l.mu.Unlock()
	value, err := kept.value()
	if err != nil {
		l.mu.Lock()
		if l.kept == kept {
			l.kept = nil // an interruption is no answer
		}
		l.mu.Unlock()
	}
	return value, err
}

// given are features that were computed before: the columns themselves. The
// bound is that of the map that computed them.
type given struct {
	feature.Raw
	bound float64
}

func (g given) NormBound() float64 { return g.bound }

// givenFrom names the features of a map as columns.
func givenFrom(m feature.Map) (given, error) {
	names := make([]string, m.Dim())
	for i := range names {
		names[i] = fmt.Sprintf("phi_%d", i)
	}
	raw, err := feature.NewRaw(names)
	return given{raw, m.NormBound()}, err
}

// featured returns the dataset that observes the features of another.
func (g given) featured(d *trajectory.Dataset, m feature.Map) (*trajectory.Dataset, error) {
	bound, err := m.Bind(d.Columns)
	if err != nil {
		return nil, err
	}
	n, k := m.Dim(), len(d.Columns)
	all := func(obs []float64) ([]float64, error) {
		out := make([]float64, len(obs)/k*n)
		for i := range len(obs) / k {
			if !bound.Apply(out[i*n:i*n+n], obs[i*k:i*k+k]) {
				return nil, fmt.Errorf("a simulated state is outside the features")
			}
		}
		return out, nil
	}
	out := *d
	out.Columns = g.Columns()
	if out.Obs, err = all(d.Obs); err != nil || d.Final == nil {
		return &out, err
	}
	// Where an episode terminated nothing follows, and nothing is read.
	final := *d
	final.Final = append([]float64(nil), d.Final...)
	for e, known := range d.HasFinal {
		if !known {
			copy(final.Final[e*k:e*k+k], d.Obs[:k])
		}
	}
	out.Final, err = all(final.Final)
	return &out, err
}

// targetColumn writes the probability of each logged action under a policy as
// the dataset's column, and returns the policy that reads it.
func targetColumn(d *trajectory.Dataset, p policy.Policy) (policy.Policy, []float64, error) {
	bound, err := p.Bind(d)
	if err != nil {
		return nil, nil, err
	}
	out := make([]float64, d.Rows())
	for row := range out {
		prob, ok := bound.Prob(row)
		if !ok || math.IsNaN(prob) {
			return nil, nil, fmt.Errorf("the policy has no probability for a simulated decision")
		}
		out[row] = prob
	}
	return policy.ProbColumn{}, out, nil
}
