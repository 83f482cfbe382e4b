//go:build slow && measure

package truthbench_test

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
	"github.com/discreet-rl/discreet/rl/value"
)

var (
	draws    = flag.Int("truth-draws", 500, "logs a cell")
	persons  = flag.String("truth-persons", "200,2000", "numbers of persons")
	epsilons = flag.String("truth-epsilons", "0.5,1,5", "privacy budgets")
	adjacent = flag.String("truth-adjacency", "replace_one,add_remove_one", "adjacencies")
	methods  = flag.String("truth-methods", "dp-is,dp-pdis,dp-wis,dp-dr,auto", "methods, with parameters at their defaults")
	only     = flag.String("truth-only", "", "part of the problems' names")
	kept     = flag.String("truth-out", "", "file that cells are added to; what it holds is not measured again")
)

// cell is one line of the table: what the intervals of a method did.
type cell struct {
	draws, covered, wrong, power      int
	width, square, sampling, privates float64
}

func (c *cell) add(p truthbench.Problem, e *evaluate.Estimate) {
	low, high := e.Interval[0], e.Interval[1]
	c.draws++
	if low <= p.J && p.J <= high {
		c.covered++
	}
	better := p.J > p.Logged
	switch {
	case low > p.Logged && better, high < p.Logged && !better:
		c.power++
	case low > p.Logged, high < p.Logged:
		c.wrong++
	}
	c.width += high - low
	c.square += (e.Value - p.J) * (e.Value - p.J)
	c.sampling += e.StdSampling
	c.privates += e.StdPrivacy
}

func (c *cell) String() string {
	n := float64(c.draws)
	return fmt.Sprintf("%d\t%.1f\t%.1f\t%.1f\t%.4g\t%.4g\t%.4g\t%.4g", c.draws, 100*float64(c.covered)/n, 100*float64(c.wrong)/n,
		100*float64(c.power)/n, c.width/n, math.Sqrt(c.square/n), c.sampling/n, c.privates/n)
}

const heading = "problem\tpersons\tepsilon\tadjacency\tmethod\tdraws\tcovered %\twrong side %\tpower %\twidth\tRMSE\tstd_sampling\tstd_privacy"

// TestTruthBench prints, for every problem, number of persons, epsilon and
// adjacency, how the 95% intervals of each method do, beside the references without
// privacy and the best constant, the truth itself being unknown: the nearest of the
// ends and the middle of the range. It judges nothing.
func TestTruthBench(t *testing.T) {
	done := map[string]bool{}
	out := keep(t, done)
	fmt.Println(heading)
	for _, text := range strings.Split(*persons, ",") {
		n := number(t, text)
		for _, p := range truthbench.Problems() {
			if !strings.Contains(p.Name, *only) {
				continue
			}
			cells, order := measure(t, p, int(n), done)
			for _, name := range order {
				line := name + "\t" + cells[name].String()
				fmt.Println(line)
				if out != nil {
					fmt.Fprintln(out, line)
				}
			}
		}
	}
}

// keep opens the file of cells and reads what it holds.
func keep(t *testing.T, done map[string]bool) *os.File {
	if *kept == "" {
		return nil
	}
	f, err := os.OpenFile(*kept, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if parts := strings.Split(lines.Text(), "\t"); len(parts) > 5 {
			done[strings.Join(parts[:5], "\t")] = true
		}
	}
	return f
}

func number(t *testing.T, text string) float64 {
	x, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

// measure draws the logs of a problem once and asks every question of each.
func measure(t *testing.T, p truthbench.Problem, n int, done map[string]bool) (map[string]*cell, []string) {
	type question struct {
		name string
		plan *evaluate.Plan
	}
	var all []question
	ask := func(method string, public evaluate.Public, epsilon, adjacency string) {
		name := fmt.Sprintf("%s\t%d\t%s\t%s\t%s", p.Name, n, epsilon, adjacency, method)
		model := method == "dp-fqe" || method == "dp-dr model"
		if done[name] || model && p.States == 0 {
			return
		}
		if p.States > 0 && (model || method == "dr" && p.Horizon > 1) {
			f, err := feature.NewTabular(p.States, "obs_state")
			check(t, err)
			public.Features = f
		}
		var params map[string]any
		if method == "dp-dr model" {
			method, params = "dp-dr", map[string]any{"baseline": "model"}
		}
		e, err := evaluate.New(method, params)
		check(t, err)
		plan, err := e.Plan(public)
		check(t, err)
		all = append(all, question{name, plan})
	}
	for _, adjacency := range strings.Split(*adjacent, ",") {
		for _, epsilon := range strings.Split(*epsilons, ",") {
			kind := dp.ReplaceOne
			if adjacency == "add_remove_one" {
				kind = dp.AddRemoveOne
			}
			for _, method := range strings.Split(*methods, ",") {
				ask(method, p.Public(n, number(t, epsilon), kind), epsilon, adjacency)
			}
		}
	}
	bare := p.Public(n, 1, dp.ReplaceOne)
	bare.Privacy = nil
	for _, method := range []string{"is", "wis", "dr"} {
		if method != "dr" || p.States > 0 || p.Horizon == 1 {
			ask(method, bare, "none", "none")
		}
	}
	cells, order := map[string]*cell{}, []string{}
	if len(all) == 0 {
		return cells, order
	}
	for _, q := range all {
		cells[q.name] = &cell{}
		order = append(order, q.name)
	}
	src := noise.NewSeeded(uint64(n))
	constant := p.Public(n, 1, dp.ReplaceOne).Returns()
	for seed := range *draws {
		d := p.Draw(n, uint64(seed))
		for _, q := range all {
			if r := answer(t, q.plan, d, src); r != nil {
				cells[q.name].add(p, r)
			}
		}
	}
	best := math.Min(math.Abs(p.J-constant.Mid()), math.Min(p.J-constant.Min, constant.Max-p.J))
	name := fmt.Sprintf("%s\t%d\tnone\tnone\tbest constant", p.Name, n)
	if !done[name] {
		cells[name] = &cell{draws: 1, square: best * best, width: constant.Width()}
		order = append(order, name)
	}
	return cells, order
}

// answer is nil where a log has no answer: none of its decisions is one of the
// target, or a reference's equations are singular. The cell then counts fewer logs.
func answer(t *testing.T, plan *evaluate.Plan, d *trajectory.Dataset, src *noise.Source) *evaluate.Estimate {
	ready, err := plan.Check(context.Background(), d)
	if err != nil {
		return nil
	}
	r, err := ready.Run(context.Background(), receipt.None(), src)
	if errors.Is(err, value.ErrSingular) || errors.Is(err, value.ErrData) {
		return nil
	}
	check(t, err)
	return r.Estimate
}
