package value

import (
	"fmt"
	"slices"

	"github.com/discreet-rl/discreet/internal/fault"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Sentinel errors. Everything this package returns wraps one of them or one of
// packages feature's and policy's.
var (
	// ErrOptions marks settings out of range, or settings that lack what a method
	// needs (features, a finite state space).
	ErrOptions = fault.Input("invalid settings")
	// ErrOffPolicy marks a method that holds on-policy only.
	ErrOffPolicy = fault.Input("method needs on-policy data")
	// ErrSingular marks a linear system without a unique solution.
	ErrSingular = fault.Input("singular system")
	// ErrData marks data from which a value cannot be computed.
	ErrData = fault.Input("data do not determine the value")
)

// Marks in [Sample.Next] in place of a point.
const (
	// Terminal: the episode terminated, phi of what follows is zero.
	Terminal = -1
	// Unknown: the episode was truncated and what followed was not recorded.
	// Bootstrapping methods leave the transition out; returns keep its reward.
	Unknown = -2
)

// NoCell is the cell of a zero feature vector, and the state of an observation
// that holds none.
const NoCell int32 = -1

// Options says how a [Sample] sees a dataset. All of it is public.
type Options struct {
	// Gamma is the discount of one step, in [0, 1]. A dataset's own discount
	// column takes its place row by row.
	Gamma float64
	// Features may be nil for methods that need none (importance sampling).
	Features feature.Map
	// Policy is the target policy; nil stands for [policy.Logged].
	Policy policy.Policy
	// Ratios are the importance ratios of all rows under Policy, off-policy, where they
	// are known already; nil to compute them. The sample keeps the slice.
	Ratios []float64
}

// Sample is a dataset seen through a feature map, a target policy and a
// discount: what every estimator of this package works on. It is read-only once
// built and may be shared.
//
// Points are what features are computed for: the decisions, numbered like the
// rows of the dataset, and after them the final observations of truncated
// episodes.
type Sample struct {
	// Data is the dataset.
	Data *trajectory.Dataset
	// Policy is the target policy, never nil.
	Policy policy.Policy
	// Features is the feature map, or nil.
	Features feature.Map
	// Dim is the number of features n, 0 without features.
	Dim int

	// Phi holds the features of every point, Dim numbers each; nil when Cell is
	// used instead.
	Phi []float64
	// Cell holds, where Features is a feature.Finite, the one coordinate that is
	// 1 for every point, or NoCell for the zero vector; else nil.
	Cell []int32
	// State holds the state number of every point, or NoCell, where Cell is used.
	State []int32
	// States is the number of states where Cell is used, else 0.
	States int

	// Next holds, by row, the point that follows the decision, or Terminal or
	// Unknown; nil without features.
	Next []int
	// Rho holds the importance ratio of every row; nil when on-policy.
	Rho []float64

	gamma   float64
	returns *[]float64 // of all episodes, once they were asked for; nil where they are not kept
	unknown int
	cells   *cellsByState // of Features
	bound   feature.Bound // Features to columns
	columns []string
}

// NewSample applies features and policy to every row of d once.
func NewSample(d *trajectory.Dataset, o Options) (*Sample, error) {
	s := new(Sample)
	if err := s.build(d, o); err != nil {
		return nil, err
	}
	return s, nil
}

// build makes the sample in place of what it was, in its memory.
func (s *Sample) build(d *trajectory.Dataset, o Options) error {
	if !(o.Gamma >= 0 && o.Gamma <= 1) {
		return fmt.Errorf("%w: gamma is %v; want 0 to 1", ErrOptions, o.Gamma)
	}
	s.Data, s.Policy, s.Features, s.gamma, s.Rho, s.returns, s.unknown = d, o.Policy, o.Features, o.Gamma, nil, nil, 0
	if s.Policy == nil {
		s.Policy = policy.Logged{}
	}
	switch {
	case policy.OnPolicy(s.Policy):
	case o.Ratios != nil:
		if len(o.Ratios) != d.Rows() {
			panic(fmt.Sprintf("value: %d ratios for %d rows", len(o.Ratios), d.Rows()))
		}
		s.Rho = o.Ratios
	default:
		s.Rho = make([]float64, d.Rows())
		if err := policy.Ratios(s.Rho, s.Policy, d); err != nil {
			return err
		}
	}
	if s.Features == nil {
		return nil
	}
	s.Dim = s.Features.Dim()
	finals := s.link()
	if f, ok := s.Features.(feature.Finite); ok {
		return s.readCells(f, finals)
	}
	return s.readPhi(finals)
}

// link fills Next and returns the episodes whose final observation is a point.
func (s *Sample) link() (finals []int) {
	d := s.Data
	s.Next = room(s.Next, d.Rows())
	for e := range d.Episodes() {
		lo, hi := d.EpisodeStart[e], d.EpisodeStart[e+1]
		for row := lo; row < hi-1; row++ {
			s.Next[row] = row + 1
		}
		switch {
		case d.Ended(e):
			s.Next[hi-1] = Terminal
		case d.FinalObservation(e) != nil:
			s.Next[hi-1] = d.Rows() + len(finals)
			finals = append(finals, e)
		default:
			s.Next[hi-1] = Unknown
			s.unknown++
		}
	}
	return finals
}

func (s *Sample) readCells(f feature.Finite, finals []int) error {
	d := s.Data
	r, err := f.BindState(d.Columns)
	if err != nil {
		return err
	}
	s.States = f.States()
	if s.cells == nil {
		s.cells = cellsOf(f)
	}
	points := d.Rows() + len(finals)
	s.State = room(s.State, points)
	if s.cells.same {
		s.Cell = s.State
	} else {
		s.Cell = room(s.Cell, points)
	}
	set := func(point int, obs []float64) {
		state, ok := r.State(obs)
		s.State[point] = int32(state)
		if !ok {
			s.State[point], s.Cell[point] = NoCell, NoCell
		} else if !s.cells.same {
			s.Cell[point] = s.cells.of[state]
		}
	}
	for row := range d.Rows() {
		set(row, d.Observation(row))
	}
	for i, e := range finals {
		set(d.Rows()+i, d.FinalObservation(e))
	}
	return nil
}

// cellsByState are the cells of all states.
type cellsByState struct {
	of   []int32
	same bool // every state is its own cell
}

func cellsOf(f feature.Finite) *cellsByState {
	c := &cellsByState{make([]int32, f.States()), true}
	for state := range c.of {
		c.of[state] = int32(f.Cell(state))
		c.same = c.same && f.Cell(state) == state
	}
	return c
}

// bind binds the features to the columns, or takes what is bound to the same.
func (s *Sample) bind() (feature.Bound, error) {
	if s.bound != nil && slices.Equal(s.columns, s.Data.Columns) {
		return s.bound, nil
	}
	b, err := s.Features.Bind(s.Data.Columns)
	if a, ok := b.(interface{ Alone() feature.Bound }); ok && err == nil {
		b = a.Alone() // a sample is made by one goroutine
	}
	s.bound, s.columns = b, s.Data.Columns
	return b, err
}

func (s *Sample) readPhi(finals []int) error {
	d, n := s.Data, s.Dim
	b, err := s.bind()
	if err != nil {
		return err
	}
	s.Phi = room(s.Phi, (d.Rows()+len(finals))*n)
	apply := func(point int, obs []float64) {
		phi := s.Phi[point*n : point*n+n]
		clear(phi) // of what others had there, should a map leave any of it
		b.Apply(phi, obs)
	}
	for row := range d.Rows() {
		apply(row, d.Observation(row))
	}
	for i, e := range finals {
		apply(d.Rows()+i, d.FinalObservation(e))
	}
	return nil
}

// OnPolicy reports whether every importance ratio is 1 by definition.
func (s *Sample) OnPolicy() bool { return s.Rho == nil }

// Ratio is the importance ratio of a row, 1 on-policy.
func (s *Sample) Ratio(row int) float64 {
	if s.Rho == nil {
		return 1
	}
	return s.Rho[row]
}

// Gamma is the discount between the reward of a row and what follows.
func (s *Sample) Gamma(row int) float64 {
	if s.Data.Discount == nil {
		return s.gamma
	}
	return s.Data.Discount[row]
}

// Unknown is the number of truncated episodes whose last transition
// bootstrapping methods leave out, because what followed was not recorded. It is
// a private count, for the curator alone.
func (s *Sample) Unknown() int { return s.unknown }

// Feature returns phi of a point as a slice of length Dim that belongs to the
// sample, or, where Cell is used, written to dst.
func (s *Sample) Feature(dst []float64, point int) []float64 {
	if s.Cell == nil {
		n := s.Dim
		return s.Phi[point*n : point*n+n : point*n+n]
	}
	clear(dst)
	if c := s.Cell[point]; c != NoCell {
		dst[c] = 1
	}
	return dst
}

// Rows returns the range of rows of an episode, lo to hi-1.
func (s *Sample) Rows(episode int) (lo, hi int) {
	return s.Data.EpisodeStart[episode], s.Data.EpisodeStart[episode+1]
}

// Cut tells whether an episode was cut off: its record ends before decision horizon, the
// last of the problem, and not by the problem's own rule.
func (s *Sample) Cut(episode int, horizon int64) bool {
	lo, hi := s.Rows(episode)
	return int64(hi-lo) < horizon && !s.Data.Ended(episode)
}

// Transitions returns the range of rows of an episode whose following features
// are known: Rows without an Unknown end. It may be empty. It needs features.
func (s *Sample) Transitions(episode int) (lo, hi int) {
	lo, hi = s.Rows(episode)
	if s.Next[hi-1] == Unknown {
		hi--
	}
	return lo, hi
}

// Episodes returns the range of episodes of a person, lo to hi-1.
func (s *Sample) Episodes(person int) (lo, hi int) {
	return s.Data.PersonStart[person], s.Data.PersonStart[person+1]
}

// cellOf is the feature of a state, for features over numbered states.
func (s *Sample) cellOf(state int) int { return s.Features.(feature.Finite).Cell(state) }

// eachPerson calls f for every episode of every person with the episode's weight
// in its person's mean, so that persons count equally.
func (s *Sample) eachPerson(f func(person, episode int, weight float64)) {
	for p := range s.Data.Persons() {
		lo, hi := s.Episodes(p)
		for e := lo; e < hi; e++ {
			f(p, e, 1/float64(hi-lo))
		}
	}
}

// finite refuses a sample without numbered states.
func (s *Sample) finite(method string) error {
	if s.Cell == nil {
		return fmt.Errorf("%w: %s averages returns by state and needs features over numbered states; use kind tabular or aggregate, or a method of the LSTD family", ErrOptions, method)
	}
	return nil
}

// featured refuses a sample without features.
func (s *Sample) featured(method string) error {
	if s.Features == nil {
		return fmt.Errorf("%w: %s needs features", ErrOptions, method)
	}
	return nil
}

// onPolicy refuses an off-policy sample.
func (s *Sample) onPolicy(method string) error {
	if !s.OnPolicy() {
		return fmt.Errorf("%w: %s averages plain returns; evaluate the logged policy, or use lstd, is, pdis, wis or dr", ErrOffPolicy, method)
	}
	return nil
}
