package worker

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// caller answers what a method of sums is asked, with vectors of the reward and the observation; of
// a reward in fails it has a word in the place of numbers, and of one in shorter a number too few.
type caller struct {
	fails, shorter []float64
	goes           int // after so many questions
	asked          int
}

func (c *caller) ask(question any, numbers []byte) (json.RawMessage, []byte, error) {
	if c.asked++; c.goes > 0 && c.asked > c.goes {
		return nil, nil, errGone
	}
	q, ok := question.(questionJSON)
	if !ok {
		return json.RawMessage(`{"value": 1}`), nil, nil
	}
	var r vectorsJSON
	var back []byte
	x := make([]float64, len(numbers)/8)
	for i := range x {
		x[i] = math.Float64frombits(binary.LittleEndian.Uint64(numbers[8*i:]))
	}
	for _, p := range q.Persons {
		mine := x[:p.Rows*len(p.Parts)]
		x = x[len(mine):]
		reward, seen := mine[0], mine[slices.Index(p.Parts, "obs_x")]
		vector, why := []float64{reward, seen}, ""
		switch {
		case slices.Contains(c.fails, reward):
			vector, why = nil, "KeyError at line 3"
		case slices.Contains(c.shorter, reward):
			vector = vector[:1]
		}
		for _, v := range vector {
			back = binary.LittleEndian.AppendUint64(back, math.Float64bits(v))
		}
		r.Failed, r.Lengths = append(r.Failed, why), append(r.Lengths, len(vector))
	}
	text, err := json.Marshal(r)
	return text, back, err
}

// exact is the tape that keeps the sums before noise.
type exact struct{ sum []float64 }

func (e *exact) Release(step, _ float64, sum, _ []int64) {
	for _, s := range sum {
		e.sum = append(e.sum, float64(s)*step)
	}
}

func people(n int) *trajectory.Dataset {
	d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}, Columns: []string{"obs_x"}}
	for i := range n {
		d.Reward, d.Obs = append(d.Reward, float64(i)), append(d.Obs, 2*float64(i))
		d.EpisodeStart, d.PersonStart = append(d.EpisodeStart, i+1), append(d.PersonStart, i+1)
	}
	return d
}

const outline = `{"name":"test/far","estimates":"sums","rounds":[{"dimension":2,"clip":1e4,"share":1}],"columns":["obs_x"],"may_fail":0.3}`

func planFar(t *testing.T, c *caller, persons int, abort func(error)) *evaluate.Plan {
	t.Helper()
	s, err := SumsOf(Call{Method: json.RawMessage(outline), Ask: c.ask, Abort: abort})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := evaluate.OfSums(s).Plan(evaluate.Public{Persons: int64(persons), Gamma: 1, Horizon: 1, Reward: evaluate.Range{Max: 1e4}, Target: policy.Logged{},
		Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}}})
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// The sums are those of the caller's vectors, over more persons than one message has; who fails, or
// is given a vector of another length, adds zero, and nobody else's numbers move.
func TestSumsAreTheCallers(t *testing.T) {
	const n = 700
	d := people(n)
	c := &caller{fails: []float64{5, 300, 699}, shorter: []float64{6, 512}}
	ready, err := planFar(t, c, n, func(error) {}).Check(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	tape := new(exact)
	if _, err := ready.Run(context.Background(), receipt.None(), noise.NewTaped(1, tape)); err != nil {
		t.Fatal(err)
	}
	want := [2]float64{}
	for i := range n {
		if r := float64(i); !slices.Contains(c.fails, r) && !slices.Contains(c.shorter, r) {
			want[0] += r
			want[1] += 2 * r
		}
	}
	for j, w := range want {
		if math.Abs(tape.sum[j]-w) > 1e-3 {
			t.Errorf("coordinate %d: %v; want %v", j, tape.sum[j], w)
		}
	}
}

// The curator is told how many failed and where, once more than may.
func TestManyFailuresAreTold(t *testing.T) {
	c := &caller{}
	for i := range 400 {
		c.fails = append(c.fails, 300+float64(i))
	}
	_, err := planFar(t, c, 700, func(error) {}).Check(context.Background(), people(700))
	if !errors.Is(err, evaluate.ErrMethod) || !strings.Contains(err.Error(), "fails for 400 of 700 persons") || !strings.Contains(err.Error(), "KeyError at line 3") {
		t.Error(err)
	}
}

// A caller that goes, or cancels, ends the call: its persons do not add zero.
func TestACallerThatGoesIsNoFailureOfPersons(t *testing.T) {
	for goes := 3; goes < 20; goes++ {
		c := &caller{goes: goes}
		ctx, cancel := context.WithCancelCause(context.Background())
		ready, err := planFar(t, c, 700, cancel).Check(ctx, people(700))
		if err == nil {
			var r *evaluate.Release
			if r, err = ready.Run(ctx, receipt.None(), noise.NewSeeded(1)); r != nil && c.asked > goes {
				t.Fatalf("a release after the caller went at question %d", goes)
			}
		}
		if c.asked > goes && (err == nil || errors.Is(err, evaluate.ErrImpure)) {
			t.Errorf("gone after %d questions: %v", goes, err)
		}
		if c.asked <= goes {
			return
		}
	}
	t.Error("the method asks for ever")
}

// A reply that is none ends the call as well.
func TestAReplyThatIsNone(t *testing.T) {
	for _, text := range []string{`{`, `{"failed":[""],"lengths":[2]}`, `{"failed":[],"lengths":[]}`} {
		var aborted error
		s, err := SumsOf(Call{Method: json.RawMessage(outline), Abort: func(err error) { aborted = err }, Ask: func(any, []byte) (json.RawMessage, []byte, error) {
			return json.RawMessage(text), nil, nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		dst := [][]float64{make([]float64, 2), make([]float64, 2)}
		failed := s.Contributions(dst, 0, nil, []*trajectory.Dataset{people(1), people(1)})
		if aborted == nil || failed[0] == nil || failed[1] == nil {
			t.Errorf("%s: %v, aborted %v", text, failed, aborted)
		}
	}
	if _, err := SumsOf(Call{Method: json.RawMessage(`[]`)}); !errors.Is(err, evaluate.ErrMethod) {
		t.Error(err)
	}
	if s, err := SumsOf(Call{}); s != nil || err != nil {
		t.Error(s, err)
	}
}
