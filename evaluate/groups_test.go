package evaluate_test

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// sizes of the groups of crowd, numbered from 0: many, some, few, and nobody at all.
// Another six persons are in no group.
var sizes = []int{1500, 300, 4, 0}

// worth is the value of arm 1 in each group.
var worth = []float64{0.7, 0.2, 0.9, 1}

const stray = 6

// crowd is a log of two arms, drawn with probability 1/2, in which groups stand in any
// order.
func crowd(rng *rand.Rand) *trajectory.Dataset {
	var numbers []float64
	for g, n := range sizes {
		for range n {
			numbers = append(numbers, float64(g))
		}
	}
	for range stray {
		numbers = append(numbers, 17)
	}
	rng.Shuffle(len(numbers), func(i, j int) { numbers[i], numbers[j] = numbers[j], numbers[i] })
	d := &trajectory.Dataset{Columns: []string{"obs_group"}, PersonStart: []int{0}, EpisodeStart: []int{0}}
	for i, number := range numbers {
		action, mean := int32(rng.IntN(2)), 0.5
		if int(number) < len(worth) && action == 1 {
			mean = worth[int(number)]
		}
		reward := 0.0
		if rng.Float64() < mean {
			reward = 1
		}
		d.Obs, d.Action, d.Reward = append(d.Obs, number), append(d.Action, action), append(d.Reward, reward)
		d.BehaviorProb, d.Terminated = append(d.BehaviorProb, 0.5), append(d.Terminated, true)
		d.PersonStart, d.EpisodeStart = append(d.PersonStart, i+1), append(d.EpisodeStart, i+1)
	}
	return d
}

// byGroup asks about arm 1 in the groups of crowd. Fixed groups are those that somebody
// is in.
func byGroup(t testing.TB, adjacency dp.Adjacency, fixed bool) evaluate.Public {
	t.Helper()
	arm, err := policy.NewConstant(1)
	if err != nil {
		t.Fatal(err)
	}
	p := banditPublic(t, stray, adjacency, arm)
	p.By = &evaluate.Groups{Column: "obs_group", Fixed: fixed}
	for g, name := range []string{"many", "some", "few", "nobody"} {
		p.Persons += int64(sizes[g])
		if fixed && sizes[g] == 0 {
			continue
		}
		one := evaluate.Group{Name: name, Number: float64(g)}
		if fixed {
			one.Persons = int64(sizes[g])
		}
		p.By.Of = append(p.By.Of, one)
	}
	return p
}

// withoutProbabilities is a log of crowd in which arm 1 was drawn with a probability of each
// group's own, .5 in the largest, and nobody wrote it down: those of the second group
// who took arm 1 are kept with probability a half.
func withoutProbabilities(rng *rand.Rand) *trajectory.Dataset {
	d := crowd(rng)
	for i, number := range d.Obs {
		if number == 1 && d.Action[i] == 1 && rng.IntN(2) == 0 {
			// Arm 0 is worth .5 everywhere.
			d.Action[i], d.Reward[i] = 0, float64(rng.IntN(2))
		}
	}
	d.BehaviorProb = nil
	return d
}

// TestGroupsHoldWithoutLoggedProbabilities: probabilities are estimated from each group alone,
// .5 in the largest and .25 in the next. All intervals hold in 95% of releases at least; of
// 40 fewer than 31 do with probability below 1e-4 at that rate. Of the groups with persons enough
// to tell, upper limits are at or above the probabilities in 99%: of 40 fewer than 36 with probability below 1e-4. The plan verifies each
// release; the event is what one question costs.
func TestGroupsHoldWithoutLoggedProbabilities(t *testing.T) {
	const releases = 40
	src, rng := noise.NewSeeded(8), rand.New(rand.NewPCG(8, 9))
	methods := []evaluate.Estimator{evaluate.DPWIS{MaxWeight: 4}, evaluate.DPIS{}, evaluate.DPDR{MaxWeight: 4}, evaluate.DPPDIS{MaxWeight: 4, Clip: "public"}}
	for _, c := range promised {
		p, held, above := byGroup(t, c.adjacency, c.fixed), 0, 0
		p.Behavior = &evaluate.EstimatedBehavior{Actions: 2}
		p.Privacy.Budget.Epsilon = 4
		plans := make([]*evaluate.Plan, len(methods))
		for i, m := range methods {
			var err error
			if plans[i], err = m.Plan(p); err != nil {
				t.Fatal(err)
			}
			if _, one := plans[i].Event.(dp.Gaussian); !one || plans[i].Epsilon.Upper > 4 || plans[i].Epsilon.Upper < 3.99 {
				t.Fatalf("%T: event %v, epsilon %v of a budget of 4", m, plans[i].Event, plans[i].Epsilon)
			}
		}
		for i := range releases {
			r := runOf(t, plans[i%len(plans)], withoutProbabilities(rng), src)
			all, limits := true, true
			for g, a := range r.Answers {
				e := a.Estimate
				all = all && e.Interval[0] <= worth[g] && worth[g] <= e.Interval[1]
				if g > 1 {
					continue
				}
				var told struct{ Upper [][]float64 }
				readDiagnostic(t, &evaluate.Release{Diagnostics: a.Diagnostics}, "behavior", &told)
				b := []float64{0.5, 0.25}[g]
				limits = limits && told.Upper[0][1] >= b && told.Upper[0][0] >= 1-b
				if width := e.Interval[1] - e.Interval[0]; g == 0 && width > 0.5 {
					t.Errorf("%s, %T, %s: the interval %v", c.name, methods[i%len(methods)], a.Name, e.Interval)
				}
			}
			if i < len(plans) {
				if err := plans[i].Verify(r); err != nil {
					t.Fatal(err)
				}
			}
			if all {
				held++
			}
			if limits {
				above++
			}
		}
		t.Logf("%s: of %d releases all intervals hold in %d, limits in %d", c.name, releases, held, above)
		if held < 31 || above < 36 {
			t.Errorf("%s: of %d releases all intervals hold in %d, limits in %d", c.name, releases, held, above)
		}
	}
}

// promised are the three guarantees that groups come under.
var promised = []struct {
	name      string
	adjacency dp.Adjacency
	fixed     bool
}{{"may change", dp.ReplaceOne, false}, {"fixed", dp.ReplaceOne, true}, {"add_remove_one", dp.AddRemoveOne, false}}

// TestAnswersOfGroupsHoldTogether: all intervals hold in 95% of releases at least, of
// groups of many, of four persons and of nobody, whose value is at an end of the range;
// of 60, fewer than 49 do with probability below 1e-4 at that rate. Few persons have an interval of nearly the whole
// range, and so has nobody; many have a narrow one.
func TestAnswersOfGroupsHoldTogether(t *testing.T) {
	const releases = 60
	src, rng := noise.NewSeeded(5), rand.New(rand.NewPCG(5, 6))
	methods := []evaluate.Estimator{evaluate.DPWIS{MaxWeight: 2}, evaluate.DPIS{}, evaluate.DPDR{MaxWeight: 2}, evaluate.DPPDIS{MaxWeight: 2, Clip: "public"}}
	for _, c := range promised {
		plans, held := make([]*evaluate.Plan, len(methods)), 0
		p := byGroup(t, c.adjacency, c.fixed)
		for i, m := range methods {
			plans[i] = must(m.Plan(p))
		}
		for i := range releases {
			r := runOf(t, plans[i%len(plans)], crowd(rng), src)
			all := true
			for g, a := range r.Answers {
				e := a.Estimate
				all = all && e.Interval[0] <= worth[g] && worth[g] <= e.Interval[1]
				width := e.Interval[1] - e.Interval[0]
				if few := sizes[g] < 10; few && width < 0.6 || g == 0 && width > 0.45 {
					t.Errorf("%s, %T, %s: the interval %v", c.name, methods[i%len(methods)], a.Name, e.Interval)
				}
			}
			if len(r.Answers) != len(p.By.Of) || r.JointConfidence != 0.95 || r.Answers[0].Kind != evaluate.OfGroup {
				t.Fatalf("%d answers, joint confidence %v", len(r.Answers), r.JointConfidence)
			}
			if all {
				held++
			}
		}
		t.Logf("%s: all intervals hold in %d of %d releases", c.name, held, releases)
		if held < 49 {
			t.Errorf("%s: all intervals hold in %d of %d releases", c.name, held, releases)
		}
	}
}

// TestGroupsCostWhatOneCosts: the event is that of one question to all persons, and each
// fixed group is answered, bit for bit, as if its persons had been asked alone with the
// whole budget. Where persons may change group the noise is sqrt 2 times that of persons
// who come and go.
func TestGroupsCostWhatOneCosts(t *testing.T) {
	d := crowd(rand.New(rand.NewPCG(1, 2)))
	method := evaluate.DPWIS{MaxWeight: 2, Clip: "public"}
	privacyError := map[string]float64{}
	for _, c := range promised {
		p := byGroup(t, c.adjacency, c.fixed)
		plan, err := method.Plan(p)
		if err != nil {
			t.Fatal(err)
		}
		alone := p
		alone.By, alone.Persons = nil, int64(sizes[0])
		single, err := method.Plan(alone)
		if err != nil {
			t.Fatal(err)
		}
		got, want := plan.Event.(dp.Gaussian).NoiseMultiplier, single.Event.(dp.Gaussian).NoiseMultiplier
		if got != want {
			t.Errorf("%s: noise multiplier %v; of one question %v", c.name, got, want)
		}
		told := plan.Facts["answers"].([]evaluate.ExpectedAnswer)
		privacyError[c.name] = told[0].StdPrivacy
		if !c.fixed {
			continue
		}
		of := only(d, func(person int) bool { return d.Obs[person] == 0 })
		mine, theirs := run(t, method, p, d, noise.NewSeeded(3)).Answers[0], run(t, method, alone, of, noise.NewSeeded(3))
		a, b := mine.Estimate, theirs.Answers[0].Estimate
		if a.Value != b.Value || a.StdPrivacy != b.StdPrivacy || a.StdSampling != b.StdSampling {
			t.Errorf("a group %+v; its persons alone %+v", a, b)
		}
		if !(a.Interval[1]-a.Interval[0] > b.Interval[1]-b.Interval[0]) || math.Abs(a.Confidence-(1-0.05/3)) > 1e-12 {
			t.Errorf("the interval of one of three groups is %v with confidence %v; alone it is %v", a.Interval, a.Confidence, b.Interval)
		}
	}
	if ratio := privacyError["may change"] / privacyError["add_remove_one"]; math.Abs(ratio-math.Sqrt2) > 1e-6 {
		t.Errorf("where persons may change group the error of privacy is %v times that where they come and go; want sqrt 2", ratio)
	}
}

// TestOrderOfPersonsIsNothing: sums of integers do not depend on it, group by group.
func TestOrderOfPersonsIsNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	d := crowd(rng)
	order := rng.Perm(d.Persons())
	other := *d
	other.Obs, other.Action, other.Reward = nil, nil, nil
	for _, i := range order {
		other.Obs, other.Action, other.Reward = append(other.Obs, d.Obs[i]), append(other.Action, d.Action[i]), append(other.Reward, d.Reward[i])
	}
	p := byGroup(t, dp.ReplaceOne, false)
	a, err := json.Marshal(run(t, evaluate.DPWIS{}, p, d, noise.NewSeeded(4)))
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(run(t, evaluate.DPWIS{}, p, &other, noise.NewSeeded(4)))
	if err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Error("two orders of the same persons make two releases")
	}
}

// TestAnswersOfGroupsFollowFromTheirSums: what is in the JSON form verifies, and no
// answer can be edited without its sums.
func TestAnswersOfGroupsFollowFromTheirSums(t *testing.T) {
	for _, c := range promised {
		for _, m := range []evaluate.Estimator{evaluate.DPWIS{}, evaluate.DPDR{Baseline: "value"}} {
			text, err := json.Marshal(run(t, m, byGroup(t, c.adjacency, c.fixed), crowd(rand.New(rand.NewPCG(7, 8))), noise.NewSeeded(9)))
			if err != nil {
				t.Fatal(err)
			}
			for name, edit := range map[string]func(r *evaluate.Release){
				"":           func(*evaluate.Release) {},
				"value":      func(r *evaluate.Release) { r.Answers[0].Estimate.Value += 0.01 },
				"interval":   func(r *evaluate.Release) { r.Answers[1].Estimate.Interval[0] += 0.01 },
				"confidence": func(r *evaluate.Release) { r.Answers[1].Estimate.Confidence = 0.95 },
				"name":       func(r *evaluate.Release) { r.Answers[0].Name = "none" },
				"order":      func(r *evaluate.Release) { r.Answers[0], r.Answers[1] = r.Answers[1], r.Answers[0] },
				"dropped":    func(r *evaluate.Release) { r.Answers = r.Answers[:2] },
				"kind":       func(r *evaluate.Release) { r.Answers[0].Kind = evaluate.OfPolicy },
				"guarantee": func(r *evaluate.Release) {
					r.Public["by"].(map[string]any)["group"] = map[bool]string{true: "may_change", false: "fixed"}[c.fixed]
				},
			} {
				r := new(evaluate.Release)
				if err := json.Unmarshal(text, r); err != nil {
					t.Fatal(err)
				}
				edit(r)
				plan, err := evaluate.Replan(r, nil, nil)
				if err == nil {
					err = plan.Verify(r)
				}
				if (err == nil) != (name == "") {
					t.Errorf("%s, %T, %q: %v", c.name, m, name, err)
				}
			}
		}
	}
}

// TestNobodyIsToldOfTheSizesOfGroups: the release of a log in which a group is empty has
// the same form as any other, and checking it asks nothing of sizes.
func TestNobodyIsToldOfTheSizesOfGroups(t *testing.T) {
	d := crowd(rand.New(rand.NewPCG(1, 2)))
	p := byGroup(t, dp.AddRemoveOne, false)
	plan, err := evaluate.DPIS{}.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	for _, keep := range []func(int) bool{func(int) bool { return true }, func(i int) bool { return i%2 == 0 || d.Obs[i] != 1 }} {
		of := only(d, keep)
		for of.Persons() < int(p.Persons) { // others in no group make up the number
			of.PersonStart = append(slices.Clone(of.PersonStart), of.PersonStart[len(of.PersonStart)-1])
		}
		ready, err := plan.Check(context.Background(), of)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ready.Run(context.Background(), receipt.None(), noise.NewSeeded(1)); err != nil {
			t.Fatal(err)
		}
	}
}

// only are the persons whom keep names.
func only(d *trajectory.Dataset, keep func(person int) bool) *trajectory.Dataset {
	var persons []int
	for p := range d.Persons() {
		if keep(p) {
			persons = append(persons, p)
		}
	}
	return d.Take(persons)
}
