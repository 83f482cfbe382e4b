package discreet_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/evaluate"
)

// loss is what becomes of a row that is spoiled: a value that is replaced, or rows that are not there.
type loss struct {
	column string
	text   string // in place of the value; with column "row" how many rows are lost
}

var (
	logLosses = []loss{
		{"obs_x", ""}, {"obs_x", "?"}, {"obs_y", ""}, {"obs_g", ""}, {"action", ""}, {"action", "?"}, {"action", "5"},
		{"behavior_prob", ""}, {"behavior_prob", "0"}, {"behavior_prob", "2"}, {"reward", ""}, {"reward", "?"}, {"terminated", "false"}, {"step", "-1"},
		{"unit_id", ""}, {"episode_id", ""}, {"step", ""}, {"step", "5"}, {"step", "1.5"}, {"reward", "NaN"}, {"behavior_prob", "1e-12"}, {"obs_g", "?"}, {"obs_x", "1.5"},
		{"row", "one"}, {"row", "later"}, {"row", "this and later"}, {"row", "doubled"},
	}
	followLosses = []loss{
		{"obs_x", ""}, {"obs_x", "?"}, {"obs_g", ""}, {"action", ""}, {"behavior_prob", ""}, {"behavior_prob", "0"}, {"time", ""}, {"time", "?"}, {"time", "-1"}, {"event", ""}, {"event", "7"}, {"time", "nan"}, {"action", "7"}, {"obs_x", "1.5"},
	}
)

const lossyPersons = 3000

// lossy writes data like those of [combined], of a world in which no action and no group is better than another, and
// spoils rows where hit says so of an action or group and of what came of it.
func lossy(t *testing.T, dir string, r *rand.Rand, decisions int, log, follow loss, hit func(arm, outcome int) bool) {
	t.Helper()
	lost := func(action, group, outcome int) bool {
		if r.IntN(2) == 0 {
			action = group
		}
		return hit(action, outcome)
	}
	columns := strings.Split("unit_id,episode_id,step,obs_x,obs_y,obs_g,action,behavior_prob,reward,terminated", ",")
	times := slices.Concat(columns[:8], []string{"time", "event"})
	rows, followed := [][]string{columns}, [][]string{times}
	for person := range lossyPersons {
		id, group := fmt.Sprint("u", person), person/2%2
		for episode := range 1 + person%2 {
		decide:
			for step := range decisions {
				x, action, reward := r.IntN(4), r.IntN(2), r.IntN(2)
				row := strings.Split(fmt.Sprintf("%s,%s-%d,%d,%d,0.5,%d,%d,0.5,%d,%t", id, id, episode, step, x, group, action, reward, step == decisions-1), ",")
				if !lost(action, group, reward) {
					rows = append(rows, row)
					continue
				}
				switch log {
				case loss{"row", "one"}:
				case loss{"row", "this and later"}:
					break decide
				case loss{"row", "later"}:
					rows = append(rows, row)
					break decide
				case loss{"row", "doubled"}:
					rows = append(rows, row, row)
				default:
					row[slices.Index(columns, log.column)] = log.text
					rows = append(rows, row)
				}
			}
		}
		x, action, time := r.IntN(4), r.IntN(2), 1+r.IntN(5)
		row := strings.Split(fmt.Sprintf("%s,%s,0,%d,0.5,%d,%d,0.5,%d,%d", id, id, x, group, action, time, min(r.IntN(5), 1)), ",")
		if late := time / 3; lost(action, group, min(late, 1)) {
			row[slices.Index(times, follow.column)] = follow.text
		}
		followed = append(followed, row)
	}
	for name, of := range map[string][][]string{"log.csv": rows, "follow.csv": followed} {
		var text strings.Builder
		for _, row := range of {
			text.WriteString(strings.Join(row, ",") + "\n")
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Whatever is lost, by what was done and by what came of it, is counted in every interval, or refused: no
// action, policy or group is better than another, and each is worth what it is in the data before.
func TestWhateverIsLostIsCounted(t *testing.T) {
	dir := t.TempDir()
	combined(t, dir)
	methods := slices.DeleteFunc(evaluate.Methods(), func(m evaluate.Method) bool { return !m.Private })
	r, src := rand.New(rand.NewPCG(combinationSeed, 19)), noise.NewSeeded(combinationSeed)
	counted := map[string]int{}
	for i := range 2 * combinations {
		log, follow := logLosses[i%len(logLosses)], followLosses[i%len(followLosses)]
		decisions, arm, outcome, share := 1+2*r.IntN(2), r.IntN(3), r.IntN(2), []float64{0.5, 1}[r.IntN(2)]
		lossy(t, dir, r, decisions, log, follow, func(a, came int) bool {
			if arm == 2 { // as many of both
				return a != came && r.Float64() < share/2
			}
			return a == arm && came == outcome && r.Float64() < share
		})
		for range 12 {
			m := methods[r.IntN(len(methods))]
			text := drawn(r, m, lossyPersons)
			if strings.Contains(text, "end: terminated") || strings.Contains(text, "return:") || strings.Contains(text, "complete") {
				continue // which would not be true
			}
			for _, epsilon := range []string{"1,", "4,", "50,"} {
				text = strings.ReplaceAll(text, "epsilon: "+epsilon, "epsilon: 200,")
			}
			c, err := discreet.Parse("drawn.yaml", []byte(strings.ReplaceAll(text, "1e-3", "1e-5")))
			if err != nil {
				t.Fatalf("%v:\n%s", err, text)
			}
			c.Dir = dir
			result, err := discreet.Evaluate(context.Background(), c, discreet.WithSource(src))
			if err != nil {
				continue // most combinations are refused before data are read
			}
			counting := min(decisions, int(c.Problem.Horizon))
			if c.Problem.Horizon == 0 {
				counting = decisions
			}
			level := float64(1+2+3+4+4) / 5 // of times up to 5, cut at 4
			if c.Data.Outcome == nil {
				level = 0
				for step := range counting {
					level += math.Pow(c.Problem.Gamma, float64(step)) / 2
				}
			}
			for _, a := range result.Release.Answers {
				if a.Estimate == nil || m.Name == "dp-distribution" {
					continue
				}
				truth := level
				if strings.Contains(a.Name, " - ") {
					truth = 0
				}
				counted[m.Name]++
				// Half a width more: two standard errors of what is nearly all sampling.
				if in, more := a.Estimate.Interval, 0.06*max(level, 0.5); !(in[0]-more <= truth && truth <= in[1]+more) {
					t.Errorf("%v or %v lost by arm %d, outcome %d, of %d decisions: %s in %v; the truth is %v:\n%s", log, follow, arm, outcome, decisions, a.Name, in, truth, text)
				}
			}
			if f := result.Release.Distribution; f != nil {
				for i, end := range f.Ends {
					truth := 0.0 // share of the rewards of an episode, as bits, whose return is at most that
					for rewards := range 1 << counting {
						value := 0.0
						for step := range counting {
							value += math.Pow(c.Problem.Gamma, float64(step)) * float64(rewards>>step&1)
						}
						if value <= end+1e-9 {
							truth += 1 / float64(int(1)<<counting)
						}
					}
					counted[m.Name]++
					if low, high := f.Function.Lower[i], f.Function.Upper[i]; !(low-0.03 <= truth && truth <= high+0.03) {
						t.Errorf("%v lost by arm %d, outcome %d, of %d decisions: at most %v with probability %v to %v; the truth is %v:\n%s", log, arm, outcome, decisions, end, low, high, truth, text)
					}
				}
			}
		}
	}
	t.Log(counted)
	for _, m := range methods {
		if n := counted[m.Name]; n == 0 && slices.Contains([]string{"dp-is", "dp-pdis", "dp-wis", "dp-dr", "dp-fqe", "dp-distribution", "dp-experiment", "dp-survival", "dp-learn", "auto"}, m.Name) {
			t.Errorf("no interval of %s", m.Name)
		}
	}
}
