package worker

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Sums is a method of sums whose code is the caller's: each person's numbers, and the answer, are
// asked for. Clipping, noise, accounting and everything about the data stay here.
type Sums struct {
	one     sync.Mutex // one person at a time
	call    Call
	outline evaluate.Outline
	target  policy.Policy
	told    [][]float64 // the noisy sums that the caller has
	round   int         // that it has them for; -1 for none
}

// outlineJSON is the outline as a caller gives it.
type outlineJSON struct {
	Name      string           `json:"name"`
	Estimates string           `json:"estimates"`
	Rounds    []evaluate.Round `json:"rounds"`
	Columns   []string         `json:"columns"`
	MayFail   float64          `json:"may_fail"`
}

// SumsOf is the method that a call brings; nil where it brings none.
func SumsOf(c Call) (*Sums, error) {
	if c.Method == nil {
		return nil, nil
	}
	var o outlineJSON
	if err := json.Unmarshal(c.Method, &o); err != nil {
		return nil, fmt.Errorf("%w: the outline: %w", evaluate.ErrMethod, err)
	}
	return &Sums{call: c, round: -1, outline: evaluate.Outline{Method: o.Name, Estimates: o.Estimates, Rounds: o.Rounds, Columns: o.Columns, MayFail: o.MayFail}}, nil
}

// MarshalJSON gives the public parameters.
func (s *Sums) MarshalJSON() ([]byte, error) { return s.call.Method, nil }

// Outline implements [evaluate.Sums].
func (s *Sums) Outline(p evaluate.Public) (evaluate.Outline, error) {
	s.target = p.Target
	return s.outline, nil
}

// personJSON says what the numbers of a question about a person are: the noisy sums of the rounds
// before where Told is set, then a column for each of Parts.
type personJSON struct {
	Kind     string   `json:"kind"` // "contribution"
	Round    int      `json:"round"`
	Told     bool     `json:"told,omitempty"`
	Rows     int      `json:"rows"`
	Episodes []int    `json:"episodes"` // where each starts, and the last ends
	Ended    []bool   `json:"ended"`    // whether each terminated
	Parts    []string `json:"parts"`
}

// contributionJSON is a reply: numbers follow where Failed is empty.
type contributionJSON struct {
	Failed string `json:"failed"`
}

// Contribution implements [evaluate.Sums]. The caller's failure is a panic, which is that person's
// alone. A caller that is gone, or that cancelled, ends the whole call.
func (s *Sums) Contribution(dst []float64, round int, earlier [][]float64, person *trajectory.Dataset) {
	s.one.Lock()
	defer s.one.Unlock()
	q := personJSON{Kind: "contribution", Round: round, Rows: person.Rows(), Episodes: person.EpisodeStart, Ended: person.Terminated}
	var numbers []byte
	add := func(x ...float64) {
		for _, v := range x {
			numbers = binary.LittleEndian.AppendUint64(numbers, math.Float64bits(v))
		}
	}
	if s.round != round || !slices.EqualFunc(s.told, earlier, slices.Equal) {
		q.Told = true
		for _, sum := range earlier {
			add(sum...)
		}
	}
	part := func(name string, x []float64) {
		if x != nil {
			q.Parts = append(q.Parts, name)
			add(x...)
		}
	}
	part("reward", person.Reward)
	if person.Action != nil {
		q.Parts = append(q.Parts, "action")
		for _, a := range person.Action {
			add(float64(a))
		}
	}
	part("behavior_prob", person.BehaviorProb)
	part("target_prob", s.targetProb(person))
	part("discount", person.Discount)
	for j, name := range person.Columns {
		q.Parts = append(q.Parts, name)
		for i := range person.Rows() {
			add(person.Obs[i*len(person.Columns)+j])
		}
	}
	text, given, err := s.call.Ask(q, numbers)
	if err != nil {
		s.call.Abort(err)
		panic(errNoAnswer)
	}
	s.round, s.told = round, earlier
	var r contributionJSON
	if err := json.Unmarshal(text, &r); err != nil {
		panic(errNoAnswer)
	}
	if r.Failed != "" {
		panic(r.Failed)
	}
	if len(given) != 8*len(dst) {
		panic(fmt.Sprintf("it returns %d numbers; want %d", len(given)/8, len(dst)))
	}
	for i := range dst {
		dst[i] = math.Float64frombits(binary.LittleEndian.Uint64(given[8*i:]))
	}
}

var errNoAnswer = errors.New("no answer of the caller")

// targetProb is the target policy's probability of each logged action, nil where the target is the
// logged policy or these records do not say.
func (s *Sums) targetProb(person *trajectory.Dataset) []float64 {
	if s.target == nil || policy.OnPolicy(s.target) {
		return nil
	}
	bound, err := s.target.Bind(person)
	if err != nil {
		return nil
	}
	out := make([]float64, person.Rows())
	for i := range out {
		p, ok := bound.Prob(i)
		if !ok {
			p = math.NaN()
		}
		out[i] = p
	}
	return out
}

// answerJSON asks for the answer that noisy sums make.
type answerJSON struct {
	Kind string    `json:"kind"` // "answer"
	SD   []float64 `json:"sd"`
	Dims []int     `json:"dims"`
}

// repliedJSON is an answer, or why there is none.
type repliedJSON struct {
	evaluate.Answer
	Failed string `json:"failed"`
}

// Answer implements [evaluate.Sums].
func (s *Sums) Answer(_ evaluate.Public, sums []evaluate.NoisySum) (evaluate.Answer, error) {
	q := answerJSON{Kind: "answer"}
	var numbers []byte
	for _, sum := range sums {
		q.SD, q.Dims = append(q.SD, sum.SD), append(q.Dims, len(sum.Sum))
		for _, v := range sum.Sum {
			numbers = binary.LittleEndian.AppendUint64(numbers, math.Float64bits(v))
		}
	}
	text, _, err := s.call.Ask(q, numbers)
	if err != nil {
		return evaluate.Answer{}, err
	}
	var r repliedJSON
	if err := json.Unmarshal(text, &r); err != nil {
		return evaluate.Answer{}, err
	}
	if r.Failed != "" {
		return evaluate.Answer{}, errors.New(r.Failed)
	}
	return r.Answer, nil
}
