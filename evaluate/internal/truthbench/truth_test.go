package truthbench

import (
	"math"
	"strings"
	"testing"
)

// TestValuesAgreeWithPlay plays the logged policy, and by weights the target. A sum
// of n terms that is farther than 4.5 standard errors from its mean is a chance of
// less than 1e-5; with about 62 comparisons a false alarm has less than 1e-3. The
// seeds are fixed, so it happens always or never.
func TestValuesAgreeWithPlay(t *testing.T) {
	const persons = 40000
	for i, p := range append(Problems(), Fresh(32)...) {
		if strings.HasPrefix(p.Name, "arm never tried") {
			continue // weights of what is never logged make no mean
		}
		d := p.Draw(persons, uint64(i))
		var logged, target moments
		for e := range d.Episodes() {
			w, plain, weighted, discount := 1.0, 0.0, 0.0, 1.0
			for row := d.EpisodeStart[e]; row < d.EpisodeStart[e+1]; row++ {
				w *= d.TargetProb[row] / d.BehaviorProb[row]
				plain += discount * d.Reward[row]
				weighted += discount * w * d.Reward[row]
				discount *= p.Gamma
			}
			logged.add(plain)
			target.add(weighted)
		}
		for _, c := range []struct {
			name  string
			truth float64
			m     moments
		}{{"logged", p.Logged, logged}, {"target", p.J, target}} {
			mean, se := c.m.mean()
			if math.Abs(mean-c.truth) > 4.5*se {
				t.Errorf("%s, %s: worth %v; %d plays make %v, standard error %v", p.Name, c.name, c.truth, persons, mean, se)
			}
			t.Logf("%-26s %-6s %8.4f %8.4f (%.4f)", p.Name, c.name, c.truth, mean, se)
		}
	}
}

// moments add up numbers and their squares.
type moments struct{ n, sum, squares float64 }

func (m *moments) add(x float64) {
	m.n++
	m.sum += x
	m.squares += x * x
}

// mean is the mean and its standard error.
func (m moments) mean() (mean, se float64) {
	mean = m.sum / m.n
	return mean, math.Sqrt(max(m.squares/m.n-mean*mean, 0) / m.n)
}

// TestValuesInClosedForm: what a pencil gives. A heavy-tailed problem pays .7 a
// decision. On the chain the target ends from state s at a negative binomial time.
func TestValuesInClosedForm(t *testing.T) {
	worth := map[string][2]float64{
		"bandit, arm at .5": {0.6, 0.5}, "bandit, arm at .02": {0.6, 0.02*0.6 + 0.98*0.4},
		"clicks, arm at .5": {0.01, 0.009}, "clicks, arm at .02": {0.01, 0.02*0.01 + 0.98*0.008},
		"arm never tried, worth 0": {0.3, 0.5}, "arm never tried, worth 1": {0.8, 0.5},
		"heavy tails": {7, 5}, "chain": {chainWorth(0.6), chainWorth(0.5)},
	}
	for _, p := range Problems() {
		want, ok := worth[p.Name]
		if !ok {
			continue
		}
		delete(worth, p.Name)
		if math.Abs(p.J-want[0]) > 1e-12 || math.Abs(p.Logged-want[1]) > 1e-12 {
			t.Errorf("%s: %v and %v; want %v", p.Name, p.J, p.Logged, want)
		}
	}
	if len(worth) > 0 {
		t.Errorf("not among the benchmark problems: %v", worth)
	}
}

// chainWorth sums over the time of the last of k advances, k from 1 to 10, each made
// with probability p: gamma^(time-1) C(time-1, k-1) p^k (1-p)^(time-k).
func chainWorth(p float64) float64 {
	sum := 0.0
	for k := 1; k <= 10; k++ {
		for time := k; time <= 30; time++ {
			all, _ := math.Lgamma(float64(time))
			some, _ := math.Lgamma(float64(k))
			rest, _ := math.Lgamma(float64(time - k + 1))
			ways := math.Exp(all - some - rest)
			sum += 0.1 * math.Pow(0.99, float64(time-1)) * ways * math.Pow(p, float64(k)) * math.Pow(1-p, float64(time-k))
		}
	}
	return sum
}

// TestLogsFollowFromTheSeed: two logs of one seed are equal, of two seeds not.
func TestLogsFollowFromTheSeed(t *testing.T) {
	sum := func(x []float64) (s float64) {
		for i, v := range x {
			s += v * float64(i%97)
		}
		return s
	}
	for _, p := range Problems() {
		a, b, c := p.Draw(50, 1), p.Draw(50, 1), p.Draw(50, 2)
		if a.Rows() != b.Rows() || sum(a.Reward) != sum(b.Reward) || sum(a.BehaviorProb) != sum(b.BehaviorProb) {
			t.Errorf("%s: two logs of one seed differ", p.Name)
		}
		if p.Horizon > 1 && a.Rows() == c.Rows() && sum(a.BehaviorProb) == sum(c.BehaviorProb) && sum(a.Obs) == sum(c.Obs) && sum(a.Reward) == sum(c.Reward) {
			t.Errorf("%s: two seeds make one log", p.Name)
		}
	}
}
