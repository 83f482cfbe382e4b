package learn

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/discreet-rl/discreet/internal/rl/sim/cartpole"
)

// reading is a setting of the actor-critic loss; its loss is computed a second
// time below, from its formula, with what is detached held at base weights.
func formula(a *ActorCritic, net *MLP, e *Episode, theta, base []float64) float64 {
	value := func(w []float64, t int) float64 {
		row := make([]float64, net.row)
		net.forward(w, e.Obs(t, net.net.Inputs), row)
		return row[net.value]
	}
	steps, loss := e.Steps(), 0.0
	for t := range steps {
		ret := func(w []float64) float64 {
			sum := 0.0
			for j := t; j < steps; j++ {
				sum += math.Pow(a.Gamma, float64(j-t)) * e.Reward[j]
			}
			if !e.Terminated || a.BootstrapTerminal {
				factor := math.Pow(a.Gamma, float64(steps-t))
				if a.PlainBootstrap {
					factor = 1
				}
				sum += factor * value(w, steps)
			}
			return sum
		}
		forReturn, forAdvantage := theta, theta
		if a.DetachReturn {
			forReturn = base
		}
		advantage := ret(forReturn) - value(forAdvantage, t)
		inPolicy := advantage
		if a.Detach {
			inPolicy = ret(base) - value(base, t)
		}
		probs := make([]float64, net.net.Actions)
		net.Probabilities(probs, theta, e.Obs(t, net.net.Inputs), nil)
		entropy := 0.0
		for _, p := range probs {
			entropy -= p * math.Log(p)
		}
		loss += -math.Log(probs[e.Action[t]])*inPolicy - a.Entropy*entropy + a.ValueWeight*advantage*advantage
	}
	if a.Mean {
		loss /= float64(steps)
	}
	return loss
}

// numeric is the gradient of f by central differences, extrapolated.
func numeric(f func([]float64) float64, theta []float64) []float64 {
	out := make([]float64, len(theta))
	w := append([]float64(nil), theta...)
	central := func(i int, h float64) float64 {
		w[i] = theta[i] + h
		up := f(w)
		w[i] = theta[i] - h
		down := f(w)
		w[i] = theta[i]
		return (up - down) / (2 * h)
	}
	for i := range theta {
		const h = 1e-4
		out[i] = (4*central(i, h/2) - central(i, h)) / 3
	}
	return out
}

func closeTo(t *testing.T, name string, got, want []float64) {
	t.Helper()
	size := 0.0
	for _, v := range want {
		size = max(size, math.Abs(v))
	}
	if size == 0 {
		t.Fatalf("%s: the gradient is zero: the test says nothing", name)
	}
	for i := range got {
		if !(math.Abs(got[i]-want[i]) <= 2e-7*size) {
			t.Fatalf("%s: weight %d: %v; differences say %v (largest %v)", name, i, got[i], want[i], size)
		}
	}
}

// played returns an episode of cart pole, long enough to see every term. With kinks
// in the network, weights are taken at random until no unit is near its kink.
func played(t *testing.T, net *MLP, limit int, rule RewardRule, seed uint64) (*Episode, []float64) {
	t.Helper()
	env, err := cartpole.New(cartpole.Options{})
	if err != nil {
		t.Fatal(err)
	}
	p, err := NewPlayer(net, env, limit, rule)
	if err != nil {
		t.Fatal(err)
	}
	theta := make([]float64, net.Dim())
	for ; ; seed++ {
		rng := rand.New(rand.NewPCG(seed, 1))
		net.Init(theta, Init{Normal: .7}, rng)
		if net.net.Bias {
			for i := range theta {
				theta[i] += .1 * rng.NormFloat64()
			}
		}
		var e Episode
		if err := p.Play(&e, theta, Explore{Uniform: .2}, rng); err != nil {
			t.Fatal(err)
		}
		if e.Terminated == (limit < 9) { // cart pole cannot fall in 8 steps
			continue
		}
		if kinkless(net, &e) {
			return &e, theta
		}
	}
}

// kinkless tells that no unit is close above 0, where a difference could cross
// the kink. A unit that is at 0 may still be close below it; then the comparison
// itself fails, so this does not hide anything.
func kinkless(net *MLP, e *Episode) bool {
	row := make([]float64, net.row)
	for t := range e.Steps() + 1 {
		copy(row, e.rows[t*net.row:])
		for _, l := range net.layers {
			if !l.relu {
				continue
			}
			for j := range l.out {
				if v := row[l.to+j]; v != 0 && v < 2e-3 {
					return false
				}
			}
		}
		if net.net.ReLUValue && row[net.value] == 0 {
			return false
		}
	}
	return true
}

func TestActorCriticGradientMatchesDifferences(t *testing.T) {
	nets := map[string]Network{
		"paper":       {Inputs: 4, Hidden: []int{16}, Actions: 2, Value: true},
		"biases":      {Inputs: 4, Hidden: []int{5}, Actions: 2, Value: true, Bias: true},
		"two layers":  {Inputs: 4, Hidden: []int{6, 5}, Actions: 2, Value: true},
		"linear":      {Inputs: 4, Actions: 2, Value: true},
		"value relu":  {Inputs: 4, Hidden: []int{3}, Actions: 2, Value: true, ReLUValue: true},
		"logits relu": {Inputs: 4, Hidden: []int{3}, Actions: 2, Value: true, ReLULogits: true},
	}
	base := ActorCritic{Gamma: .97, Entropy: .3, ValueWeight: .5}
	for name, n := range nets {
		net, err := NewMLP(n)
		if err != nil {
			t.Fatal(err)
		}
		for bits := range 32 {
			a := base
			a.Detach, a.DetachReturn, a.BootstrapTerminal = bits&1 != 0, bits&2 != 0, bits&4 != 0
			a.PlainBootstrap, a.Mean = bits&8 != 0, bits&16 != 0
			if bits == 9 {
				a.Entropy = -.3
			}
			limit := 7
			if bits&4 != 0 {
				limit = 30 // terminates, so BootstrapTerminal has something to say
			}
			if limit == 30 && (n.ReLULogits || n.ReLUValue) {
				continue // too many states to be far from every kink
			}
			bound, err := a.Bind(net)
			if err != nil {
				t.Fatal(err)
			}
			e, theta := playedSoftly(t, net, limit, bits)
			got := make([]float64, net.Dim())
			loss := bound.Gradient(got, theta, e)
			at := append([]float64(nil), theta...)
			f := func(w []float64) float64 { return formula(bound, net, e, w, at) }
			if want := f(theta); math.Abs(loss-want) > 1e-10*math.Abs(want) {
				t.Fatalf("%s %05b: loss %v; the formula says %v", name, bits, loss, want)
			}
			closeTo(t, fmt.Sprintf("%s %05b", name, bits), got, numeric(f, theta))
		}
	}
}

func playedSoftly(t *testing.T, net *MLP, limit, bits int) (*Episode, []float64) {
	t.Helper()
	rule := OwnReward
	if bits&1 != 0 {
		rule = FailureReward
	}
	return played(t, net, limit, rule, uint64(1000*bits+1))
}

func TestPolicyGradientMatchesDifferences(t *testing.T) {
	for _, n := range []Network{
		{Inputs: 4, Hidden: []int{16}, Actions: 2},
		{Inputs: 4, Hidden: []int{4, 3}, Actions: 2, Bias: true},
		{Inputs: 4, Actions: 2},
		{Inputs: 4, Hidden: []int{4}, Actions: 2, Value: true}, // the value head gets no gradient
	} {
		net, err := NewMLP(n)
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range []PolicyGradient{{Gamma: .9}, {Gamma: 1, Standardise: true}, {Gamma: .9, Entropy: .2}} {
			one, theta := played(t, net, 8, OwnReward, 5)
			two, _ := played(t, net, 5, OwnReward, 50)
			net.Replay(two, theta)
			episodes := []Episode{*one, *two}
			bound, err := g.Bind(net)
			if err != nil {
				t.Fatal(err)
			}
			got := make([]float64, net.Dim())
			bound.Gradient(got, theta, episodes)
			f := func(w []float64) float64 { return reinforce(g, net, episodes, w) }
			closeTo(t, fmt.Sprintf("%+v", n), got, numeric(f, theta))
		}
	}
}

// reinforce is the loss from its formula.
func reinforce(g PolicyGradient, net *MLP, episodes []Episode, theta []float64) float64 {
	var returns, logs, entropies []float64
	for n := range episodes {
		e := &episodes[n]
		for t := range e.Steps() {
			sum := 0.0
			for j := t; j < e.Steps(); j++ {
				sum += math.Pow(g.Gamma, float64(j-t)) * e.Reward[j]
			}
			probs := make([]float64, net.net.Actions)
			net.Probabilities(probs, theta, e.Obs(t, net.net.Inputs), nil)
			h := 0.0
			for _, p := range probs {
				h -= p * math.Log(p)
			}
			returns, logs, entropies = append(returns, sum), append(logs, math.Log(probs[e.Action[t]])), append(entropies, h)
		}
	}
	n := float64(len(returns))
	mean, square := 0.0, 0.0
	for _, r := range returns {
		mean += r / n
	}
	for _, r := range returns {
		square += (r - mean) * (r - mean) / n
	}
	sd := 1.0
	if g.Standardise {
		sd = math.Sqrt(square)
	}
	loss := 0.0
	for i, r := range returns {
		loss -= (logs[i]*(r-mean)/sd + g.Entropy*entropies[i]) / n
	}
	return loss
}

func TestNetworkOfThePaperHas112Weights(t *testing.T) {
	net, err := NewMLP(Network{Inputs: 4, Hidden: []int{16}, Actions: 2, Value: true})
	if err != nil {
		t.Fatal(err)
	}
	if net.Dim() != 112 {
		t.Errorf("%d weights; Ono and Takahashi (2020), section 4, count 112", net.Dim())
	}
}

func TestMalformedNetworksAreRefused(t *testing.T) {
	for _, n := range []Network{{}, {Inputs: 4}, {Actions: 2}, {Inputs: 4, Actions: 2, Hidden: []int{0}}} {
		if _, err := NewMLP(n); !errors.Is(err, ErrOptions) {
			t.Errorf("%+v: %v; want ErrOptions", n, err)
		}
	}
	net, _ := NewMLP(Network{Inputs: 4, Actions: 2})
	if _, err := (ActorCritic{Gamma: .9}).Bind(net); !errors.Is(err, ErrOptions) {
		t.Errorf("no value head: %v; want ErrOptions", err)
	}
	if _, err := (PolicyGradient{Gamma: 1.1}).Bind(net); !errors.Is(err, ErrOptions) {
		t.Errorf("gamma 1.1: %v; want ErrOptions", err)
	}
}

func TestGlorotWeightsStayInTheirRange(t *testing.T) {
	net, _ := NewMLP(Network{Inputs: 4, Hidden: []int{16}, Actions: 2, Value: true, Bias: true})
	theta := make([]float64, net.Dim())
	net.Init(theta, Init{}, rand.New(rand.NewPCG(1, 2)))
	limit, largest := math.Sqrt(6.0/20), 0.0
	for _, w := range theta[:64] {
		largest = max(largest, math.Abs(w))
	}
	if largest > limit || largest < .8*limit {
		t.Errorf("largest of 64 weights %v; want just below %v", largest, limit)
	}
	for i, b := range theta[64:80] {
		if b != 0 {
			t.Errorf("bias %d is %v; want 0", i, b)
		}
	}
}

func TestGreedyAndUniformActions(t *testing.T) {
	net, _ := NewMLP(Network{Inputs: 4, Actions: 2})
	env, _ := cartpole.New(cartpole.Options{})
	p, err := NewPlayer(net, env, 200, OwnReward)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	theta := make([]float64, net.Dim()) // ties: the first action
	var e Episode
	if err := p.Play(&e, theta, Explore{Greedy: true}, rng); err != nil {
		t.Fatal(err)
	}
	for step, a := range e.Action {
		if a != 0 {
			t.Fatalf("step %d: action %d; want the first of two equal ones", step, a)
		}
	}
	right, steps := 0, 0
	for range 400 {
		if err := p.Play(&e, theta, Explore{Greedy: true, Uniform: .5}, rng); err != nil {
			t.Fatal(err)
		}
		for _, a := range e.Action {
			right += int(a)
		}
		steps += e.Steps()
	}
	// Half of the actions are uniform: a quarter go right. Six standard deviations.
	if share, sd := float64(right)/float64(steps), math.Sqrt(.25*.75/float64(steps)); math.Abs(share-.25) > 6*sd {
		t.Errorf("%d of %d actions go right (%v); want a quarter", right, steps, share)
	}
}

func BenchmarkEpisodeAndGradient(b *testing.B) {
	net, _ := NewMLP(Network{Inputs: 4, Hidden: []int{16}, Actions: 2, Value: true})
	env, _ := cartpole.New(cartpole.Options{})
	p, _ := NewPlayer(net, env, 200, OwnReward)
	rng := rand.New(rand.NewPCG(3, 4))
	theta, grad := make([]float64, net.Dim()), make([]float64, net.Dim())
	net.Init(theta, Init{}, rng)
	a, _ := ActorCritic{Gamma: .99, Entropy: .01, ValueWeight: .5}.Bind(net)
	var e Episode
	steps := 0
	b.ReportAllocs()
	for b.Loop() {
		if err := p.Play(&e, theta, Explore{}, rng); err != nil {
			b.Fatal(err)
		}
		clear(grad)
		a.Gradient(grad, theta, &e)
		steps += e.Steps()
	}
	b.ReportMetric(float64(steps)/b.Elapsed().Seconds(), "steps/s")
}
