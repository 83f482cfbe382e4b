package xie19

import (
	"context"
	"fmt"
	"math"
	"sync"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/papers/figure"
	"github.com/discreet-rl/discreet/internal/papers/onchain"
	"github.com/discreet-rl/discreet/internal/papers/untuned"
	"github.com/discreet-rl/discreet/internal/rl/sim/chain"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

const paper = "xie19"

// trials is the paper's number of runs, and that of a quick run.
const (
	trials      = 100
	quickTrials = 3
)

func budget() dp.Budget { return dp.Budget{Epsilon: 0.1, Delta: 1e-5} }

// Study returns the reproduction.
func Study() figure.Study {
	return figure.Study{
		Paper: paper, Version: 3,
		Title: "Privacy Preserving Off-Policy Evaluation (Xie, Thomas, Miklau 2019), reproduced",
		Abstract: []string{
			"GPOPE evaluates a policy by noisy stochastic gradient steps on the saddle-point form of GTD2, one person a step and as many steps as persons. The paper compares it with the output perturbation of Balle et al. (DP-LSW, DP-LSL) on a chain of 40 states (uniform start, p = 0.5, gamma = 0.99), then on mountain car, on-policy and off-policy, and on the treatment of HIV, off-policy. Everywhere delta = 1e-5 and a person owns one trajectory; epsilon is 0.1 unless said otherwise.",
			"The accountant of the paper is unsound: it drops the higher-order terms of subsampled Renyi accounting and then uses orders at which they decide, and it takes half the sensitivity that replacing a person has. Each panel therefore shows GPOPE with the paper's noise, whose true epsilon at the same delta has a panel of its own, and with sound noise, in the paper's form and in mini-batches, and dp-refine. MSPBE and value error disagree, so both are shown. Beside them is the best constant, which takes the truth to find, and no data: the paper never shows it.",
			"Of a trial all numbers of persons are the first of the same persons, all methods see the same rollouts and features, and Algorithm 1 draws its noise as float64 normals, whose law differs from that of the exact ones by rounding alone.",
			"The paper gives neither clip norms nor step sizes. On the chain the clip is 0.02 and the step 0.1 below 50,000 persons and 0.03 from there on, which had the least MSPBE, with the accountant of the paper, among steps 0.001, 0.003, 0.01, ... 3 in one trial of m = 10,000, 100,000 and 300,000 on a simulation of their own, as if on public data. On mountain car and HIV clip and step, and batch, steps and clip of the mini-batch form, were chosen in the same way at m = 3,000 to 30,000; dp-refine has nothing to choose but its form, LSTD.",
			"Mountain car: the policy of Q-learning with the Fourier basis of order 5 is made 0.3-soft, in both of its roles, since importance ratios of a uniform target have no bound otherwise; the off-policy target is uniform, gamma is 0.99, episodes are cut off at 500 steps, and value functions have Fourier features of order 2 (of orders 1, 2, 3 and 5 the one at which dp-refine at epsilon 0.1 and m = 30,000 came near the non-private value error). The paper says none of this. A uniform policy hardly ever reaches the goal, so that its value is -100 in most states and a constant is hard to beat. Numbers of trajectories are a tenth of the paper's: 300,000 of them are 56 million rows.",
			"HIV: the greedy policy of Q-learning is evaluated on data of the softmax of its Q, with rewards in units of 1e5, the average that the paper names, cut to [-1, 8]. Patients start within half of the unhealthy state, gamma is 0.98, and features are a constant and the six logarithms. Temperature 3, 100 steps and these features were chosen because the non-private fixed point then has a lower value error than the best constant; in most of the settings tried, with up to 64 features, it did not: a small MSPBE off-policy promises little about values.",
		},
		Items: []figure.Item{comparison(), steps(), carComparison(), carSteps(), carPrivacy(), hivItem(), chainSizes(), carSizesItem(), relations(), unseen()},
	}
}

// unseen compares methods on the chain and on two problems of another kind.
func unseen() figure.Item {
	problems := append([]untuned.Problem{untuned.Chain("chain", "The chain, on-policy", nil)}, untuned.Problems()...)
	return untuned.Comparison{Paper: paper, Budget: budget(), Problems: problems}.Item()
}

// step is the tuned step size for m persons.
func step(m int) float64 {
	if m < 50_000 {
		return 0.1
	}
	return 0.03
}

// clip is the tuned clip norm; noClip is above what gradients usually reach.
const (
	clip   = 0.02
	noClip = 1
)

// gpope is the algorithm of the paper, with its accountant or with a sound one.
func gpope(step, clip float64, sound bool) evaluate.GPOPE {
	g := evaluate.GPOPE{Batch: 1, StepTheta: step, StepW: step, Clip: clip}
	if !sound {
		g.Accountant = paper
	}
	return g
}

// problem is the chain with m persons.
func problem(m int) onchain.Problem {
	return onchain.Problem{Persons: m, Features: onchain.Tabular(), Budget: budget()}
}

// exact holds the exact moments with trajectories weighing 1 each.
var exact = sync.OnceValues(func() (*value.Moments, error) {
	phi := make([]float64, chain.States*chain.States)
	for s := range chain.States {
		phi[s*chain.States+s] = 1
	}
	pi := chain.Policy(onchain.Advance)
	return chain.MDP(onchain.Gamma, nil).Moments(pi, pi, phi, chain.States, value.ByTrajectory)
})

// bestConstants are the least MSPBE and the least RMSE of a constant. MSPBE is a
// quadratic of the constant, found from three of its values.
func bestConstants() (mspbe, rmse float64, err error) {
	moments, err := exact()
	if err != nil {
		return 0, 0, err
	}
	var at [3]float64
	for c := range at {
		flat := make([]float64, chain.States)
		for s := range flat {
			flat[s] = float64(c)
		}
		if at[c], err = moments.MSPBE(flat); err != nil {
			return 0, 0, err
		}
	}
	_, rmse = onchain.BestConstant()
	return leastOf(at), rmse, nil
}

// The panels.
const (
	panelMSPBE   = "mspbe"
	panelRMSE    = "rmse"
	panelEpsilon = "epsilon"
)

// score measures a value function in both panels.
func score(series string, x float64, v []float64) ([]figure.Sample, error) {
	moments, err := exact()
	if err != nil {
		return nil, err
	}
	mspbe, err := moments.MSPBE(v)
	if err != nil {
		return nil, err
	}
	return []figure.Sample{
		{Panel: panelMSPBE, Series: series, X: x, Y: mspbe},
		{Panel: panelRMSE, Series: series, X: x, Y: value.RMSE(v, onchain.Truth())},
	}, nil
}

// method is an estimator as a curve.
type method struct {
	series    string
	estimator evaluate.Estimator
	private   bool
}

// onTheChain are the persons of a trial: every number of persons takes the first
// so many.
type onTheChain struct {
	data *trajectory.Dataset
	walk *walker
	made *releases
}

// chainTrial holds those of the latest trial, for all items, and chainPlans the
// plans of all.
var (
	chainTrial latest[*onTheChain]
	chainPlans plans
)

// chainPersons makes m persons of a trial, or more.
func chainPersons(trial, m int) (*onTheChain, error) {
	return chainTrial.get(trial, m, func() (*onTheChain, error) { return newOnTheChain(trial, m) })
}

func newOnTheChain(trial, m int) (*onTheChain, error) {
	d, err := problem(m).Simulate(seedOf(trial))
	if err != nil {
		return nil, err
	}
	// On-policy nobody reads probabilities.
	d.BehaviorProb, d.ActionProbs, d.Actions = nil, nil, 0
	s, err := value.NewSample(d, value.Options{Gamma: onchain.Gamma, Features: onchain.Tabular()})
	if err != nil {
		return nil, err
	}
	return &onTheChain{d, newWalker(s), new(releases)}, nil
}

// scores runs methods on the first m persons.
func (t *onTheChain) scores(ctx context.Context, methods []method, m int, x float64, seed uint64) ([]figure.Sample, error) {
	values, err := t.values(ctx, methods, m, seed)
	if err != nil {
		return nil, err
	}
	var out []figure.Sample
	for i, each := range methods {
		got, err := score(each.series, x, values[i])
		if err != nil {
			return nil, err
		}
		out = append(out, got...)
	}
	return out, nil
}

// values is the value of every state by each method, which with one feature a
// state is theta.
func (t *onTheChain) values(ctx context.Context, methods []method, m int, seed uint64) ([][]float64, error) {
	asks := make([]ask, len(methods))
	for i, each := range methods {
		p := problem(m)
		if !each.private {
			p.Budget = dp.Budget{}
		}
		plan, err := chainPlans.get(each.estimator, p.Public())
		if err != nil {
			return nil, fmt.Errorf("%s: %w", each.series, err)
		}
		asks[i] = ask{name: fmt.Sprint(p.Budget), estimator: each.estimator, plan: plan, data: t.data}
	}
	return t.made.weights(ctx, t.walk, asks, m, seed)
}

// constants are the references at x.
func constants(x float64) ([]figure.Sample, error) {
	mspbe, rmse, err := bestConstants()
	return []figure.Sample{
		{Panel: panelMSPBE, Series: seriesConstant, X: x, Y: mspbe},
		{Panel: panelRMSE, Series: seriesConstant, X: x, Y: rmse},
	}, err
}

// The curves.
const (
	seriesPaper    = "GPOPE, accountant of the paper"
	seriesSmall    = "the same, 0.1 x step"
	seriesLarge    = "the same, 10 x step"
	seriesSound    = "GPOPE, sound"
	seriesBatch    = "GPOPE, sound, mini-batches"
	seriesLSW      = "DP-LSW, constants of Balle et al."
	seriesLSL      = "DP-LSL, constants of Balle et al."
	seriesLSWExact = "DP-LSW, exact constants"
	seriesLSLExact = "DP-LSL, exact constants"
	seriesRefine   = "dp-refine (ours)"
	seriesLSTD     = "LSTD, not private"
	seriesConstant = "best constant (no data)"
)

// Legends of seriesSmall and seriesLarge, which may stand apart from what "the
// same" refers to.
const (
	labelSmall = seriesPaper + ", 0.1 x step"
	labelLarge = seriesPaper + ", 10 x step"
)

const (
	labelPersons = "trajectories m (one a person)"
	labelStep    = "step size (no unit)"
	labelMSPBE   = "MSPBE (squared units of a reward)"
	labelRMSE    = "RMSE over states (units of a return)"
)

func count(quick bool) int {
	if quick {
		return quickTrials
	}
	return trials
}

// trueEpsilon is the upper end of the bracket of a plan's true epsilon at the
// budget's delta.
func trueEpsilon(g evaluate.GPOPE, m int) (float64, error) {
	plan, err := chainPlans.get(g, problem(m).Public())
	if err != nil {
		return math.NaN(), err
	}
	return plan.Epsilon.Upper, nil
}
