package overview_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/overview"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// trial has n persons of two decisions; an arm is drawn by lot at the first and
// kept. p is the behaviour probability that the second decision is given.
func trial(n int, p float64) *trajectory.Dataset {
	d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}, Terminated: make([]bool, n)}
	for i := range n {
		arm := int32(i % 2)
		d.Action = append(d.Action, arm, arm)
		d.Reward = append(d.Reward, float64(arm), 1)
		d.BehaviorProb = append(d.BehaviorProb, .5, p)
		d.EpisodeStart = append(d.EpisodeStart, 2*i+2)
		d.PersonStart = append(d.PersonStart, i+1)
	}
	return d
}

func facts() overview.Facts {
	one, err := policy.NewConstant(1)
	if err != nil {
		panic(err)
	}
	return overview.Facts{Persons: 100, Gamma: .5, Target: one, Cap: 2, Reward: &evaluate.Range{Max: 1}, Return: &evaluate.Range{Max: 1.5}}
}

func ExampleLook() {
	r, err := overview.Look(trial(100, 1), facts())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Persons, r.Lengths.Mean, r.Returns.Max, r.Weights.Mean, r.Weights.EffectiveSize, len(r.Warnings))
	// Output: 100 2 1.5 1 50 0
}

// A trial that drew an arm once and is told as if every decision had been drawn
// has weights of mean 2: nothing of the data is malformed, and the answer is wrong.
func TestProbabilitiesThatDoNotFitAreTold(t *testing.T) {
	r, err := overview.Look(trial(100, .5), facts())
	if err != nil {
		t.Fatal(err)
	}
	if r.Weights.Mean != 2 || !r.Propensity.Constant || r.Weights.BeyondShare != .5 || r.Weights.BeyondMass != .5 {
		t.Errorf("%+v, %+v", r.Weights, r.Propensity)
	}
	told := strings.Join(r.Warnings, "\n")
	for _, want := range []string{"the mean weight of an episode is 2", "the action of an episode never changes, and by the behaviour probabilities at least 50 changes", "probs: [0.5, 1]", "cuts off 50% of their sum", "allows for what is cut, as missing mass"} {
		if !strings.Contains(told, want) {
			t.Errorf("not told: %s\n%s", want, told)
		}
	}
}

// Returns of 0.1 + 0.2, and of 0.5: a range up to 0.3 holds the first, rounded as it is, and a
// list without 0.5 not the second; of an episode that was cut off nobody knows.
func TestReturnsAreHeldAgainstTheirListButForRounding(t *testing.T) {
	d := &trajectory.Dataset{
		PersonStart: []int{0, 1, 2, 3}, EpisodeStart: []int{0, 2, 4, 5}, Reward: []float64{0.1, 0.2, 0.5, 0, 0.7},
		Terminated: []bool{true, true, false},
	}
	f := overview.Facts{Gamma: 1, Horizon: 2, Target: policy.Logged{}, Return: &evaluate.Range{Max: 0.3}, Listed: []float64{0, 0.3, 1}}
	r, err := overview.Look(d, f)
	if err != nil {
		t.Fatal(err)
	}
	if told := strings.Join(r.Warnings, "\n"); r.Returns.Outside != 2 || !strings.Contains(told, "and 2 lie outside") || !strings.Contains(told, "every return is one of ends, and 1 are not") {
		t.Errorf("%d outside, %s", r.Returns.Outside, told)
	}
}

func TestPublicFactsThatTheDataContradictAreTold(t *testing.T) {
	f := facts()
	f.Persons, f.Reward, f.Return = 99, &evaluate.Range{Max: .5}, &evaluate.Range{Max: 1}
	r, err := overview.Look(trial(100, 1), f)
	if err != nil {
		t.Fatal(err)
	}
	// Rewards are 0, 1 and 1, 1; returns .5 and 1.5.
	if r.Rewards.Outside != 150 || r.Returns.Outside != 50 || len(r.Warnings) != 3 {
		t.Errorf("%+v %+v %q", r.Rewards, r.Returns, r.Warnings)
	}
	f = facts()
	f.Persons, f.Lower = 100, true
	if r, err = overview.Look(trial(100, 1), f); err != nil || len(r.Warnings) != 0 {
		t.Errorf("a lower bound that holds: %v %q", err, r.Warnings)
	}
	f.Persons = 101
	if r, err = overview.Look(trial(100, 1), f); err != nil || len(r.Warnings) != 1 {
		t.Errorf("a lower bound that does not: %v %q", err, r.Warnings)
	}
}

func TestAHandfulOfEpisodesIsTold(t *testing.T) {
	d := trial(100, 1)
	for i := range d.Action {
		d.Action[i] = 0
	}
	d.Action[0], d.Action[1] = 1, 1
	r, err := overview.Look(d, facts())
	if err != nil {
		t.Fatal(err)
	}
	if r.Weights.EffectiveSize != 1 || r.Weights.Zero != 99 || !strings.Contains(strings.Join(r.Warnings, "\n"), "very few of them") {
		t.Errorf("%+v %q", r.Weights, r.Warnings)
	}
	if got, want := r.Actions[1], 2; got != want || len(r.Steps) != 2 || r.Steps[1].Actions[0] != 99 {
		t.Errorf("%v %+v", r.Actions, r.Steps)
	}
}

// An action is counted by its word, also where nobody took it; a number too large for
// a table has no place in it, and takes none from the others.
func TestActionsHaveTheirWords(t *testing.T) {
	f := facts()
	f.Words = map[int]string{0: "placebo", 1: "low", 2: "high", 1 << 30: "never"}
	r, err := overview.Look(trial(100, 1), f)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(r.Actions, r.Steps[0].Actions) != "[100 100 0] [50 50 0]" || r.Name(0) != "0 placebo" || r.Name(2) != "2 high" {
		t.Errorf("%v %+v %q", r.Actions, r.Steps, r.Words)
	}
	if r, err = overview.Look(trial(100, 1), facts()); err != nil || len(r.Actions) != 2 || r.Name(1) != "1" || r.Words != nil {
		t.Errorf("%v %v %q", err, r.Actions, r.Words)
	}
}

func TestNoDataIsDescribedToo(t *testing.T) {
	r, err := overview.Look(&trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}, BehaviorProb: []float64{}}, overview.Facts{Gamma: 1, Target: facts().Target})
	if err == nil && (r.Rows != 0 || math.IsNaN(r.Lengths.Mean) || math.IsNaN(r.Returns.Mean)) {
		t.Errorf("%+v", r)
	}
}

// Every number stands in one bin; few integers have one each.
func TestBinsCountEverything(t *testing.T) {
	d := trial(100, 1)
	r, err := overview.Look(d, facts())
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		got  []int
		want string
	}{
		"lengths": {r.Lengths.Bins, "[100]"},
		"rewards": {r.Rewards.Bins, "[50 150]"},
		"returns": {r.Returns.Bins, "[50 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 50]"},
		"weights": {r.Weights.Bins, "[50 0 50]"},
	} {
		if got := fmt.Sprint(c.got); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	for i := range d.Reward {
		d.Reward[i] = []float64{-math.MaxFloat64, math.MaxFloat64, 1}[i%3]
	}
	if r, err = overview.Look(d, facts()); err != nil || len(r.Rewards.Bins) != 24 || r.Rewards.Bins[0] == 0 || r.Rewards.Bins[23] == 0 || r.Rewards.Bins[12] == 0 {
		t.Errorf("%v %v", r.Rewards.Bins, err)
	}
}
