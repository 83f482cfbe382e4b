package hiv

import (
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/discreet-rl/discreet/rl/sim"
)

// The fixed parts of the problem.
const (
	// Actions is the number of actions: every combination of the two drugs.
	Actions = 4
	// MaxSteps is the customary limit on an episode, 1000 days.
	MaxSteps = 200

	// The efficacy of a drug that is given, and the weights of the reward.
	efficacyRTI    = 0.7
	efficacyPI     = 0.3
	weightVirus    = 0.1
	weightRTI      = 20000
	weightPI       = 2000
	weightResponse = 1000
	logFloor       = -5
)

// ActionOrder says which drugs the actions 1 and 2 give; 0 gives none and 3
// both.
type ActionOrder int

// The orders.
const (
	// RTIFirst is 1 for the reverse transcriptase inhibitor, 2 for the protease
	// inhibitor.
	RTIFirst ActionOrder = iota
	// PIFirst is the other way round.
	PIFirst
)

// RewardTime says at which state the reward is taken.
type RewardTime int

// The times.
const (
	// AtDecision takes virus and immune response when the action is chosen:
	// r(x_t, u_t), as Ernst et al. (2006) write it.
	AtDecision RewardTime = iota
	// AfterStep takes them at the end of the step, as RLPy and whynot do.
	AfterStep
)

// Options says which variant is simulated. The zero value is that of Ernst et
// al. (2006).
type Options struct {
	// Parameters are those of the model; nil stands for [Adams2004].
	Parameters *Parameters
	// Start is the state in which episodes start; the zero value stands for
	// [Unhealthy].
	Start State
	// StartSpread multiplies each component of the start by a number uniform
	// between 1-StartSpread and 1+StartSpread, drawn at Reset; in [0, 1].
	StartSpread float64
	// Population draws the patient of an episode; nil makes them all alike.
	Population Population

	// ActionOrder is RTIFirst by default.
	ActionOrder ActionOrder
	// RewardTime is AtDecision by default.
	RewardTime RewardTime
	// PIWeight is the price of the protease inhibitor's squared efficacy; 0
	// stands for 2000. Some authors use 20000.
	PIWeight float64

	// Days is the length of a step; 0 stands for 5.
	Days float64
	// MaxSteps is the customary limit that Spec reports; 0 stands for 200.
	MaxSteps int
	// Clip bounds each component from above after every step; nil does not.
	Clip *State
	// Log10 observes decimal logarithms, at least -5, in place of counts.
	Log10 bool
	// UninfectedFirst orders observations T1, T2, T1*, T2*, V, E, as Ernst et
	// al. and RLPy do, in place of T1, T1*, T2, T2*, V, E. The names of the
	// columns go with it.
	UninfectedFirst bool

	// Method is Adaptive by default, with relative tolerance
	// Tolerance; 0 stands for 1e-8. The other methods take Substeps equal steps.
	Method    Method
	Tolerance float64
	Substeps  int
}

// Env is the treatment of one patient; it implements [sim.Env].
type Env struct {
	// State is the patient, in the order T1, T1*, T2, T2*, V, E whatever the
	// order of observations. It may be set to go on from elsewhere.
	State State

	o       Options
	patient Parameters
	in      *integrator
}

// New returns the problem, at its start.
func New(o Options) (*Env, error) {
	o.defaults()
	if err := o.check(); err != nil {
		return nil, err
	}
	in, err := newIntegrator(o)
	if err != nil {
		return nil, err
	}
	e := &Env{State: o.Start, o: o, patient: *o.Parameters, in: in}
	in.p = &e.patient
	return e, nil
}

func (o *Options) defaults() {
	if o.Parameters == nil {
		p := Adams2004()
		o.Parameters = &p
	}
	if o.Start == (State{}) {
		o.Start = Unhealthy()
	}
	if o.PIWeight == 0 {
		o.PIWeight = weightPI
	}
	if o.Days == 0 {
		o.Days = 5
	}
	if o.MaxSteps == 0 {
		o.MaxSteps = MaxSteps
	}
	if o.Tolerance == 0 {
		o.Tolerance = defaultTolerance
	}
}

func (o *Options) check() error {
	fail := func(format string, args ...any) error {
		return fmt.Errorf("%w: hiv: "+format, append([]any{sim.ErrOptions}, args...)...)
	}
	if err := o.Parameters.check(); err != nil {
		return err
	}
	for i, v := range o.Start {
		if !(v >= 0) || math.IsInf(v, 0) {
			return fail("component %d of the start is %v; want finite numbers, 0 or above", i, v)
		}
		if o.Clip != nil && !(o.Clip[i] > 0) {
			return fail("component %d is clipped at %v; want a number above 0", i, o.Clip[i])
		}
	}
	switch {
	case !(o.StartSpread >= 0 && o.StartSpread <= 1):
		return fail("start spread is %v; want 0 to 1", o.StartSpread)
	case !(o.PIWeight > 0) || math.IsInf(o.PIWeight, 0):
		return fail("weight of the protease inhibitor is %v; want a finite number above 0", o.PIWeight)
	case !(o.Days > 0) || o.Days > 1e4:
		return fail("a step lasts %v days; want above 0, at most 10000", o.Days)
	case o.MaxSteps < 0:
		return fail("step limit is %d; want at least 1", o.MaxSteps)
	case !(o.Tolerance >= 1e-13 && o.Tolerance < 1):
		return fail("tolerance is %v; want 1e-13 or more and below 1", o.Tolerance)
	case o.ActionOrder != RTIFirst && o.ActionOrder != PIFirst:
		return fail("unknown order of actions %d", o.ActionOrder)
	case o.RewardTime != AtDecision && o.RewardTime != AfterStep:
		return fail("unknown time of the reward %d", o.RewardTime)
	}
	return nil
}

// order is the component that each observation column holds.
func (e *Env) order() [components]int {
	if e.o.UninfectedFirst {
		return [components]int{T1, T2, T1Star, T2Star, V, E}
	}
	return [components]int{T1, T1Star, T2, T2Star, V, E}
}

// Spec implements [sim.Env]. Columns are obs_T1, obs_T1star, and so on, or
// obs_log10_T1 and so on.
func (e *Env) Spec() sim.Spec {
	names := [components]string{"T1", "T1star", "T2", "T2star", "V", "E"}
	prefix := "obs_"
	if e.o.Log10 {
		prefix = "obs_log10_"
	}
	columns := make([]string, components)
	for i, c := range e.order() {
		columns[i] = prefix + names[c]
	}
	return sim.Spec{Name: "hiv", Columns: columns, Actions: Actions, MaxSteps: e.o.MaxSteps}
}

// Reset implements [sim.Env].
func (e *Env) Reset(obs []float64, rng *rand.Rand) {
	e.patient = *e.o.Parameters
	if e.o.Population != nil {
		e.patient = e.o.Population(e.patient, rng)
	}
	e.State = e.o.Start
	if e.o.StartSpread > 0 {
		for i := range e.State {
			e.State[i] *= 1 + e.o.StartSpread*(2*rng.Float64()-1)
		}
	}
	e.observe(obs)
}

// Step implements [sim.Env]. It fails, wrapping xmath.ErrIntegration, when the
// equations cannot be integrated, which no patient of the literature provokes.
// Episodes never terminate.
func (e *Env) Step(obs []float64, action int) (sim.Outcome, error) {
	e.in.epsilon1, e.in.epsilon2 = e.o.ActionOrder.drugs(action)
	before := e.State
	if err := e.in.step(&e.State); err != nil {
		return sim.Outcome{}, err
	}
	if e.o.Clip != nil {
		for i, bound := range e.o.Clip {
			e.State[i] = min(max(e.State[i], 0), bound)
		}
	}
	e.observe(obs)
	at := &before
	if e.o.RewardTime == AfterStep {
		at = &e.State
	}
	return sim.Outcome{Reward: e.reward(at)}, nil
}

// reward is minus the cost of Adams et al. (2004), equation (3.1), at one time.
func (e *Env) reward(at *State) float64 {
	rti, pi := e.in.epsilon1, e.in.epsilon2
	return -weightVirus*at[V] - weightRTI*rti*rti - e.o.PIWeight*pi*pi + weightResponse*at[E]
}

// drugs gives the efficacies of an action's drugs.
func (o ActionOrder) drugs(action int) (rti, pi float64) {
	if uint(action) >= Actions {
		panic(fmt.Sprintf("hiv: action %d", action))
	}
	first, second := action&1, action>>1
	if o == PIFirst {
		first, second = second, first
	}
	return efficacyRTI * float64(first), efficacyPI * float64(second)
}

func (e *Env) observe(obs []float64) {
	for i, c := range e.order() {
		v := e.State[c]
		if e.o.Log10 {
			// Zero, and what rounding leaves below it, is at the floor.
			v = max(math.Log10(max(v, 0)), logFloor)
		}
		obs[i] = v
	}
}
