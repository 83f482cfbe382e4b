//go:build slow && measure

package truthbench_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// pair is an action's ratios under two policies.
type pair [2]float64

// pairsOf are those of all actions that are drawn, or of those in a large log where states are not finitely many.
func pairsOf(t *testing.T, p truthbench.Problem, against policy.Policy) (out []pair) {
	if p.Behavior == nil {
		d := p.Draw(20_000, 1)
		ratios := make([]float64, d.Rows())
		check(t, policy.Ratios(ratios, p.Target, d))
		for _, x := range ratios {
			out = append(out, pair{x, 1})
		}
		return out
	}
	if policy.OnPolicy(against) {
		against = p.Behavior
	}
	d := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}, Columns: []string{"obs_state"}}
	for s := range p.States {
		d.Obs, d.Action, d.Reward = append(d.Obs, float64(s)), append(d.Action, 0), append(d.Reward, 0)
		d.EpisodeStart, d.PersonStart = append(d.EpisodeStart, s+1), append(d.PersonStart, s+1)
	}
	var probs [3][]float64
	var bound [3]policy.Bound
	for k, one := range []policy.Policy{p.Target, against, p.Behavior} {
		var err error
		bound[k], err = one.Bind(d)
		check(t, err)
		probs[k] = make([]float64, p.Behavior.Actions())
	}
	for s := range p.States {
		for k := range bound {
			bound[k].Distribution(probs[k], s)
		}
		for a, drawn := range probs[2] {
			if drawn > 0 {
				out = append(out, pair{probs[0][a] / drawn, probs[1][a] / drawn})
			}
		}
	}
	return out
}

// bounds are public: the largest discounted weight of a person for the first policy, and the ends of the difference of
// both, exact for one decision and by the largest and least products for several. Where the range of a return is stated, weights
// are those of the whole episode.
func bounds(p truthbench.Problem, pairs []pair) (most, low, high float64) {
	least, largest := pair{math.Inf(1), math.Inf(1)}, pair{}
	apart := pair{math.Inf(1), math.Inf(-1)}
	for _, x := range pairs {
		for k := range x {
			least[k], largest[k] = min(least[k], x[k]), max(largest[k], x[k])
		}
		apart[0], apart[1] = min(apart[0], x[0]-x[1]), max(apart[1], x[0]-x[1])
	}
	if p.Horizon == 1 {
		return largest[0], min(apart[0], 0), max(apart[1], 0)
	}
	for t := range p.Horizon {
		discount, power := math.Pow(p.Gamma, float64(t)), float64(t+1)
		if p.Return != nil {
			if t < p.Horizon-1 {
				continue
			}
			discount = 1
		}
		// An episode may end earlier, with a weight nearer to 1.
		of := func(x float64, up bool) float64 {
			if up {
				return max(math.Pow(x, power), 1)
			}
			return min(math.Pow(x, power), 1)
		}
		most += discount * of(largest[0], true)
		low += discount * min(of(least[0], false)-of(largest[1], true), 0)
		high += discount * max(of(largest[0], true)-of(least[1], false), 0)
	}
	return most, low, high
}

// did is what intervals of one kind did in the logs of one problem.
type did struct {
	problem           string
	logs, held, wrong int
	width             float64
}

// asks are a value, or a contrast where the second policy is not nil.
type asks struct {
	name  string
	pair  [2]policy.Policy
	truth float64
}

func asksOf(p truthbench.Problem) []asks {
	out := []asks{{"value", [2]policy.Policy{p.Target, nil}, p.J}, {"target - logged", [2]policy.Policy{p.Target, policy.Logged{}}, p.J - p.Logged}}
	if p.Between != nil {
		out = append(out, asks{"target - between", [2]policy.Policy{p.Target, p.Between}, p.J - p.Middle})
	}
	return out
}

// planOf asks auto, with the recorded probabilities of logged actions or with the design.
func planOf(t *testing.T, p truthbench.Problem, a asks, n int, design bool) *evaluate.Plan {
	q := p.Public(n, 1, dp.ReplaceOne)
	targets := []policy.Policy{p.Target}
	if a.pair[1] != nil {
		targets = a.pair[:]
		q.Target, q.Targets = nil, &evaluate.Targets{Contrasts: [][2]string{{"a", "b"}},
			Policies: []evaluate.NamedPolicy{{Name: "a", Policy: a.pair[0]}, {Name: "b", Policy: a.pair[1]}}}
	}
	if design {
		if q.Design = evaluate.NewDesign(p.Behavior, true, targets...); q.Design == nil {
			return nil
		}
		if q.Complete = true; q.Targets != nil {
			q.Targets.Drawn = p.Behavior
		}
	}
	plan, err := evaluate.Auto{}.Plan(q)
	check(t, err)
	return plan
}

var peerKinds = []string{"probabilities", "design", "bootstrap", "betting"}

// TestPeersTable prints, of the problems of the bench and ten new ones, how often 95% intervals of auto hold and how wide they
// are, beside two without privacy on the same logs: percentiles of a WPDIS bootstrap and a betting interval. First come all cells
// ("cell"), then strata by public facts: an action is never drawn, or the largest weight that a person can have. "Below": problems
// with fewer intervals that hold than 95% allow, by binomial counts at 1% over all cells of a kind. Widths, in % of the range of
// returns and in those of the bootstrap, are medians of problems. It judges nothing.
func TestPeersTable(t *testing.T) {
	type key struct{ stratum, ask, kind string }
	for _, text := range strings.Split(*persons, ",") {
		n := int(number(t, text))
		groups, order, cells := map[key][]did{}, []key{}, map[string]int{}
		for i, p := range append(truthbench.Problems(), truthbench.Fresh(32)...) {
			if !asked(t, p.Name) {
				continue
			}
			var stratum string
			most, _, _ := bounds(p, pairsOf(t, p, policy.Logged{}))
			whole := p.Public(n, 1, dp.ReplaceOne).Returns().Width()
			switch largest := most / whole; {
			case strings.HasPrefix(p.Name, "arm never"):
				stratum = "an action never drawn"
			case p.Horizon == 1 && largest <= 10:
				stratum = "one decision, weights to 10"
			case p.Horizon == 1:
				stratum = "one decision, weights above 10"
			case largest <= 10:
				stratum = "several decisions, weights to 10"
			default:
				stratum = "several decisions, weights above 10"
			}
			for a, rows := range peersOf(t, p, n, uint64(i)) {
				for k, kind := range peerKinds {
					x := rows[k]
					if x.logs == 0 {
						continue
					}
					id := key{stratum, asksOf(p)[a].name, kind}
					if groups[id] == nil {
						order = append(order, id)
					}
					x.problem = p.Name
					x.width *= 100 / whole / float64(x.logs)
					groups[id] = append(groups[id], x)
					cells[kind]++
					fmt.Printf("cell\t%s\t%d\t%s\t%s\t%s\t%d\t%.1f\t%.1f\t%.4g\n", p.Name, n, stratum, id.ask, kind, x.logs,
						100*float64(x.held)/float64(x.logs), 100*float64(x.wrong)/float64(x.logs), x.width)
				}
			}
		}
		slices.SortStableFunc(order, func(x, y key) int { return strings.Compare(x.stratum, y.stratum) })
		fmt.Println("stratum\tpersons\tasked\tintervals\tproblems\tlogs\theld %\tleast %\tbelow\twrong side %\twidth, % of the range\tin bootstraps")
		for _, id := range order {
			var all did
			var widths, ratios []float64
			boots := groups[key{id.stratum, id.ask, "bootstrap"}]
			worst, below := 1.0, 0
			for _, x := range groups[id] {
				all.logs, all.held, all.wrong = all.logs+x.logs, all.held+x.held, all.wrong+x.wrong
				worst = min(worst, float64(x.held)/float64(x.logs))
				if (distuv.Binomial{N: float64(x.logs), P: 0.95}).CDF(float64(x.held)) < 0.01/float64(cells[id.kind]) {
					below++
				}
				widths = append(widths, x.width)
				for _, y := range boots {
					if y.problem == x.problem {
						ratios = append(ratios, x.width/y.width)
					}
				}
			}
			fmt.Printf("%s\t%d\t%s\t%s\t%d\t%d\t%.1f\t%.1f\t%d\t%.2f\t%.3g\t%.2f\n", id.stratum, n, id.ask, id.kind, len(widths), all.logs, 100*float64(all.held)/float64(all.logs),
				100*worst, below, 100*float64(all.wrong)/float64(all.logs), medianOf(widths), medianOf(ratios))
		}
	}
}

func medianOf(x []float64) float64 {
	x = slices.Sorted(slices.Values(x))
	return (x[(len(x)-1)/2] + x[len(x)/2]) / 2
}

// peersOf asks all questions of the same logs.
func peersOf(t *testing.T, p truthbench.Problem, n int, stream uint64) [][4]did {
	all := asksOf(p)
	plans, out := make([][2]*evaluate.Plan, len(all)), make([][4]did, len(all))
	limits := make([][3]float64, len(all))
	for i, a := range all {
		for k := range plans[i] {
			if k == 0 || p.Behavior != nil {
				plans[i][k] = planOf(t, p, a, n, k == 1)
			}
		}
		against := a.pair[1]
		if against == nil {
			against = policy.Logged{}
		}
		limits[i][0], limits[i][1], limits[i][2] = bounds(p, pairsOf(t, p, against))
	}
	src, rng := noise.NewSeeded(stream<<32+uint64(n)), rand.New(rand.NewPCG(stream, uint64(n)))
	for seed := range *draws {
		d := p.Draw(n, uint64(seed))
		for i := range all {
			for k, plan := range plans[i] {
				if plan == nil {
					continue
				}
				if r := answer(t, plan, d, src); r != nil {
					out[i][k].add(r.Interval, all[i], p)
				}
			}
		}
		policies := []policy.Policy{p.Target, policy.Logged{}, p.Between}[:len(all)]
		weighted := make([]truthbench.Weighted, len(policies))
		for k, one := range policies {
			var err error
			weighted[k], err = truthbench.NewWeighted(d, one, p.Gamma, p.Horizon)
			check(t, err)
		}
		values := truthbench.Bootstrap(rng.IntN, weighted...)
		if p.Return != nil {
			for k := range weighted {
				weighted[k] = weighted[k].Whole()
			}
		}
		span := p.Public(n, 1, dp.ReplaceOne).Returns()
		for i, a := range all {
			boot, bet := values[0], [2]float64{}
			if i == 0 {
				bet = weighted[0].Betting(limits[0][0])
			} else {
				boot = truthbench.Minus(boot, values[i])
				bet = weighted[0].BettingMinus(weighted[i], limits[i][1], limits[i][2])
			}
			low, high := span.Min, span.Max
			if i > 0 {
				low, high = -span.Width(), span.Width()
			}
			out[i][2].add(truthbench.Percentiles(boot), a, p)
			out[i][3].add([2]float64{max(bet[0], low), min(bet[1], high)}, a, p)
		}
	}
	return out
}

// add counts an interval: a value lies on the wrong side of the logged policy's, a difference of 0.
func (c *did) add(x [2]float64, a asks, p truthbench.Problem) {
	c.logs++
	c.width += x[1] - x[0]
	if x[0] <= a.truth && a.truth <= x[1] {
		c.held++
	}
	at := 0.0
	if a.pair[1] == nil {
		at = p.Logged
	}
	if x[0] > at && a.truth < at || x[1] < at && a.truth > at {
		c.wrong++
	}
}
