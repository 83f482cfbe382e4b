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

// questionJSON asks for the vectors of persons. The numbers are the noisy sums of the rounds before,
// where Told is set, then those of each person in turn.
type questionJSON struct {
	Kind    string       `json:"kind"` // "contributions"
	Round   int          `json:"round"`
	Told    bool         `json:"told,omitempty"`
	Persons []personJSON `json:"persons"`
}

// personJSON says what the numbers of a person are: a column of Rows for each of Parts.
type personJSON struct {
	Rows     int      `json:"rows"`
	Episodes []int    `json:"episodes"` // where each starts, and the last ends
	Ended    []bool   `json:"ended"`    // whether each terminated
	Parts    []string `json:"parts"`
}

// vectorsJSON is a reply: for each person why the code failed, or how many numbers of it follow.
type vectorsJSON struct {
	Failed  []string `json:"failed"`
	Lengths []int    `json:"lengths"`
}

// Contribution implements [evaluate.Sums].
func (s *Sums) Contribution(dst []float64, round int, earlier [][]float64, person *trajectory.Dataset) {
	if err := s.Contributions([][]float64{dst}, round, earlier, []*trajectory.Dataset{person})[0]; err != nil {
		panic(err)
	}
}

// Contributions asks the caller for the vectors of some persons, which it makes one after another.
// A failure is that person's alone. A caller that is gone, or that cancelled, ends the whole call.
func (s *Sums) Contributions(dst [][]float64, round int, earlier [][]float64, persons []*trajectory.Dataset) []error {
	s.one.Lock()
	defer s.one.Unlock()
	q := questionJSON{Kind: "contributions", Round: round, Told: s.round != round || !slices.EqualFunc(s.told, earlier, slices.Equal)}
	var n numbers
	if q.Told {
		for _, sum := range earlier {
			n.add(sum...)
		}
	}
	for _, person := range persons {
		q.Persons = append(q.Persons, s.describe(&n, person))
	}
	failed := make([]error, len(dst))
	text, given, err := s.call.Ask(q, n)
	var r vectorsJSON
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err == nil && (len(r.Failed) != len(dst) || len(r.Lengths) != len(dst)) {
		err = fmt.Errorf("%w: a reply about %d persons; want %d", ErrFrame, len(r.Failed), len(dst))
	}
	if err != nil {
		s.call.Abort(err)
		for i := range failed {
			failed[i] = err
		}
		return failed
	}
	s.round, s.told = round, earlier
	for i, x := range dst {
		length := 8 * r.Lengths[i]
		switch {
		case length < 0 || length > len(given):
			failed[i] = errNoAnswer
			continue
		case r.Failed[i] != "":
			failed[i] = errors.New(r.Failed[i])
		case r.Lengths[i] != len(x):
			failed[i] = fmt.Errorf("it returns %d numbers; want %d", r.Lengths[i], len(x))
		default:
			for j := range x {
				x[j] = math.Float64frombits(binary.LittleEndian.Uint64(given[8*j:]))
			}
		}
		given = given[length:]
	}
	return failed
}

// numbers are what follows the head of a frame.
type numbers []byte

func (n *numbers) add(x ...float64) {
	for _, v := range x {
		*n = binary.LittleEndian.AppendUint64(*n, math.Float64bits(v))
	}
}

// describe adds the numbers of a person, and says what they are.
func (s *Sums) describe(n *numbers, person *trajectory.Dataset) personJSON {
	out := personJSON{Rows: person.Rows(), Episodes: person.EpisodeStart, Ended: person.Terminated}
	part := func(name string, x []float64) {
		if x != nil {
			out.Parts = append(out.Parts, name)
			n.add(x...)
		}
	}
	part("reward", person.Reward)
	if person.Action != nil {
		out.Parts = append(out.Parts, "action")
		for _, a := range person.Action {
			n.add(float64(a))
		}
	}
	part("behavior_prob", person.BehaviorProb)
	part("target_prob", s.targetProb(person))
	part("discount", person.Discount)
	for j, name := range person.Columns {
		out.Parts = append(out.Parts, name)
		for i := range person.Rows() {
			n.add(person.Obs[i*len(person.Columns)+j])
		}
	}
	return out
}

var errNoAnswer = errors.New("the caller gives no numbers")

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
	var n numbers
	for _, sum := range sums {
		q.SD, q.Dims = append(q.SD, sum.SD), append(q.Dims, len(sum.Sum))
		n.add(sum.Sum...)
	}
	text, _, err := s.call.Ask(q, n)
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
