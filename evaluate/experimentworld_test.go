package evaluate_test

import (
	"math"
	"math/rand/v2"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/internal/xmath"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// abWorld is an A/B test whose truth is known in closed form: log normal spending cut at 10 in two
// periods, or a purchase of 0 or 1.
type abWorld struct {
	name   string
	shares []float64
	rare   []float64 // probabilities by arm; nil of spending
	logs   []float64 // mean of log spending by arm
	spread float64
	common float64 // correlation of log spending before and after
}

const abTop = 10.

func (w abWorld) top() float64 {
	if w.rare != nil {
		return 1
	}
	return abTop
}

// truth is the mean of an arm.
func (w abWorld) truth(arm int) float64 {
	if w.rare != nil {
		return w.rare[arm]
	}
	m, s := w.logs[arm], w.spread
	at := (math.Log(abTop) - m) / s
	return math.Exp(m+s*s/2)*xmath.NormCDF(at-s) + abTop*(1-xmath.NormCDF(at))
}

// guess is what somebody who knows the past would suppose.
func (w abWorld) guess() evaluate.ExperimentGuess {
	g := evaluate.ExperimentGuess{Mean: w.truth(0), Correlation: 0.1}
	if v := w.spread * w.spread; v > 0 {
		g.SD, g.Correlation = g.Mean*math.Sqrt(math.Expm1(v)), math.Expm1(v*w.common)/math.Expm1(v)
	}
	return g
}

// abLog is what was drawn.
type abLog struct {
	arm       []int
	before, y []float64
}

func (w abWorld) draw(n int, rng *rand.Rand) abLog {
	l := abLog{make([]int, n), make([]float64, n), make([]float64, n)}
	for i := range n {
		u := rng.Float64()
		for u >= w.shares[l.arm[i]] && l.arm[i] < len(w.shares)-1 {
			u -= w.shares[l.arm[i]]
			l.arm[i]++
		}
		a, b, c := rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()
		mix := func(own float64) float64 { return math.Sqrt(w.common)*a + math.Sqrt(1-w.common)*own }
		if w.rare != nil {
			l.before[i] = xmath.NormCDF(mix(b))
			if xmath.NormCDF(mix(c)) > 1-w.rare[l.arm[i]] {
				l.y[i] = 1
			}
			continue
		}
		l.before[i] = min(math.Exp(w.logs[0]+w.spread*mix(b)), abTop)
		l.y[i] = min(math.Exp(w.logs[l.arm[i]]+w.spread*mix(c)), abTop)
	}
	return l
}

// dataset has one row a person.
func (l abLog) dataset() *trajectory.Dataset {
	var b trajectory.Builder
	for i, y := range l.y {
		b.Add(&trajectory.Episode{Person: i, Columns: []string{"obs_arm", "obs_before"}, Obs: []float64{float64(l.arm[i]), l.before[i]}, Reward: []float64{y}, Terminated: true})
	}
	return b.Dataset()
}

// facts are the public ones. Arms are named A, B, C.
func (w abWorld) facts(persons int64, epsilon float64, adjacency dp.Adjacency, covariate, complete bool) evaluate.Public {
	p := evaluate.Public{
		Persons: persons, Gamma: 1, Horizon: 1, OneDecision: true, Reward: evaluate.Range{Max: w.top()}, Target: policy.Logged{}, Complete: complete,
		By:      &evaluate.Groups{Column: "obs_arm"},
		Privacy: &evaluate.Privacy{Adjacency: adjacency, Budget: dp.Budget{Epsilon: epsilon, Delta: 1e-6}},
	}
	for i := range w.shares {
		p.By.Of = append(p.By.Of, evaluate.Group{Name: string(rune('A' + i)), Number: float64(i)})
	}
	if covariate {
		p.Features = w.covariate()
	}
	return p
}

func (w abWorld) covariate() feature.Map {
	f, err := feature.NewColumns([]string{"obs_before"}, []feature.Range{{High: w.top()}}, feature.ColumnsOptions{})
	if err != nil {
		panic(err)
	}
	return f
}

func (w abWorld) allocation() map[string]float64 {
	out := map[string]float64{}
	for i, share := range w.shares {
		out[string(rune('A'+i))] = share
	}
	return out
}

// welch is the difference of an arm from arm 0 with its standard error, without privacy; adjusted
// with the pooled slope on the covariate (Deng, Xu, Kohavi and Walker 2013).
func (l abLog) welch(arm int, adjusted bool) (difference, se float64) {
	slope := 0.0
	if adjusted {
		_, c, _ := l.moments(-1, func(i int) float64 { return l.before[i] })
		_, y, _ := l.moments(-1, func(i int) float64 { return l.y[i] })
		_, both, _ := l.moments(-1, func(i int) float64 { return (l.before[i] - c) * (l.y[i] - y) })
		_, alone, _ := l.moments(-1, func(i int) float64 { return (l.before[i] - c) * (l.before[i] - c) })
		slope = both / alone
	}
	of := func(i int) float64 { return l.y[i] - slope*l.before[i] }
	n, a, v := l.moments(arm, of)
	m, b, u := l.moments(0, of)
	return a - b, math.Sqrt(v/n + u/m)
}

// moments are number, mean and variance of an arm, or of all.
func (l abLog) moments(arm int, of func(i int) float64) (n, mean, variance float64) {
	for i := range l.y {
		if arm < 0 || l.arm[i] == arm {
			n++
			mean += of(i)
			variance += of(i) * of(i)
		}
	}
	mean /= n
	return n, mean, (variance/n - mean*mean) * n / (n - 1)
}

var (
	abRare   = abWorld{name: "rare, two arms", shares: []float64{0.5, 0.5}, rare: []float64{0.02, 0.03}, common: 0.5}
	abRare3  = abWorld{name: "rare, 80/10/10", shares: []float64{0.8, 0.1, 0.1}, rare: []float64{0.02, 0.02, 0.035}, common: 0.5}
	abSpend  = abWorld{name: "spending, two arms", shares: []float64{0.5, 0.5}, logs: []float64{-0.5, -0.4}, spread: 0.9, common: 0.8}
	abSpend3 = abWorld{name: "spending, 80/10/10", shares: []float64{0.8, 0.1, 0.1}, logs: []float64{-0.5, -0.5, -0.3}, spread: 0.9, common: 0.8}
	abWorlds = []abWorld{abRare, abRare3, abSpend, abSpend3}
)
