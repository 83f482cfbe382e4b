//go:build slow && measure

package evaluate_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"regexp"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/evaluate"
)

var (
	gridFile    = flag.String("learn-grid", "", "file of one line a log, which is continued")
	gridPersons = flag.Int("learn-persons", 20000, "largest number of persons")
	gridOnly    = flag.String("learn-only", "", "the problems whose names match")
	gridShare   = flag.Float64("learn-share", 0, "share of persons who are learned from, of several decisions")
	gridHeld    = flag.String("learn-held", "", "file for the numbers of the held problems")
	gridTime    = flag.Duration("learn-time", 0, "stop after so long; 0 for never")
)

// held are trials and processes that no parameter was chosen on.
func held() (trials []trialWorld, chains []process) {
	r := rand.New(rand.NewPCG(101, 7))
	sites := make([][2]float64, learnStates)
	for i := range sites {
		sites[i] = [2]float64{0.3 + 0.3*r.Float64(), 0.5 * (r.Float64() - 0.5)}
	}
	trials = []trialWorld{
		{"three doses", 4, []float64{0.3, 0.4, 0.3}, func(x []float64, arm int) float64 {
			best := 0
			if x[1] > 0.35 {
				if best = 1; x[3] > 0.55 {
					best = 2
				}
			}
			return 0.35 + 0.15*x[0] - 0.12*math.Abs(float64(arm-best))
		}, 2},
		{"a rare outcome", 4, []float64{0.5, 0.5}, func(x []float64, arm int) float64 {
			switch {
			case arm == 0:
				return 0.12
			case x[2] > 0.7:
				return 0.34
			}
			return 0.06
		}, 1},
		{"a gradual effect", 3, []float64{0.6, 0.4}, func(x []float64, arm int) float64 {
			return 1 / (1 + math.Exp(0.4-x[1]-float64(arm)*2.5*(x[0]-x[2]+0.1)))
		}, linear},
		{"twelve sites", 0, []float64{0.35, 0.65}, func(x []float64, arm int) float64 {
			site := sites[int(x[0])]
			return site[0] + float64(arm)*site[1]
		}, 0},
	}
	swim := process{name: "upstream, 6 x 2, 10 decisions", states: 6, actions: 2, horizon: 10, start: []float64{0.3, 0.3, 0.4, 0, 0, 0}}
	for s := range 6 {
		down, up := make([]float64, 6), make([]float64, 6)
		down[max(s-1, 0)] = 1
		up[min(s+1, 5)] += 0.6
		up[s] += 0.3
		up[max(s-1, 0)] += 0.1
		reward := []float64{0, 0}
		switch s {
		case 0:
			reward[0] = 0.1
		case 5:
			reward[1] = 1
		}
		swim.next, swim.reward = append(swim.next, [][]float64{down, up}), append(swim.reward, reward)
	}
	chains = []process{queue(), swim, random("garnet, 12 x 3, 5 decisions", 12, 3, 5, 31), random("garnet, 8 x 4, 8 decisions", 8, 4, 8, 77)}
	return trials, chains
}

// TestLearningHeld writes the numbers of the held problems for docs/results/compare_learning.py: the chance of
// a success by site and arm, and the processes.
func TestLearningHeld(t *testing.T) {
	trials, chains := held()
	type world struct {
		Name    string
		Next    [][][]float64
		Reward  [][]float64
		Start   []float64
		Horizon int
	}
	var out struct {
		Sites  [][2]float64
		Chains []world
	}
	for i := range learnStates {
		x := []float64{float64(i)}
		out.Sites = append(out.Sites, [2]float64{trials[3].success(x, 0), trials[3].success(x, 1)})
	}
	for _, w := range chains {
		out.Chains = append(out.Chains, world{w.name, w.next, w.reward, w.start, w.horizon})
	}
	text, err := json.Marshal(out)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(*gridHeld, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// gridRow is one log: what was gained over the logged policy, of how much at best, and what is certified
// over that policy and over the best constant action, each with what is true.
type gridRow struct {
	Problem                        string
	Persons                        int
	Epsilon                        float64
	Log                            int
	Gain, Best                     float64
	Logged, Constant, ConstantTrue float64
}

func (r gridRow) cell() gridRow {
	return gridRow{Problem: r.Problem, Persons: r.Persons, Epsilon: r.Epsilon}
}

// problem makes one log of a world.
type problem struct {
	name string
	row  func(t *testing.T, persons int, epsilon float64, log int) gridRow
}

func heldProblems() (all []problem) {
	trials, chains := held()
	for _, w := range trials {
		all = append(all, problem{w.name, func(t *testing.T, persons int, epsilon float64, log int) gridRow {
			_, r := released(t, w.learner(), w.public(persons, epsilon, dp.ReplaceOne), w.draw(persons, uint64(log)+1e6), uint64(log)*7+uint64(persons))
			rule, arms, logged, best := w.worth(r.Learned.Policy)
			return gridRow{Gain: rule - logged, Best: best - logged, Logged: r.Learned.OverLogged, Constant: r.Learned.OverConstant, ConstantTrue: rule - slices.Max(arms)}
		}})
	}
	for _, w := range chains {
		all = append(all, problem{w.name, func(t *testing.T, persons int, epsilon float64, log int) gridRow {
			_, r := released(t, evaluate.DPLearn{Share: *gridShare}, w.public(persons, epsilon), w.draw(persons, uint64(log)+1e6), uint64(log)*7+uint64(persons))
			rule, logged := w.worth(&r.Learned.Policy, false), w.worth(nil, false)
			return gridRow{Gain: rule - logged, Best: w.worth(nil, true) - logged, Logged: r.Learned.OverLogged, Constant: r.Learned.OverConstant, ConstantTrue: rule - w.top()}
		}})
	}
	return all
}

// TestLearningGrid makes the logs of held problems that a file lacks, of all cells one after the other,
// and prints for each cell the share of the gain, how often a certificate is too high, and how often
// one is above 0. Epsilon 5,000 stands for no privacy.
func TestLearningGrid(t *testing.T) {
	if *gridFile == "" {
		t.Fatal("give -learn-grid FILE")
	}
	rows := map[gridRow]map[int]gridRow{}
	keep := func(r gridRow) {
		if rows[r.cell()] == nil {
			rows[r.cell()] = map[int]gridRow{}
		}
		rows[r.cell()][r.Log] = r
	}
	f, err := os.OpenFile(*gridFile, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		var r gridRow
		if json.Unmarshal(lines.Bytes(), &r) == nil { // the last line may be half of one
			keep(r)
		}
	}
	var cells []gridRow
	only := regexp.MustCompile(*gridOnly)
	problems := slices.DeleteFunc(heldProblems(), func(p problem) bool { return !only.MatchString(p.name) })
	began, to := time.Now(), json.NewEncoder(f)
	for log := range *learnLogs {
		for _, p := range problems {
			for _, persons := range []int{500, 2000, 6000, 20000} {
				for _, epsilon := range []float64{0.5, 1, 5, 5000} {
					cell := gridRow{Problem: p.name, Persons: persons, Epsilon: epsilon}
					if log == 0 {
						cells = append(cells, cell)
					}
					if _, made := rows[cell][log]; made || persons > *gridPersons || *gridTime > 0 && time.Since(began) > *gridTime {
						continue
					}
					r := p.row(t, persons, epsilon, log)
					r.Problem, r.Persons, r.Epsilon, r.Log = p.name, persons, epsilon, log
					keep(r)
					if err := to.Encode(r); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	}
	wrong, all, rare := 0, 0, 1.0
	for _, cell := range cells {
		n, gained, high, highLogged, shown := float64(len(rows[cell])), 0.0, 0, 0, 0
		for _, r := range rows[cell] {
			gained += r.Gain / r.Best
			if r.Constant > r.ConstantTrue+1e-9 {
				high++
			}
			if r.Logged > r.Gain+1e-9 {
				highLogged++
			}
			if r.Constant > 0 {
				shown++
			}
		}
		if n == 0 {
			continue
		}
		worst := distuv.Binomial{N: n, P: 0.05}.CDF(float64(max(high, highLogged) - 1))
		wrong, all, rare = wrong+high+highLogged, all+2*int(n), min(rare, 1-worst)
		t.Logf("| %s | %d | %v | %.0f | %.2f | %d, %d | %.0f%% |", cell.Problem, cell.Persons, cell.Epsilon, n, gained/n, high, highLogged, 100*float64(shown)/n)
	}
	t.Logf("too high: %.2f%% of all; in one cell as often as a true 5%% is with probability %.2g or less", 100*float64(wrong)/float64(all), rare)
}

// TestLearningByFewer prints, of nine processes on which it was chosen where a quarter of the persons learns, what that costs
// and certifies beside a half: the share of the gain, and how often a certificate over the best constant action is above 0.
func TestLearningByFewer(t *testing.T) {
	worlds := processes()[1:]
	for i, k := range [][3]int{{6, 2, 4}, {10, 3, 4}, {8, 2, 6}, {12, 2, 5}, {10, 3, 5}, {6, 3, 3}, {5, 2, 8}, {9, 2, 7}} {
		worlds = append(worlds, random(fmt.Sprintf("%d x %d, %d decisions", k[0], k[1], k[2]), k[0], k[1], k[2], uint64(1000+i)))
	}
	for _, w := range worlds {
		for _, persons := range []int{6000, 20000} {
			for _, epsilon := range []float64{1, 5} {
				chosen := must(evaluate.DPLearn{}.Plan(w.public(persons, epsilon))).Facts["learned_from"].(int64)
				var gain, shown [2]float64
				for i, share := range []float64{0.5, 0.25} {
					for log := range *learnLogs {
						_, r := released(t, evaluate.DPLearn{Share: share}, w.public(persons, epsilon), w.draw(persons, uint64(log)+1e6), uint64(log)*7+uint64(persons))
						gain[i] += w.recovered(r.Learned.Policy) / float64(*learnLogs)
						if r.Learned.OverConstant > 0 {
							shown[i] += 100 / float64(*learnLogs)
						}
					}
				}
				t.Logf("| %s | %d | %v | %d | %.3f, %.3f | %.0f%%, %.0f%% |", w.name, persons, epsilon, chosen, gain[0], gain[1], shown[0], shown[1])
			}
		}
	}
}
