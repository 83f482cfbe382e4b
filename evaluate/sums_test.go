package evaluate_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// written is a method of sums whose parts are functions.
type written struct {
	outline evaluate.Outline
	add     func(dst []float64, round int, earlier [][]float64, person *trajectory.Dataset)
	answer  func(sums []evaluate.NoisySum) (evaluate.Answer, error)
}

func (w written) Outline(evaluate.Public) (evaluate.Outline, error) { return w.outline, nil }

func (w written) Contribution(dst []float64, round int, earlier [][]float64, person *trajectory.Dataset) {
	w.add(dst, round, earlier, person)
}

func (w written) Answer(_ evaluate.Public, sums []evaluate.NoisySum) (evaluate.Answer, error) {
	if w.answer == nil {
		return evaluate.Answer{Value: sums[0].Sum[0]}, nil
	}
	return w.answer(sums)
}

// oneRound is a sum of two numbers within a norm of 1.
func oneRound(add func(dst []float64, round int, earlier [][]float64, person *trajectory.Dataset)) written {
	return written{outline: evaluate.Outline{Method: "test/sum", Estimates: "a sum", Rounds: []evaluate.Round{{Dim: 2, Clip: 1, Share: 1}}}, add: add}
}

// rewards are persons of one decision, whose rewards tell them apart.
func rewards(rewards ...float64) *trajectory.Dataset {
	d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}}
	for i, r := range rewards {
		d.Reward = append(d.Reward, r)
		d.EpisodeStart, d.PersonStart = append(d.EpisodeStart, i+1), append(d.PersonStart, i+1)
	}
	return d
}

func sumsPlan(t *testing.T, m evaluate.Sums, persons int) (*evaluate.Plan, error) {
	t.Helper()
	return evaluate.OfSums(m).Plan(evaluate.Public{Persons: int64(persons), Gamma: 1, Horizon: 1, Reward: evaluate.Range{Min: 0, Max: 10}, Target: policy.Logged{},
		Privacy: &evaluate.Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1, Delta: 1e-3}}})
}

// exact is the tape that keeps the sums before noise, in the caller's units.
type exact struct{ sums [][]float64 }

func (e *exact) Release(step, _ float64, sum, _ []int64) {
	var out []float64
	for _, s := range sum {
		out = append(out, float64(s)*step)
	}
	e.sums = append(e.sums, out)
}

// runSums gives the exact sums of a run, and its release.
func runSums(t *testing.T, m evaluate.Sums, d *trajectory.Dataset) (*exact, *evaluate.Plan, *evaluate.Release) {
	t.Helper()
	plan, err := sumsPlan(t, m, d.Persons())
	if err != nil {
		t.Fatal(err)
	}
	ready, err := plan.Check(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	tape := new(exact)
	r, err := ready.Run(context.Background(), receipt.None(), noise.NewTaped(1, tape))
	if err != nil {
		t.Fatal(err)
	}
	return tape, plan, r
}

// TestCodeThatFailsAddsZero: for the person for whom it fails, and for nobody else. What
// is longer than the clip is shrunk to it.
func TestCodeThatFailsAddsZero(t *testing.T) {
	m := oneRound(func(dst []float64, _ int, _ [][]float64, person *trajectory.Dataset) {
		dst[0], dst[1] = 0.25, 0.5
		switch person.Reward[0] {
		case 1:
			panic(person.Reward[0])
		case 2:
			dst[1] = math.Inf(1)
		case 3:
			dst[0] = math.NaN()
		case 4:
			dst[2] = 1 // beyond the end
		case 5:
			dst[0], dst[1] = 30, -40
		case 6:
			dst[0] = person.Discount[0] // of which there is none
		}
	})
	for _, c := range []struct {
		reward float64
		want   [2]float64
	}{{0, [2]float64{0.25, 0.5}}, {1, [2]float64{}}, {2, [2]float64{}}, {3, [2]float64{}}, {4, [2]float64{}}, {5, [2]float64{0.6, -0.8}}, {6, [2]float64{}}} {
		tape, _, _ := runSums(t, m, rewards(0, c.reward, 0))
		for i, want := range c.want {
			want += []float64{0.5, 1}[i]
			if got := tape.sums[0][i]; math.Abs(got-want) > 1e-8 {
				t.Errorf("reward %v: sum %v; want %v in coordinate %d", c.reward, got, want, i)
			}
		}
	}
}

// TestCodeThatKeepsSomethingIsFound before anything is spent, or, where it keeps it until
// noisy sums are there, before anything is released.
func TestCodeThatKeepsSomethingIsFound(t *testing.T) {
	calls, largest, seen := 0.0, 0.0, map[float64]bool{}
	var kept []float64
	for name, add := range map[string]func(dst []float64, person *trajectory.Dataset){
		"counts its calls": func(dst []float64, _ *trajectory.Dataset) { calls++; dst[0] = calls / 100 },
		"knows the largest reward so far": func(dst []float64, p *trajectory.Dataset) {
			largest = max(largest, p.Reward[0])
			dst[0] = largest / 100
		},
		"counts equals once": func(dst []float64, p *trajectory.Dataset) {
			if !seen[p.Reward[0]] {
				dst[0], seen[p.Reward[0]] = 1, true
			}
		},
		"adds what it wrote before": func(dst []float64, p *trajectory.Dataset) {
			if kept != nil {
				dst[0] = kept[0] / 2
			}
			dst[0] += p.Reward[0] / 100
			kept = dst
		},
	} {
		// In one order of four the largest reward comes first, and is the largest ever after.
		found := false
		for range 20 {
			calls, largest, kept = 0, 0, nil
			clear(seen)
			plan, err := sumsPlan(t, oneRound(func(dst []float64, _ int, _ [][]float64, p *trajectory.Dataset) { add(dst, p) }), 4)
			if err != nil {
				t.Fatal(err)
			}
			_, err = plan.Check(context.Background(), rewards(1, 2, 2, 5))
			found = found || errors.Is(err, evaluate.ErrImpure)
		}
		if !found {
			t.Errorf("code that %s is not found in 20 orders", name)
		}
	}
	calls = 0
	late := written{outline: evaluate.Outline{Method: "test/late", Estimates: "nothing", Rounds: []evaluate.Round{{Dim: 1, Clip: 1, Share: 1}, {Dim: 1, Clip: 1, Share: 1}}},
		add: func(dst []float64, round int, earlier [][]float64, _ *trajectory.Dataset) {
			if round == 1 && earlier[0][0] != 0 {
				calls++
				dst[0] = calls / 100
			}
		}}
	plan, err := sumsPlan(t, late, 3)
	if err != nil {
		t.Fatal(err)
	}
	ready, err := plan.Check(context.Background(), rewards(1, 2, 3))
	if err != nil {
		t.Fatal(err)
	}
	if r, err := ready.Run(context.Background(), receipt.None(), noise.NewSeeded(1)); !errors.Is(err, evaluate.ErrImpure) || r != nil {
		t.Errorf("code that waits for noisy sums: release %v, error %v; want none and ErrImpure", r, err)
	}
}

// TestCodeSeesOnePersonAndMayWriteIntoIt: copies of what is theirs.
func TestCodeSeesOnePersonAndMayWriteIntoIt(t *testing.T) {
	d := rewards(1, 2, 3)
	d.Columns, d.Obs = []string{"obs_x"}, []float64{10, 20, 30}
	d.PersonID, d.EpisodeID = []string{"ann", "bob", "cy"}, []string{"a", "b", "c"}
	m := written{outline: evaluate.Outline{Method: "test/write", Estimates: "rewards", Rounds: []evaluate.Round{{Dim: 1, Clip: 10, Share: 1}, {Dim: 1, Clip: 40, Share: 1}}},
		add: func(dst []float64, round int, earlier [][]float64, p *trajectory.Dataset) {
			if p.Reward[0] == 0 {
				return // a made-up person
			}
			if p.Persons() != 1 || p.Episodes() != 1 || p.Rows() != 1 || p.PersonID != nil || p.EpisodeID != nil || p.Obs[0] != 10*p.Reward[0] {
				panic("not one person")
			}
			if round == 1 {
				dst[0] = p.Obs[0]
				earlier[0][0] = 0
			} else {
				dst[0] = p.Reward[0]
			}
			p.Reward[0], p.Obs[0], p.EpisodeStart[1], p.Columns[0] = 7, 7, 7, "gone"
		}}
	tape, _, _ := runSums(t, m, d)
	if math.Abs(tape.sums[0][0]-6) > 1e-6 || math.Abs(tape.sums[1][0]-60) > 1e-6 || d.Reward[0] != 1 || d.Columns[0] != "obs_x" {
		t.Errorf("sums %v of rewards %v", tape.sums, d.Reward)
	}
}

// TestAnswersAreMadeAgain from the noisy sums that a release tells; what was changed is
// found.
func TestAnswersAreMadeAgain(t *testing.T) {
	m := oneRound(func(dst []float64, _ int, _ [][]float64, p *trajectory.Dataset) { dst[0] = p.Reward[0] / 10 })
	m.answer = func(s []evaluate.NoisySum) (evaluate.Answer, error) {
		v := s[0].Sum[0]
		return evaluate.Answer{Value: v, Interval: &[2]float64{v - s[0].SD, v + s[0].SD}, Confidence: 0.68, Claim: "the sum, over the noise"}, nil
	}
	_, plan, r := runSums(t, m, rewards(1, 2, 3))
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, edit := range []struct {
		name  string
		edit  func(r *evaluate.Release)
		sound bool
	}{
		{"none", func(*evaluate.Release) {}, true},
		{"value", func(r *evaluate.Release) { r.Answer.Value++ }, false},
		{"interval", func(r *evaluate.Release) { r.Answer.Interval[0]-- }, false},
		{"no answer", func(r *evaluate.Release) { r.Answer = nil }, false},
		{"sum", func(r *evaluate.Release) { r.Diagnostics["sums"].([]any)[0].([]any)[0] = 4.0 }, false},
		{"no sum", func(r *evaluate.Release) { r.Diagnostics["sums"] = []any{} }, false},
		{"note", func(r *evaluate.Release) { r.Notes = r.Notes[:1] }, false},
		{"clip", func(r *evaluate.Release) {
			r.Public["rounds"].([]any)[0].(map[string]any)["clip"] = 2.0
		}, false},
	} {
		got := new(evaluate.Release)
		if err := json.Unmarshal(text, got); err != nil {
			t.Fatal(err)
		}
		edit.edit(got)
		if err := plan.Verify(got); (err == nil) != edit.sound || err != nil && !errors.Is(err, evaluate.ErrRelease) {
			t.Errorf("changed %s: %v", edit.name, err)
		}
	}
	want := []string{"Only a person's first decision counts", "is not part of this library", "run twice in opposite orders", "its confidence of 68% are claims of the author of test/sum: the sum, over the noise"}
	for i, words := range want {
		if !strings.Contains(r.Notes[i], words) {
			t.Errorf("note %d is %q; want %q", i, r.Notes[i], words)
		}
	}
	if e := r.Privacy.Epsilon; e != 1 || plan.Epsilon.Upper > 1 || plan.Epsilon.Upper < 0.999 || !reflect.DeepEqual(plan.Event, r.Privacy.Event) {
		t.Errorf("epsilon %v, accounted %v", e, plan.Epsilon)
	}
}

// TestAnAnswerThatPanicsIsAnError of a run, and of checking its release: the program goes
// on and can tell what was spent.
func TestAnAnswerThatPanicsIsAnError(t *testing.T) {
	m := oneRound(func(dst []float64, _ int, _ [][]float64, _ *trajectory.Dataset) { dst[0] = 1 })
	m.answer = func(s []evaluate.NoisySum) (evaluate.Answer, error) {
		return evaluate.Answer{Value: s[0].Sum[len(s[0].Sum)]}, nil
	}
	plan, err := sumsPlan(t, m, 2)
	if err != nil {
		t.Fatal(err)
	}
	ready, err := plan.Check(context.Background(), rewards(1, 2))
	if err != nil {
		t.Fatal(err)
	}
	r, err := ready.Run(context.Background(), receipt.None(), noise.NewSeeded(1))
	if !errors.Is(err, evaluate.ErrMethod) || !strings.Contains(err.Error(), "test/sum: its answer: the author's code panics: ") || r != nil {
		t.Errorf("%v, %v", r, err)
	}
	m = oneRound(m.add)
	_, _, r = runSums(t, m, rewards(1, 2))
	if err := plan.Verify(r); !errors.Is(err, evaluate.ErrRelease) || !strings.Contains(err.Error(), "panics") {
		t.Errorf("verified: %v", err)
	}
}

// TestOutlinesAndAnswersThatSayTooLittleAreRefused.
func TestOutlinesAndAnswersThatSayTooLittleAreRefused(t *testing.T) {
	nothing := func([]float64, int, [][]float64, *trajectory.Dataset) {}
	for name, change := range map[string]func(o *evaluate.Outline){
		"a name of this library's": func(o *evaluate.Outline) { o.Method = "dp-is" },
		"a name of two lines":      func(o *evaluate.Outline) { o.Method = "a/b\nc" },
		"no estimand":              func(o *evaluate.Outline) { o.Estimates = "" },
		"this library's author":    func(o *evaluate.Outline) { o.Method = "discreet/sum" },
		"words turned around":      func(o *evaluate.Outline) { o.Estimates = "a \u202emus" },
		"a line that is two":       func(o *evaluate.Outline) { o.Estimates = "a sum\u2028of" },
		"no text":                  func(o *evaluate.Outline) { o.Estimates = "a sum\xff" },
		"2^50 coordinates":         func(o *evaluate.Outline) { o.Rounds[0].Dim = 1 << 50 },
		"as many as an int holds":  func(o *evaluate.Outline) { o.Rounds[0].Dim = math.MaxInt },
		"fewer than none":          func(o *evaluate.Outline) { o.Rounds[0].Dim = math.MinInt },
		"too many of two rounds": func(o *evaluate.Outline) {
			o.Rounds = []evaluate.Round{{Dim: 1 << 20, Clip: 1, Share: 1}, {Dim: 1, Clip: 1, Share: 1}}
		},
		"no round":                 func(o *evaluate.Outline) { o.Rounds = nil },
		"no share":                 func(o *evaluate.Outline) { o.Rounds[0].Share = 0 },
		"an endless share":         func(o *evaluate.Outline) { o.Rounds[0].Share = math.Inf(1) },
		"no clip":                  func(o *evaluate.Outline) { o.Rounds[0].Clip = 0 },
		"a clip that is no number": func(o *evaluate.Outline) { o.Rounds[0].Clip = math.NaN() },
		"no coordinate":            func(o *evaluate.Outline) { o.Rounds[0].Dim = 0 },
	} {
		m := oneRound(nothing)
		m.outline.Rounds = []evaluate.Round{m.outline.Rounds[0]}
		change(&m.outline)
		if _, err := sumsPlan(t, m, 2); !errors.Is(err, evaluate.ErrMethod) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, a := range map[string]evaluate.Answer{
		"no number":              {Value: math.NaN()},
		"an interval reversed":   {Interval: &[2]float64{1, 0}, Confidence: 0.5, Claim: "x"},
		"an endless interval":    {Interval: &[2]float64{0, math.Inf(1)}, Confidence: 0.5, Claim: "x"},
		"a claim of nothing":     {Interval: &[2]float64{0, 1}, Confidence: 0.5},
		"a claim turned around":  {Interval: &[2]float64{0, 1}, Confidence: 0.5, Claim: "\u202ex"},
		"a certain interval":     {Interval: &[2]float64{0, 1}, Confidence: 1, Claim: "x"},
		"a claim of no interval": {Claim: "x"},
	} {
		m := oneRound(nothing)
		m.answer = func([]evaluate.NoisySum) (evaluate.Answer, error) { return a, nil }
		plan, err := sumsPlan(t, m, 2)
		if err != nil {
			t.Fatal(err)
		}
		ready, err := plan.Check(context.Background(), rewards(1, 2))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ready.Run(context.Background(), receipt.None(), noise.NewSeeded(1)); !errors.Is(err, evaluate.ErrMethod) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
