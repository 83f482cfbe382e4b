package overview_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/evaluate/overview"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// arms has n episodes of k decisions: the arm 1 with probability p, drawn at the first
// decision, and again at each later one where anew says so.
func arms(r *rand.Rand, n, k int, p float64, anew bool) *trajectory.Dataset {
	d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}, Terminated: make([]bool, n)}
	for i := range n {
		var a int32
		for t := range k {
			if t == 0 || anew {
				a = 0
				if r.Float64() < p {
					a = 1
				}
			}
			d.Action, d.Reward = append(d.Action, a), append(d.Reward, 1)
			d.BehaviorProb = append(d.BehaviorProb, []float64{1 - p, p}[a])
		}
		d.EpisodeStart, d.PersonStart = append(d.EpisodeStart, k*i+k), append(d.PersonStart, i+1)
	}
	return d
}

// What was drawn anew at each decision is not taken for a trial that drew an arm once,
// however seldom an action changes; what was drawn once is, however unequal the arms.
// With 400 decisions after the first and p = .95 some 38 changes are to be expected, and
// fewer than 10 have probability below 1e-7.
func TestATrialThatDrewItsArmOnceIsRecognised(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, p := range []float64{.5, .6, .9, .95} {
		for _, anew := range []bool{false, true} {
			report, err := overview.Look(arms(r, 200, 3, p, anew), facts())
			if err != nil {
				t.Fatal(err)
			}
			told := strings.Contains(strings.Join(report.Warnings, "\n"), "constant_by_step")
			if told == anew {
				t.Errorf("p = %v, drawn anew %v: told %v: %q", p, anew, told, report.Warnings)
			}
		}
	}
	d := arms(r, 200, 3, .6, false)
	d.Action[2] = 1 - d.Action[2] // one crossed over
	report, err := overview.Look(d, facts())
	if err != nil {
		t.Fatal(err)
	}
	if told := strings.Join(report.Warnings, "\n"); !strings.Contains(told, "seldom changes (1 in all)") || !strings.Contains(told, "probs: [[0.4, 0.6], 1]") {
		t.Error(told)
	}
}

// With estimated probabilities the shares in the data stand for them, cell by cell: an
// action that follows from the cell is no draw. What is told as drawn once is held
// against those who leave it.
func TestADrawOfAnArmIsRecognisedWithoutProbabilities(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 3))
	for _, anew := range []bool{false, true} {
		for _, once := range []bool{false, true} {
			for _, known := range []bool{false, true} {
				d, f := arms(r, 200, 3, .6, anew), facts()
				d.BehaviorProb, f.Estimated = nil, &evaluate.EstimatedBehavior{Actions: 2, Once: once}
				if known { // the cell is the action
					f.Estimated.States, f.Estimated.Column = 2, "obs_s"
					d.Columns, d.Obs = []string{"obs_s"}, make([]float64, len(d.Action))
					for row, a := range d.Action {
						d.Obs[row] = float64(a)
					}
				}
				report, err := overview.Look(d, f)
				if err != nil {
					t.Fatal(err)
				}
				told := strings.Join(report.Warnings, "\n")
				if strings.Contains(told, "say so by once: true in data.behavior") != (!anew && !once && !known) || strings.Contains(told, "says once: true, but the action changes") != (anew && once) {
					t.Errorf("drawn anew %v, told once %v, cells %v: %q", anew, once, known, told)
				}
			}
		}
	}
}

func TestPercentHasNoExponent(t *testing.T) {
	for share, want := range map[float64]string{1: "100%", .99999: "100%", .0422: "4.22%", 1e-7: "0.00001%", 0: "0%", .2375: "23.8%", 12.5: "1250%"} {
		if got := overview.Percent(share); got != want {
			t.Errorf("%v is %s, want %s", share, got, want)
		}
	}
}
