package truthbench_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// absence is what of a log is not there.
type absence struct {
	name string
	// cut and left are the shares of episodes that are cut off, and left out. informative
	// says that it befalls those that go worst.
	cut, left   float64
	informative bool
}

// absences are those of the bench. A problem of one decision has nothing to cut.
func absences() []absence {
	return []absence{
		{name: "nothing"},
		{"20% cut off", 0.2, 0, false}, {"20% cut off, the worst", 0.2, 0, true},
		{"50% cut off", 0.5, 0, false}, {"50% cut off, the worst", 0.5, 0, true},
		{"20% left out", 0, 0.2, false}, {"20% left out, the worst", 0, 0.2, true},
		{"50% left out, the worst", 0, 0.5, true},
		{"20% cut off and 20% left out, the worst", 0.2, 0.2, true},
	}
}

// take takes it out of a log of one episode a person.
func (a absence) take(d *trajectory.Dataset, seed uint64) *trajectory.Dataset {
	rng := rand.New(rand.NewPCG(seed, 0x616273656e74))
	order := rng.Perm(d.Episodes())
	if a.informative {
		worth := make([]float64, d.Episodes())
		for e := range worth {
			for row := d.EpisodeStart[e]; row < d.EpisodeStart[e+1]; row++ {
				worth[e] += d.Reward[row]
			}
			worth[e] += 1e-6 * rng.Float64() // no order among equals
		}
		slices.SortFunc(order, func(i, j int) int { return cmp.Compare(worth[i], worth[j]) })
	}
	n := float64(len(order))
	cut, bad := map[int]bool{}, map[int]bool{}
	for i, e := range order {
		switch at := (float64(i) + rng.Float64()) / n; {
		case at < a.left:
			bad[e] = true
		case at < a.left+a.cut:
			cut[e] = true
		}
	}
	d = cutOff(d, cut, rng)
	rows := map[int]bool{}
	for e := range bad {
		rows[d.EpisodeStart[e]] = true
	}
	d, _ = d.LeaveOut(func(row int) bool { return rows[row] })
	return d
}

// cutOff ends these episodes after one decision at least and before their last.
func cutOff(d *trajectory.Dataset, cut map[int]bool, rng *rand.Rand) *trajectory.Dataset {
	out := *d
	out.EpisodeStart, out.Terminated = []int{0}, slices.Clone(d.Terminated)
	out.Obs, out.Reward, out.Action, out.BehaviorProb, out.TargetProb = nil, nil, nil, nil, nil
	for e := range d.Episodes() {
		lo, hi := d.EpisodeStart[e], d.EpisodeStart[e+1]
		if cut[e] && hi-lo > 1 {
			hi = lo + 1 + rng.IntN(hi-lo-1)
			out.Terminated[e] = false
		}
		out.Obs, out.Reward, out.Action = append(out.Obs, d.Obs[lo:hi]...), append(out.Reward, d.Reward[lo:hi]...), append(out.Action, d.Action[lo:hi]...)
		out.BehaviorProb, out.TargetProb = append(out.BehaviorProb, d.BehaviorProb[lo:hi]...), append(out.TargetProb, d.TargetProb[lo:hi]...)
		out.EpisodeStart = append(out.EpisodeStart, len(out.Reward))
	}
	return &out
}

// absentMethods are those with an interval, off-policy and on-policy.
var absentMethods = []string{"dp-is", "dp-pdis", "dp-wis", "dp-dr", "dp-fqe", "auto"}

// question is one of a problem: of the target, or of the logged policy.
type question struct {
	problem  truthbench.Problem
	method   string
	onPolicy bool
	truth    float64
	public   evaluate.Public
}

// questions are those of a problem.
func questions(t *testing.T, p truthbench.Problem, persons int, epsilon float64, adjacency dp.Adjacency) (out []question) {
	for _, onPolicy := range []bool{false, true} {
		for _, method := range absentMethods {
			q := question{p, method, onPolicy, p.J, p.Public(persons, epsilon, adjacency)}
			if onPolicy {
				q.truth, q.public.Target = p.Logged, policy.Logged{}
			}
			if method == "dp-fqe" {
				if p.States == 0 {
					continue
				}
				var err error
				q.public.Features, err = feature.NewTabular(p.States, "obs_state")
				check(t, err)
			}
			out = append(out, q)
		}
	}
	return out
}

// tallied counts what the intervals of a question did.
type tallied struct {
	question
	plan  *evaluate.Plan
	held  int
	width float64 // mean
}

// askAll asks all questions about the same logs.
func askAll(t *testing.T, all []question, a absence, first, logs int, src *noise.Source) []tallied {
	out := make([]tallied, len(all))
	for i, q := range all {
		e, err := evaluate.New(q.method, nil)
		check(t, err)
		plan, err := e.Plan(q.public)
		check(t, err)
		out[i] = tallied{question: q, plan: plan}
	}
	for seed := first; seed < first+logs; seed++ {
		d := a.take(all[0].problem.Draw(int(all[0].public.Persons), uint64(seed)), uint64(seed))
		for i := range out {
			q := &out[i]
			ready, err := q.plan.Check(context.Background(), d)
			check(t, err)
			r, err := ready.Run(context.Background(), receipt.None(), src)
			check(t, err)
			low, high := r.Answers[0].Estimate.Interval[0], r.Answers[0].Estimate.Interval[1]
			if low <= q.truth && q.truth <= high {
				q.held++
			}
			q.width += (high - low) / float64(logs)
		}
	}
	return out
}

func (q question) String() string {
	of := "target"
	if q.onPolicy {
		of = "logged"
	}
	return fmt.Sprintf("%s, %s of the %s policy, %v", q.problem.Name, q.method, of, q.public.Privacy.Adjacency)
}

// absentProblems are a few of the bench: bandits, where nothing can be cut off, and
// processes whose episodes end early and do not.
func absentProblems() (out []truthbench.Problem) {
	for _, p := range truthbench.Problems() {
		switch p.Name {
		case "bandit, arm at .5", "clicks, arm at .5", "clinical 5 near", "clinical 12 near", "garnet 5 near", "garnet 10 near", "gridworld", "chain", "linear-Gaussian 5":
			out = append(out, p)
		}
	}
	return out
}

// TestIntervalsHoldWhatIsAbsent counts how often intervals hold the truth where episodes are
// cut off or left out, at random and those that go worst: 93% at least. A count fails where a
// method at that limit would show it with probability below 2e-6; there are below 500 counts.
func TestIntervalsHoldWhatIsAbsent(t *testing.T) {
	const logs, persons = 12, 300
	src := noise.NewSeeded(28)
	for _, p := range absentProblems()[:6] {
		all := questions(t, p, persons, 2, dp.ReplaceOne)
		for _, a := range absences()[2:] {
			if p.Horizon == 1 && a.left == 0 {
				continue
			}
			for _, q := range askAll(t, all, a, 5000, logs, src) {
				if q.held < least(logs, 0.93) {
					t.Errorf("%v, %s: %d of %d intervals hold %.3f; mean width %.3f", q.question, a.name, q.held, logs, q.truth, q.width)
				}
			}
		}
	}
}
