package value

// Return is the discounted return of an episode, the sum over its rows t of
// (product of the discounts before t) R_t, without bootstrap at its end.
func (s *Sample) Return(episode int) float64 {
	if s.returns == nil {
		return s.sum(episode)
	}
	if *s.returns == nil {
		*s.returns = make([]float64, s.Data.Episodes())
		for e := range *s.returns {
			(*s.returns)[e] = s.sum(e)
		}
	}
	return (*s.returns)[episode]
}

// ShareReturns has samples of the same data and gamma, which one goroutine looks at, sum rewards once.
func ShareReturns(samples []*Sample) {
	of := new([]float64)
	for _, s := range samples {
		s.returns = of
	}
}

func (s *Sample) sum(episode int) float64 {
	lo, hi := s.Rows(episode)
	g := 0.0
	if s.Data.Discount == nil {
		rewards := s.Data.Reward[lo:hi]
		for i := len(rewards) - 1; i >= 0; i-- {
			g = rewards[i] + s.gamma*g
		}
		return g
	}
	for row := hi - 1; row >= lo; row-- {
		g = s.Data.Reward[row] + s.Gamma(row)*g
	}
	return g
}

// FirstVisits computes first-visit Monte Carlo returns person by person
// (Sutton and Barto 2018, section 5.1): F_{x,s} is the discounted return of an
// episode x from the first row at which it visits state s. A person's return
// from s is the mean over those of the person's episodes that visit s.
//
// The zero value is not usable; see [NewFirstVisits]. It keeps a workspace and
// may not be shared by goroutines.
type FirstVisits struct {
	// States lists the states that the person visits, each once, in no fixed
	// order. It is overwritten by the next call of Person.
	States []int32
	// Returns holds the person's return from each of States.
	Returns []float64

	s       *Sample
	episode []int     // by state: 1 + the episode that visited it last
	slot    []int32   // by state: 1 + its place in States, 0 when not there
	first   []float64 // by state: return from the first visit in this episode
	visits  []float64 // by place in States: episodes that visit the state
	touched []int32   // states visited in this episode
}

// NewFirstVisits prepares a pass over the persons of s, whose features must be
// over numbered states and which must be on-policy. Rows without a state number
// are no visit; their rewards count.
func NewFirstVisits(s *Sample) (*FirstVisits, error) {
	if err := s.finite("first-visit Monte Carlo"); err != nil {
		return nil, err
	}
	if err := s.onPolicy("first-visit Monte Carlo"); err != nil {
		return nil, err
	}
	return &FirstVisits{
		s:       s,
		episode: make([]int, s.States),
		slot:    make([]int32, s.States),
		first:   make([]float64, s.States),
	}, nil
}

// Person computes States and Returns for one person.
func (f *FirstVisits) Person(p int) {
	for _, state := range f.States {
		f.slot[state] = 0
	}
	f.States, f.Returns, f.visits = f.States[:0], f.Returns[:0], f.visits[:0]
	lo, hi := f.s.Episodes(p)
	for e := lo; e < hi; e++ {
		f.walk(e)
		for _, state := range f.touched {
			f.add(state)
		}
	}
	for i, n := range f.visits {
		f.Returns[i] /= n
	}
}

// walk goes backward through an episode, so that the last return written for a
// state is that of its first visit.
func (f *FirstVisits) walk(e int) {
	f.touched = f.touched[:0]
	lo, hi := f.s.Rows(e)
	stamp := e + 1
	reward, states := f.s.Data.Reward, f.s.State
	g := 0.0
	for row := hi - 1; row >= lo; row-- {
		g = reward[row] + f.s.Gamma(row)*g
		state := states[row]
		if state == NoCell {
			continue
		}
		f.first[state] = g
		if f.episode[state] != stamp {
			f.episode[state] = stamp
			f.touched = append(f.touched, state)
		}
	}
}

// add counts one episode's return from a state into the person's mean.
func (f *FirstVisits) add(state int32) {
	i := f.slot[state] - 1
	if i < 0 {
		i = int32(len(f.States))
		f.slot[state] = i + 1
		f.States = append(f.States, state)
		f.Returns = append(f.Returns, 0)
		f.visits = append(f.visits, 0)
	}
	f.Returns[i] += f.first[state]
	f.visits[i]++
}

// MonteCarlo is the first-visit Monte Carlo estimate: by state s, the mean
// F_X(s) of the persons' returns from s (0 where nobody visits s), and the
// number |X_s| of persons who visit it. Both have length s.States.
func MonteCarlo(s *Sample) (mean, persons []float64, err error) {
	f, err := NewFirstVisits(s)
	if err != nil {
		return nil, nil, err
	}
	mean, persons = make([]float64, s.States), make([]float64, s.States)
	for p := range s.Data.Persons() {
		f.Person(p)
		for i, state := range f.States {
			mean[state] += f.Returns[i]
			persons[state]++
		}
	}
	for state, n := range persons {
		if n > 0 {
			mean[state] /= n
		}
	}
	return mean, persons, nil
}
