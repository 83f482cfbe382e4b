package evaluate

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// ring is a small off-policy log: persons with one or two episodes on a ring of
// four states, action 1 moving on, every third state paying 1.
func ring(persons int) *trajectory.Dataset {
	d := &trajectory.Dataset{Columns: []string{"obs_state"}, PersonStart: []int{0}, EpisodeStart: []int{0}}
	x := uint64(12345)
	draw := func(n uint64) int {
		x = x*6364136223846793005 + 1442695040888963407
		return int((x >> 33) % n)
	}
	for p := range persons {
		for range 1 + p%2 {
			state := draw(4)
			for range 2 + draw(5) {
				action := draw(2)
				d.Obs = append(d.Obs, float64(state))
				d.Action = append(d.Action, int32(action))
				d.BehaviorProb = append(d.BehaviorProb, 0.5)
				reward := 0.0
				if state%3 == 0 {
					reward = 1
				}
				d.Reward = append(d.Reward, reward)
				state = (state + action) % 4
			}
			d.EpisodeStart = append(d.EpisodeStart, len(d.Reward))
			d.Terminated = append(d.Terminated, true)
		}
		d.PersonStart = append(d.PersonStart, len(d.Terminated))
	}
	return d
}

// ringPublic asks for so little privacy that the noise of a run with everyone in
// every step is below 1e-5.
func ringPublic(t testing.TB, persons int64) Public {
	t.Helper()
	states, err := feature.NewTabular(4, "obs_state")
	if err != nil {
		t.Fatal(err)
	}
	target, err := policy.NewTable([]float64{0.3, 0.7, 0.4, 0.6, 0.3, 0.7, 0.5, 0.5}, 2, "obs_state")
	if err != nil {
		t.Fatal(err)
	}
	return Public{
		Persons: persons, Gamma: 0.9, Horizon: 12, Reward: Range{0, 1}, Features: states, Target: target,
		Privacy: &Privacy{Adjacency: dp.ReplaceOne, Budget: dp.Budget{Epsilon: 1e10, Delta: 1e-3}},
	}
}

// theta plans and runs on a seeded source.
func theta(t testing.TB, m GPOPE, p Public, d *trajectory.Dataset, seed uint64) []float64 {
	t.Helper()
	plan, err := m.Plan(p)
	if err != nil {
		t.Fatal(err)
	}
	return released(t, plan, d, seed)
}

// released is the theta of one run of a plan.
func released(t testing.TB, plan *Plan, d *trajectory.Dataset, seed uint64) []float64 {
	t.Helper()
	ready, err := plan.Check(context.Background(), d)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ready.Run(context.Background(), receipt.None(), noise.NewSeeded(seed))
	if err != nil {
		t.Fatal(err)
	}
	return r.Theta
}

func close(got, want []float64, tolerance float64) bool {
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tolerance) {
			return false
		}
	}
	return len(got) == len(want)
}

// One person, two transitions: state 0 pays 1 and leads to state 1, which pays 2
// and ends. gamma .5, step .2, clip .5, from zero. Worked by hand:
//
//	A = [1/2 -1/4; 0 1/2], C = [1/2 0; 0 1/2], b = (1/2, 1).
//	Step 1: B = (0, 0 | -1/2, -1), norm sqrt(5)/2, clipped by f = 1/sqrt 5:
//	  w = .2 f (1/2, 1) = (.0447.., .0894..), theta = 0.
//	Step 2: B_theta = -A'w = -(w0/2, -w0/4 + w1/2), B_w = w/2 - b; clipped again.
func TestGPOPEByHand(t *testing.T) {
	d := &trajectory.Dataset{
		Columns: []string{"obs_state"}, PersonStart: []int{0, 1}, EpisodeStart: []int{0, 2},
		Obs: []float64{0, 1}, Reward: []float64{1, 2}, Terminated: []bool{true},
	}
	p := ringPublic(t, 1)
	p.Gamma, p.Reward, p.Horizon, p.Target = 0.5, Range{0, 2}, 2, policy.Logged{}
	got := theta(t, GPOPE{Batch: 1, Iterations: 2, Clip: 0.5, StepTheta: 0.2, StepW: 0.2}, p, d, 1)
	w0 := 0.2 / math.Sqrt(5) * 0.5
	w1 := 2 * w0
	b := []float64{-w0 / 2, w0/4 - w1/2, w0/2 - 0.5, w1/2 - 1}
	norm := math.Sqrt(b[0]*b[0] + b[1]*b[1] + b[2]*b[2] + b[3]*b[3])
	want := []float64{-0.2 * 0.5 / norm * b[0], -0.2 * 0.5 / norm * b[1], 0, 0}
	if !close(got, want, 1e-5) || !(want[0] > 0.002) {
		t.Errorf("theta %v; want %v", got, want)
	}
}

// reference is the whole of the mini-batch form with everyone in every step,
// from the matrices, without noise: scaling, clip, momentum, schedule,
// projection and averaging as the documentation has them.
func reference4(s *value.Sample, m GPOPE, scale, low, top, start float64, steps func(i int) float64) []float64 {
	const n = 4
	x, velocity, mean := make([]float64, 2*n), make([]float64, 2*n), make([]float64, n)
	for j := range n {
		x[j] = start / scale
	}
	persons := s.Data.Persons()
	averaged := 0.0
	for i := 1; i <= int(m.Iterations); i++ {
		total := make([]float64, 2*n)
		for p := range persons {
			moments := value.NewMoments(n)
			moments.AddPerson(s, p, value.ByTrajectory)
			g := make([]float64, 2*n)
			for i := range n {
				g[n+i] -= scale * moments.B[i]
				for j := range n {
					g[i] -= scale * moments.A[j*n+i] * scale * x[n+j]
					g[n+i] += scale * (moments.A[i*n+j]*scale*x[j] + moments.C[i*n+j]*scale*x[n+j])
				}
			}
			norm := 0.0
			for _, v := range g {
				norm += v * v
			}
			for j, v := range g {
				total[j] += v * min(1, m.Clip/math.Sqrt(norm)) / float64(persons)
			}
		}
		for j := range x {
			velocity[j] = m.Momentum*velocity[j] + total[j]
			rate := m.StepTheta
			if j >= n {
				rate = m.StepW
			}
			x[j] -= steps(i) * rate * velocity[j]
			if j < n && m.Project != nil && *m.Project {
				x[j] = min(max(x[j], low/scale), top/scale)
			}
		}
		if i > int(m.Iterations)/2 {
			averaged++
			for j := range n {
				mean[j] += x[j]
			}
		}
	}
	out := make([]float64, n)
	for j := range n {
		out[j] = scale * x[j]
		if m.Average != nil && *m.Average {
			out[j] = scale * mean[j] / averaged
		}
	}
	return out
}

func TestGPOPEFollowsTheReference(t *testing.T) {
	const persons = 12
	d := ring(persons)
	p := ringPublic(t, persons)
	s, err := sampleFor(d, p)
	if err != nil {
		t.Fatal(err)
	}
	yes, no, start := true, false, 0.25
	base := GPOPE{Batch: persons, Iterations: 60, Clip: 0.5, StepTheta: 0.3, StepW: 0.2, Average: &no, Project: &no}
	returns := p.Returns()
	once := func(int) float64 { return 1 }
	for name, c := range map[string]struct {
		change func(m *GPOPE)
		start  float64
		steps  func(i int) float64
	}{
		"plain":      {func(*GPOPE) {}, returns.Mid(), once},
		"start":      {func(m *GPOPE) { m.Start = &start }, 0.25, once},
		"no clip":    {func(m *GPOPE) { m.Clip = 1e3 }, returns.Mid(), once},
		"momentum":   {func(m *GPOPE) { m.Momentum = 0.5 }, returns.Mid(), once},
		"average":    {func(m *GPOPE) { m.Average = &yes }, returns.Mid(), once},
		"project":    {func(m *GPOPE) { m.Project, m.StepTheta = &yes, 5 }, returns.Mid(), once},
		"polynomial": {func(m *GPOPE) { m.Schedule, m.Exponent = "polynomial", 0.25 }, returns.Mid(), func(int) float64 { return math.Pow(60, -0.25) }},
		"diminishing": {func(m *GPOPE) { m.Schedule, m.LambdaMin = "diminishing", 0.5 }, returns.Mid(),
			func(i int) float64 { return 2 / float64(i) }},
	} {
		m := base
		c.change(&m)
		got := theta(t, m, p, d, 3)
		want := reference4(s, m, 2, returns.Min, returns.Max, c.start, c.steps)
		tolerance := 1e-4
		if m.Clip > 1 || m.StepTheta > 1 {
			tolerance = 0.02 // the noise is in proportion to both
		}
		if !close(got, want, tolerance) {
			t.Errorf("%s: theta %v; want %v", name, got, want)
		}
		if c := close(want, slices.Repeat([]float64{c.start}, 4), 0.01); c {
			t.Errorf("%s: the reference has not moved: %v", name, want)
		}
	}
}

// With next to no noise and a clip that does not act, all ways of sampling reach
// the solution of A theta = b under their weighting: at once with everyone in
// every step, and but for the noise of sampling persons otherwise.
func TestGPOPEConvergesToLSTD(t *testing.T) {
	const persons = 40
	d := ring(persons)
	p := ringPublic(t, persons)
	for name, m := range map[string]GPOPE{
		"everyone":             {Batch: persons},
		"uniform":              {Batch: 10, Sampling: "uniform"},
		"poisson":              {Batch: 10},
		"one uniform":          {Batch: 1, Sampling: "uniform"},
		"one poisson":          {Batch: 1, Sampling: "poisson"},
		"everyone, transition": {Batch: persons, Weighting: "transition", Length: 4},
		"fixed, transition":    {Batch: 10, Sampling: "uniform", Weighting: "transition", Length: 4},
		"visits":               {Batch: persons, Visits: []float64{0.2, 0.3, 0.3, 0.2}},
	} {
		yes, no := true, false
		m.Average, m.Project = &yes, &no
		seeds, tolerance := uint64(gpopeSeeds), 0.1*math.Sqrt(3./gpopeSeeds)
		switch {
		case m.Batch == persons:
			p.Privacy.Budget.Epsilon, seeds, tolerance = 1e10, 1, 1e-3
			m.Iterations, m.Clip, m.StepTheta, m.StepW = 3000, 8, 0.4, 0.4
		case m.Batch == 1:
			p.Privacy.Budget.Epsilon = 3e4
			m.Iterations, m.Clip, m.StepTheta, m.StepW = 60_000, 4, 0.05, 0.05
		default:
			p.Privacy.Budget.Epsilon = 3e4
			m.Iterations, m.Clip, m.StepTheta, m.StepW = 10_000, 8, 0.2, 0.2
		}
		s, err := sampleFor(d, p)
		if err != nil {
			t.Fatal(err)
		}
		weighting := value.ByTrajectory
		if m.Weighting == "transition" {
			weighting = value.ByTransition
		}
		want, err := value.LSTD{Weighting: weighting}.Solve(s)
		if err != nil {
			t.Fatal(err)
		}
		got := make([]float64, 4)
		for seed := range seeds {
			for i, x := range theta(t, m, p, d, seed) {
				got[i] += x / float64(seeds)
			}
		}
		if !close(got, want, tolerance) {
			t.Errorf("%s: theta %v; want %v", name, got, want)
		}
	}
}

func TestGPOPERefusesWhatItCannotDo(t *testing.T) {
	nan := math.NaN()
	yes := true
	for name, c := range map[string]struct {
		m      GPOPE
		change func(p *Public)
		want   error
	}{
		"batch":               {m: GPOPE{Batch: -1}, want: ErrMethod},
		"iterations":          {m: GPOPE{Iterations: -1}, want: ErrMethod},
		"clip":                {m: GPOPE{Clip: -1}, want: ErrMethod},
		"clip NaN":            {m: GPOPE{Clip: nan}, want: ErrMethod},
		"step":                {m: GPOPE{StepTheta: math.Inf(1)}, want: ErrMethod},
		"momentum":            {m: GPOPE{Momentum: 1}, want: ErrMethod},
		"schedule":            {m: GPOPE{Schedule: "cosine"}, want: ErrMethod},
		"diminishing":         {m: GPOPE{Schedule: "diminishing"}, want: ErrMethod},
		"everyone in parts":   {m: GPOPE{Sampling: "everyone", Batch: 5}, want: ErrMethod},
		"sampling":            {m: GPOPE{Sampling: "shuffled"}, want: ErrMethod},
		"weighting":           {m: GPOPE{Weighting: "equal"}, want: ErrMethod},
		"visits length":       {m: GPOPE{Visits: []float64{1}}, want: ErrMethod},
		"visits zero":         {m: GPOPE{Visits: []float64{1, 1, 1, 0}}, want: ErrMethod},
		"start":               {m: GPOPE{Start: &nan}, want: ErrMethod},
		"accountant":          {m: GPOPE{Accountant: "moments"}, want: ErrMethod},
		"xie19 in batches":    {m: GPOPE{Accountant: "xie19"}, want: ErrMethod},
		"uniform, add/remove": {GPOPE{Sampling: "uniform"}, func(p *Public) { p.Privacy.Adjacency = dp.AddRemoveOne }, ErrMethod},
		"project, dense":      {GPOPE{Project: &yes}, func(p *Public) { p.Features = cosines{3} }, ErrMethod},
		"no features":         {GPOPE{}, func(p *Public) { p.Features = nil }, ErrPublic},
		"no privacy":          {GPOPE{}, func(p *Public) { p.Privacy = nil }, ErrMethod},
		"no width":            {GPOPE{}, func(p *Public) { p.Return = &Range{1, 1} }, ErrPublic},
		"delta 0":             {GPOPE{}, func(p *Public) { p.Privacy.Budget.Delta = 0 }, dp.ErrBudget},
	} {
		p := ringPublic(t, 100)
		p.Privacy.Budget.Epsilon = 1
		if c.change != nil {
			c.change(&p)
		}
		if _, err := c.m.Plan(p); !errors.Is(err, c.want) {
			t.Errorf("%s: %v; want %v", name, err, c.want)
		}
	}
}
