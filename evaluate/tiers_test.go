package evaluate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// drawn is a log as coins, of which arm 1 was drawn with this probability.
func drawn(persons int, share float64, seed uint64) *trajectory.Dataset {
	rng := rand.New(rand.NewPCG(seed, 10))
	d := coins(persons, 0, seed)
	for i := range d.Action {
		if d.Action[i] = 0; rng.Float64() < share {
			d.Action[i] = 1
		}
	}
	return d
}

// withheld is a log as coins, of which a sixth of those who took arm 1 without success
// left no record that could be used: about one in forty.
func withheld(persons int, seed uint64) *trajectory.Dataset {
	rng := rand.New(rand.NewPCG(seed, 11))
	d := coins(persons, 0, seed)
	d, _ = d.LeaveOut(func(row int) bool { return d.Action[row] == 1 && d.Reward[row] == 0 && rng.IntN(6) == 0 })
	return d
}

// coins is a log of one decision each between two arms, drawn by a fair coin; arm 1 is
// worth 1 with probability .7. Of the first so many persons there is no record.
func coins(persons, without int, seed uint64) *trajectory.Dataset {
	rng := rand.New(rand.NewPCG(seed, 9))
	d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}}
	for i := range persons {
		if i >= without {
			arm, reward := int32(rng.IntN(2)), 0.0
			if rng.Float64() < 0.7 {
				reward = 1
			}
			d.Action = append(d.Action, arm)
			d.BehaviorProb = append(d.BehaviorProb, 0.5)
			d.Reward = append(d.Reward, reward)
			d.Terminated = append(d.Terminated, true)
			d.EpisodeStart = append(d.EpisodeStart, len(d.Reward))
		}
		d.PersonStart = append(d.PersonStart, len(d.Reward))
	}
	return d
}

// coinPublic asks for the value of arm 1, of which the design is known.
func coinPublic(t testing.TB, persons int64, adjacency dp.Adjacency) evaluate.Public {
	p := banditPublic(t, persons, adjacency, must(policy.NewConstant(1)))
	p.Design = evaluate.NewDesign(must(policy.NewUniform(2)), true, p.Target)
	p.Complete = true
	return p
}

// TestTiersFollowFromTheDesign holds tier, cap and reason against what the design says
// of H decisions between two arms of which one is asked for: weights of whole
// trajectories reach 2^H, and of their mean over decisions (2 + ... + 2^H)/H.
func TestTiersFollowFromTheDesign(t *testing.T) {
	fair := must(policy.NewUniform(2))
	for name, c := range map[string]struct {
		method  evaluate.Estimator
		horizon int64
		change  func(p *evaluate.Public)
		tier    int
		cap     float64
		why     string
	}{
		"one decision":          {evaluate.DPIS{}, 1, nil, 0, 2, "no weight exceeds 2"},
		"whole trajectories":    {evaluate.DPWIS{}, 3, nil, 0, 8, "no weight exceeds 8"},
		"step by step":          {evaluate.DPPDIS{}, 3, nil, 0, 14.0 / 3, "no weight exceeds 4.667"},
		"discounted":            {evaluate.DPPDIS{}, 3, func(p *evaluate.Public) { p.Gamma = 0.5 }, 0, 6 / 1.75, "no weight exceeds 3.429"},
		"with a baseline":       {evaluate.DPDR{}, 3, nil, 0, 14.0 / 3, "no weight exceeds"},
		"an arm of a trial":     {evaluate.DPWIS{}, 40, func(p *evaluate.Public) { p.Design.Ratios, p.Design.Squares = []float64{2, 1}, []float64{2, 1} }, 0, 2, "no weight exceeds 2"},
		"too many decisions":    {evaluate.DPWIS{}, 12, nil, 2, 64, "the noise for these would widen the interval more than capping them does"},
		"no design":             {evaluate.DPWIS{}, 3, func(p *evaluate.Public) { p.Design = nil }, 2, 64, "no public design"},
		"a model of the draws":  {evaluate.DPIS{}, 1, func(p *evaluate.Public) { p.Design = evaluate.NewDesign(fair, false, p.Target) }, 2, 2, "does not ensure that every action"},
		"an arm that none drew": {evaluate.DPIS{}, 1, func(p *evaluate.Public) { p.Design.Supported = false }, 2, 2, "does not ensure that every action"},
		"several episodes":      {evaluate.DPPDIS{}, 3, func(p *evaluate.Public) { p.Episodes = 2 }, 0, 14.0 / 3, "no weight exceeds 4.667"},
		"records lost":          {evaluate.DPWIS{}, 3, func(p *evaluate.Public) { p.Complete = false }, 2, 8, "problem.records: complete"},
		"a smaller cap":         {evaluate.DPWIS{MaxWeight: 1.5}, 1, nil, 2, 1.5, "max_weight is 1.5"},
		"a larger cap":          {evaluate.DPWIS{MaxWeight: 10}, 1, nil, 0, 2, "no weight exceeds 2"},
		"a histogram":           {evaluate.DPWIS{Clip: "auto"}, 3, nil, 2, 8, "chosen from a histogram"},
		"hidden circumstances":  {evaluate.DPWIS{Confounding: 1.5}, 1, nil, 2, 2, "hidden confounding"},
	} {
		p := coinPublic(t, 4000, dp.ReplaceOne)
		p.Horizon, p.Episodes, p.Privacy.Budget.Epsilon = c.horizon, 1, 5
		if c.change != nil {
			c.change(&p)
		}
		plan, err := c.method.Plan(p)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		note := plan.Notes[len(plan.Notes)-1]
		if got := plan.Facts["max_weight"].(float64); plan.Facts["tier"] != c.tier || math.Abs(got-c.cap) > 1e-9 || !strings.Contains(note, c.why) || !strings.Contains(note, fmt.Sprint("tier ", c.tier)) {
			t.Errorf("%s: tier %v, cap %v, %q; want tier %d, cap %v, %q", name, plan.Facts["tier"], got, note, c.tier, c.cap, c.why)
		}
	}
}

// TestUnguardedIntervalsHold counts coverage of the value .7 in 200 logs a cell: at 95%
// fewer than 176 hold it with probability below 2e-3 over all 32 cells. At the larger budget,
// where sampling makes most of the error, the interval is narrower than the guarded one of the
// same probabilities without their design.
func TestUnguardedIntervalsHold(t *testing.T) {
	const logs, persons, least = 200, 300, 176
	src := noise.NewSeeded(23)
	for cell := range 4 {
		adjacency := []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne}[cell%2]
		epsilon := []float64{1, 0.2}[cell/2]
		for _, e := range []evaluate.Estimator{evaluate.DPIS{}, evaluate.DPPDIS{}, evaluate.DPWIS{}, evaluate.DPDR{}} {
			p := coinPublic(t, persons, adjacency)
			p.Privacy.Budget.Epsilon = epsilon
			with := must(e.Plan(p))
			p.Design = nil
			without := must(e.Plan(p))
			count := func(plan *evaluate.Plan) (held int, width float64) {
				for seed := range uint64(logs) {
					ready := must(plan.Check(context.Background(), coins(persons, 0, seed)))
					ends := must(ready.Run(context.Background(), receipt.None(), src)).Answers[0].Estimate.Interval
					if ends[0] <= 0.7 && 0.7 <= ends[1] {
						held++
					}
					width += (ends[1] - ends[0]) / logs
				}
				return held, width
			}
			held, width := count(with)
			guardedHeld, guarded := count(without)
			if held < least || guardedHeld < least || epsilon == 1 && width > 0.9*guarded {
				t.Errorf("%v, epsilon %v, %T: %d and %d of %d hold .7, at widths %.3f with the design and %.3f without", adjacency, epsilon, e, held, guardedHeld, logs, width, guarded)
			}
		}
	}
}

// TestMissingMassBringsTheGuardBack draws arm 1 with probability 1/3, against a design of
// 1/2: the third of the mean weight that lacks is within the interval again.
func TestMissingMassBringsTheGuardBack(t *testing.T) {
	const persons = 3000
	p := coinPublic(t, persons, dp.ReplaceOne)
	plan, err := evaluate.DPWIS{}.Plan(p)
	if err != nil || plan.Facts["tier"] != 0 {
		t.Fatal(plan, err)
	}
	r := run(t, evaluate.DPWIS{}, p, drawn(persons, 1.0/3, 1), noise.NewSeeded(3))
	// A third may be worth 0 or 1, the rest is worth .7.
	if low, high := r.Answers[0].Estimate.Interval[0], r.Answers[0].Estimate.Interval[1]; low > 0.7*2/3 || high < 0.7*2/3+1.0/3 {
		t.Errorf("the interval is %v; want one that holds [%.3f, %.3f]", r.Answers[0].Estimate.Interval, 0.7*2/3, 0.7*2/3+1.0/3)
	}
	if all := strings.Join(r.Notes, "\n"); !strings.Contains(all, "guarded after all") || !strings.Contains(all, "arms swapped") || strings.Contains(all, "nothing is missing") {
		t.Errorf("no note says that the interval is guarded: %s", all)
	}
}

// TestRecordsThatAreLost has one person in forty without a usable record, those for whom
// arm 1 failed. Where nobody states that none is lost the interval is guarded and holds
// .7: of 120 logs a cell fewer than 102 would with probability below 4e-4 at 93%, over all
// six cells below 3e-3. Where it is stated, the check refuses the data.
func TestRecordsThatAreLost(t *testing.T) {
	const logs, least = 120, 102
	src := noise.NewSeeded(31)
	for _, persons := range []int{300, 1000, 3000} {
		for _, epsilon := range []float64{1, 10} {
			p := coinPublic(t, int64(persons), dp.ReplaceOne)
			p.Privacy.Budget.Epsilon = epsilon
			stated := must(evaluate.DPWIS{}.Plan(p))
			p.Complete = false
			plan := must(evaluate.DPWIS{}.Plan(p))
			if stated.Facts["tier"] != 0 || plan.Facts["tier"] != 2 {
				t.Fatalf("tiers %v with the statement and %v without", stated.Facts["tier"], plan.Facts["tier"])
			}
			held := 0
			for seed := range uint64(logs) {
				d := withheld(persons, seed)
				if _, err := stated.Check(context.Background(), d); !errors.Is(err, evaluate.ErrData) {
					t.Fatalf("data without records of some are taken for complete: %v", err)
				}
				ends := must(must(plan.Check(context.Background(), d)).Run(context.Background(), receipt.None(), src)).Answers[0].Estimate.Interval
				if ends[0] <= 0.7 && 0.7 <= ends[1] {
					held++
				}
			}
			if t.Logf("%d persons, epsilon %v: %d of %d", persons, epsilon, held, logs); held < least {
				t.Errorf("%d persons, epsilon %v: %d of %d intervals hold .7", persons, epsilon, held, logs)
			}
		}
	}
}

// TestReplanWithADesign makes an unguarded release again from its JSON alone, and refuses
// what a run of its plan would not write.
func TestReplanWithADesign(t *testing.T) {
	for _, adjacency := range []dp.Adjacency{dp.ReplaceOne, dp.AddRemoveOne} {
		p := coinPublic(t, 500, adjacency)
		text, err := json.Marshal(run(t, evaluate.DPDR{}, p, coins(500, 0, 2), noise.NewSeeded(1)))
		if err != nil {
			t.Fatal(err)
		}
		design := func(r *evaluate.Release) map[string]any { return r.Public["design"].(map[string]any) }
		for name, c := range map[string]struct {
			change func(r *evaluate.Release)
			want   error
		}{
			"as it is":      {func(*evaluate.Release) {}, nil},
			"interval":      {func(r *evaluate.Release) { r.Answers[0].Estimate.Interval[0] += 0.01 }, evaluate.ErrRelease},
			"tier":          {func(r *evaluate.Release) { r.Public["tier"] = 2.0 }, evaluate.ErrRelease},
			"ratios":        {func(r *evaluate.Release) { design(r)["ratios"] = []any{4.0} }, evaluate.ErrRelease},
			"not supported": {func(r *evaluate.Release) { delete(design(r), "supported") }, evaluate.ErrRelease},
			"no design":     {func(r *evaluate.Release) { delete(r.Public, "design") }, evaluate.ErrRelease},
			"not finite":    {func(r *evaluate.Release) { design(r)["ratios"] = []any{} }, evaluate.ErrRelease},
		} {
			r := new(evaluate.Release)
			if err := json.Unmarshal(text, r); err != nil {
				t.Fatal(err)
			}
			c.change(r)
			plan, err := evaluate.Replan(r, nil, nil)
			if err == nil {
				err = plan.Verify(r)
			}
			if !errors.Is(err, c.want) {
				t.Errorf("%v, %s: %v; want %v", adjacency, name, err, c.want)
			}
		}
	}
}
