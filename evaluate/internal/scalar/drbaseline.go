package scalar

import (
	"math"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/policy"
)

// Baseline is a guess of values that is public, or is paid for with a share of the
// budget. What uses it sees a [Guess] and no data.
type Baseline struct {
	Public facts.Public
	Kind   string
	Guess  *Guess  // a public one; nil where it is paid for
	States int     // of numbered states; 0 where there are none
	Noise  float64 // multiplier of its release; 0 where nothing is paid
	// Model makes the releases of kind model, whose answer at the start is the guess.
	Model func(s value.Persons, src *noise.Source) (*Guess, error)
}

// Pay is the public baseline, or releases one.
//
// Unless it is a model's, a paid one is, whatever its kind, a ratio of two noisy sums over persons: of
// d (G - centre)/half, G a return and [centre - half, centre + half] its public
// range, and of d, with weights d = min(w, 1), w the importance weight of what
// follows. Weights cut at 1 keep the noise small; they draw the baseline toward
// the value of the logged policy, which a baseline may be.
func (d Baseline) Pay(s value.Persons, src *noise.Source) (*Guess, error) {
	if d.Guess != nil {
		return d.Guess, nil
	}
	switch d.Kind {
	case BaselineModel:
		return d.Model(s, src)
	case "action":
		return d.payByAction(s, src)
	case "state":
		return d.payByState(s, src)
	}
	return d.payOne(s, src)
}

// payOne releases one number for everything.
func (d Baseline) payOne(s value.Persons, src *noise.Source) (*Guess, error) {
	g := d.Public.Returns
	r, err := mechanism.NewRatio(g.Min, g.Max, 1, d.Noise, d.Public.Adjacency, d.Public.Noise)
	if err != nil {
		return nil, err
	}
	walk := newWalker(s, g, 0)
	n, err := mechanism.Total(r, s.Persons(), func(p int) error {
		num, den := walk.start(p)
		// The ratio takes returns: it centres them itself.
		return r.Add(num*g.Width()/2+den*g.Mid(), den)
	}, src)
	if err != nil {
		return nil, err
	}
	half := g.Width() / 2
	offset := shrunk(n.Numerator, n.Denominator, n.NumeratorSD, n.DenominatorSD, 0, half/2, facts.Range{Min: -half, Max: half})
	return &Guess{Overall: n.Centre + offset}, nil
}

// height is the weight of a count beside that of a value, which has norm 1.
const height = 0.7

// payByAction releases a mean reward for each action of a bandit's log. A person
// adds to the actions of their rows, each row with its share of 1, so that the
// norm is largest for a single row.
func (d Baseline) payByAction(s value.Persons, src *noise.Source) (*Guess, error) {
	g, k := d.Public.Returns, d.Public.Target.Actions()
	fresh := func() (*mechanism.VectorSum, error) { return d.vectorSum(2*k, math.Sqrt(1+height*height)) }
	noisy, err := mechanism.Spread(fresh, mechanism.Workers(2*k), s.Persons(), func(sum *mechanism.VectorSum) func(int) error {
		x, walk := make([]float64, 2*k), s.Walk()
		return func(p int) error {
			clear(x)
			s, p := walk.At(p)
			lo, hi := s.Episodes(p)
			for e := lo; e < hi; e++ {
				row := s.Data.EpisodeStart[e]
				if a := int(s.Data.Action[row]); a >= 0 && a < k {
					share := 1 / float64(hi-lo)
					x[2*a] += share * unit(s.Data.Reward[row], g)
					x[2*a+1] += share * height
				}
			}
			return sum.Add(x)
		}
	}, src)
	if err != nil {
		return nil, err
	}
	sd := d.Noise * math.Sqrt(1+height*height)
	all, values := cells(noisy, sd, g)
	return &Guess{Overall: d.meanUnderTarget(all, values), Action: values}, nil
}

// meanUnderTarget is the value of the target policy under the values of actions,
// where it does not depend on the state, else the overall mean.
func (d Baseline) meanUnderTarget(all float64, values []float64) float64 {
	switch d.Public.Target.(type) {
	case policy.Constant:
		return values[len(values)-1] // it knows of no action above its own
	case policy.Uniform:
		mean := 0.0
		for _, v := range values {
			mean += v / float64(len(values))
		}
		return mean
	}
	return all
}

// payByState releases a value for each state, from first visits, and one for the
// start. A person who visits n states adds to each of them with weight
// 1/sqrt(n), so that the norm does not grow with their number.
func (d Baseline) payByState(s value.Persons, src *noise.Source) (*Guess, error) {
	g := d.Public.Returns
	// Values of the states have norm 1 together, and so have those of the start.
	norm := math.Sqrt(2 * (1 + height*height))
	fresh := func() (*mechanism.VectorSum, error) { return d.vectorSum(2*d.States+2, norm) }
	noisy, err := mechanism.Spread(fresh, mechanism.Workers(2*d.States+2), s.Persons(), func(sum *mechanism.VectorSum) func(int) error {
		x, walk := make([]float64, 2*d.States+2), newWalker(s, g, d.States)
		return func(p int) error {
			walk.states(x, p)
			return sum.Add(x)
		}
	}, src)
	if err != nil {
		return nil, err
	}
	sd := d.Noise * norm
	_, values := cells(noisy[:2*d.States], sd, g)
	last := noisy[2*d.States:]
	half := g.Width() / 2
	start := g.Mid() + half*shrunk(last[0], last[1]/height, sd, sd/height, 0, 0.5, facts.Range{Min: -1, Max: 1})
	return &Guess{Overall: start, State: values}, nil
}

func (d Baseline) vectorSum(dim int, clip float64) (*mechanism.VectorSum, error) {
	return mechanism.NewVectorSum(dim, math.Nextafter(clip, math.Inf(1)), d.Noise, d.Public.Noise)
}

// cells turns noisy pairs (sum of values, height times sum of weights), each
// with noise of standard deviation sd, into one value for all and one for each
// cell that is drawn toward it, in the range of g.
func cells(noisy []float64, sd float64, g facts.Range) (all float64, values []float64) {
	unitRange := facts.Range{Min: -1, Max: 1}
	num, den := 0.0, 0.0
	for i := 0; i < len(noisy); i += 2 {
		num += noisy[i]
		den += noisy[i+1] / height
	}
	n := math.Sqrt(float64(len(noisy) / 2))
	all = shrunk(num, den, n*sd, n*sd/height, 0, 0.5, unitRange)
	half := g.Width() / 2
	values = make([]float64, len(noisy)/2)
	for i := range values {
		u := shrunk(noisy[2*i], noisy[2*i+1]/height, sd, sd/height, all, 0.5, unitRange)
		values[i] = g.Mid() + half*u
	}
	return g.Mid() + half*all, values
}

// unit is the place of a return in its public range, in [-1, 1].
func unit(x float64, g facts.Range) float64 {
	return min(max((x-g.Mid())/(g.Width()/2), -1), 1)
}

// walker walks the episodes of a person backward and sees, at every row, the
// weight and the return of what follows.
type walker struct {
	of      *value.Walk
	s       *value.Sample // of the person at hand
	g       facts.Range
	mark    int32   // of the episode or person at hand
	episode []int32 // by state: the mark of the episode that visited it last
	person  []int32 // by state: the mark of the person who visited it last
	num     []float64
	den     []float64
	touched []int32
}

func newWalker(s value.Persons, g facts.Range, states int) *walker {
	n := states
	return &walker{of: s.Walk(), g: g, episode: make([]int32, n), person: make([]int32, n), num: make([]float64, n), den: make([]float64, n)}
}

// start is a person's pair (d u, d) of whole episodes, the mean over them.
func (t *walker) start(p int) (num, den float64) {
	t.s, p = t.of.At(p)
	lo, hi := t.s.Episodes(p)
	for e := lo; e < hi; e++ {
		n, d := t.walk(e, nil)
		num += n / float64(hi-lo)
		den += d / float64(hi-lo)
	}
	return num, den
}

// states writes what a person adds: a pair by state and the pair of the start.
func (t *walker) states(x []float64, p int) {
	clear(x)
	t.touched = t.touched[:0]
	t.s, p = t.of.At(p)
	lo, hi := t.s.Episodes(p)
	for e := lo; e < hi; e++ {
		t.mark++
		first := len(t.touched)
		n, d := t.walk(e, func(state int32, num, den float64) {
			t.num[state], t.den[state] = num, den
			if t.episode[state] != t.mark {
				t.episode[state] = t.mark
				t.touched = append(t.touched, state)
			}
		})
		share := 1 / float64(hi-lo)
		for _, state := range t.touched[first:] {
			x[2*state] += share * t.num[state]
			x[2*state+1] += share * height * t.den[state]
		}
		x[len(x)-2] += share * n
		x[len(x)-1] += share * height * d
	}
	t.mark++
	visited := 0
	for _, state := range t.touched {
		if t.person[state] != t.mark {
			t.person[state] = t.mark
			visited++
		}
	}
	scale := 1 / math.Sqrt(float64(max(visited, 1)))
	for _, state := range t.touched {
		if t.person[state] == t.mark {
			t.person[state] = 0
			x[2*state] *= scale
			x[2*state+1] *= scale
		}
	}
}

// walk calls visit at every row with a state, last row first, and returns the
// pair of the first row. A first visit is the last one told.
func (t *walker) walk(e int, visit func(state int32, num, den float64)) (num, den float64) {
	lo, hi := t.s.Rows(e)
	w, r := 1.0, 0.0
	for row := hi - 1; row >= lo; row-- {
		w = min(w*t.s.Ratio(row), far)
		r = t.s.Data.Reward[row] + t.s.Gamma(row)*r
		den = min(w, 1)
		num = den * unit(r, t.g)
		if visit == nil {
			continue
		}
		if state := t.s.State[row]; state != value.NoCell {
			visit(state, num, den)
		}
	}
	return num, den
}

// Guess is a baseline: a number, and, where they are not nil, one for each
// action or each state. It is public, or was released.
type Guess struct {
	Overall float64   `json:"value"`
	Action  []float64 `json:"action_values"`
	State   []float64 `json:"state_values"`
}

// clamp takes back what rounding leads out of the range.
func (g *Guess) clamp(r facts.Range) {
	g.Overall = r.Clamp(g.Overall)
	for _, list := range [][]float64{g.Action, g.State} {
		for i, v := range list {
			list[i] = r.Clamp(v)
		}
	}
}

// contributions writes the doubly robust value of every person, the mean over
// the person's episodes.
func (g *Guess) contributions(dst []float64, of value.Persons) error {
	walk, known := of.Walk(), distributions{odds: make([]float64, len(g.Action))}
	for i := range dst {
		s, p := walk.At(i)
		if g.Action != nil {
			if err := known.bind(s, walk.Moved()); err != nil {
				return err
			}
		}
		lo, hi := s.Episodes(p)
		sum := 0.0
		for e := lo; e < hi; e++ {
			if g.Action != nil {
				sum += g.oneRow(s, s.Data.EpisodeStart[e], known)
			} else {
				sum += g.episode(s, e)
			}
		}
		dst[i] = sum / float64(hi-lo)
	}
	return nil
}

// distributions are the target policy's probabilities of every action, of one row at a time.
type distributions struct {
	bound policy.Bound
	odds  []float64
}

// bind binds the policy to the rows of a sample that is another one.
func (d *distributions) bind(s *value.Sample, another bool) (err error) {
	if another {
		d.bound, err = s.Policy.Bind(s.Data)
	}
	return err
}

// row are those of a row, 0 where the policy cannot tell.
func (d distributions) row(row int) []float64 {
	clear(d.odds)
	d.bound.Distribution(d.odds, row)
	return d.odds
}

// far keeps products of ratios finite. No clip lies near it.
const far = 1e150

// episode is the recursion with a value of states that stands for every action.
func (g *Guess) episode(s *value.Sample, e int) float64 {
	lo, hi := s.Rows(e)
	v := 0.0
	for row := hi - 1; row >= lo; row-- {
		b := g.at(s, row)
		v = b + s.Ratio(row)*(s.Data.Reward[row]+s.Gamma(row)*v-b)
		v = max(-far, min(v, far))
	}
	return v
}

// at is the baseline in the state of a row.
func (g *Guess) at(s *value.Sample, row int) float64 {
	if g.State == nil {
		return g.Overall
	}
	if c := s.State[row]; c != value.NoCell {
		return g.State[c]
	}
	return g.Overall
}

// oneRow is the recursion for an episode of one row. An action that the policy
// does not know of is never taken by it and has ratio 0.
func (g *Guess) oneRow(s *value.Sample, row int, known distributions) float64 {
	k := len(g.Action)
	v, taken := 0.0, 0.0
	for a, p := range known.row(row) {
		v += p * g.Action[a]
	}
	if a := int(s.Data.Action[row]); a >= 0 && a < k {
		taken = g.Action[a]
	}
	return v + s.Ratio(row)*(s.Data.Reward[row]-taken)
}

// shrunk is a noisy ratio num/den drawn toward prior: num and den carry noise of
// standard deviations numSD and denSD, and the truth is thought to lie within
// about spread of prior. The answer lies in within.
func shrunk(num, den, numSD, denSD, prior, spread float64, within facts.Range) float64 {
	if !(den > 0) {
		return prior
	}
	d := max(den, denSD)
	offset := (num - prior*den) / d
	sd := math.Hypot(numSD, prior*denSD) / d
	return min(max(prior+offset*spread*spread/(spread*spread+sd*sd), within.Min), within.Max)
}
