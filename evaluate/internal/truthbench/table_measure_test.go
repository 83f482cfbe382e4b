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
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/feature"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

var (
	draws    = flag.Int("truth-draws", 500, "logs a cell")
	first    = flag.Int("truth-first", 0, "seed of the first log; slices of a cell have different ones")
	persons  = flag.String("truth-persons", "200,2000", "numbers of persons")
	epsilons = flag.String("truth-epsilons", "0.5,1,5", "privacy budgets")
	adjacent = flag.String("truth-adjacency", "replace_one,add_remove_one", "adjacencies")
	methods  = flag.String("truth-methods", "dp-is,dp-pdis,dp-wis,dp-dr,auto", "methods, with parameters at their defaults")
	only     = flag.String("truth-only", "", "regular expression of the problems' names")
	bare     = flag.Bool("truth-references", true, "references without privacy beside the methods")
	kept     = flag.String("truth-out", "", "file that slices of cells are added to; what it holds is not measured again, and the table is that of all slices in it")
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

// sum adds the logs of another slice.
func (c *cell) sum(o cell) {
	c.draws += o.draws
	c.covered += o.covered
	c.wrong += o.wrong
	c.power += o.power
	c.width += o.width
	c.square += o.square
	c.sampling += o.sampling
	c.privates += o.privates
}

// counts are what a file keeps of a slice.
func (c *cell) counts() string {
	return fmt.Sprintf("%d\t%d\t%d\t%d\t%v\t%v\t%v\t%v", c.draws, c.covered, c.wrong, c.power, c.width, c.square, c.sampling, c.privates)
}

// atMost is the one-sided upper limit of 97.5% on a probability of which k of n were seen
// (Clopper and Pearson 1934).
func atMost(k, n int) float64 {
	if k == n {
		return 1
	}
	return distuv.Beta{Alpha: float64(k + 1), Beta: float64(n - k)}.Quantile(0.975)
}

func (c *cell) String() string {
	n := float64(c.draws)
	return fmt.Sprintf("%d\t%.2f\t%.2f\t%.2f\t%.1f\t%.4g\t%.4g\t%.4g\t%.4g", c.draws, 100*float64(c.covered)/n, 100*float64(c.wrong)/n, 100*atMost(c.wrong, c.draws),
		100*float64(c.power)/n, c.width/n, math.Sqrt(c.square/n), c.sampling/n, c.privates/n)
}

const heading = "problem\tpersons\tepsilon\tadjacency\tmethod\tdraws\tcovered %\twrong side %\tat most %\tpower %\twidth\tRMSE\tstd_sampling\tstd_privacy"

// TestTruthBench prints, for every problem, number of persons, epsilon and
// adjacency, how the 95% intervals of each method do, beside the references without
// privacy and the best constant, the truth itself being unknown: the nearest of the
// ends and the middle of the range. It judges nothing. A table of many logs can be made in
// slices, by other first seeds and one file.
func TestTruthBench(t *testing.T) {
	table := &sliced{all: map[string]*cell{}, done: map[string]bool{}}
	table.open(t)
	for _, text := range strings.Split(*persons, ",") {
		n := number(t, text)
		for _, p := range truthbench.Problems() {
			if !asked(t, p.Name) {
				continue
			}
			cells, order := measure(t, p, int(n), table.done)
			for _, name := range order {
				table.add(t, name, *first, *cells[name])
			}
		}
	}
	fmt.Println(heading)
	for _, name := range table.order {
		fmt.Println(name + "\t" + table.all[name].String())
	}
}

// asked tells whether the flags ask for a problem.
func asked(t *testing.T, problem string) bool {
	yes, err := regexp.MatchString(*only, problem)
	check(t, err)
	return yes
}

// sliced sums the slices of every cell, and keeps them in a file.
type sliced struct {
	all   map[string]*cell
	order []string
	done  map[string]bool // cells of which the file holds the slice from the first seed on
	file  *os.File
}

// open reads what the file holds.
func (s *sliced) open(t *testing.T) {
	if *kept == "" {
		return
	}
	f, err := os.OpenFile(*kept, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	check(t, err)
	t.Cleanup(func() { f.Close() })
	for lines := bufio.NewScanner(f); lines.Scan(); {
		parts := strings.Split(lines.Text(), "\t")
		if len(parts) != 14 {
			t.Fatalf("%s: a line has %d columns; want 14", *kept, len(parts))
		}
		x := make([]float64, 9)
		for i := range x {
			x[i] = number(t, parts[5+i])
		}
		name := strings.Join(parts[:5], "\t")
		s.done[name] = s.done[name] || int(x[0]) == *first
		s.sum(name, cell{int(x[1]), int(x[2]), int(x[3]), int(x[4]), x[5], x[6], x[7], x[8]})
	}
	s.file = f
}

func (s *sliced) sum(name string, c cell) {
	if s.all[name] == nil {
		s.all[name], s.order = &cell{}, append(s.order, name)
	}
	s.all[name].sum(c)
}

func (s *sliced) add(t *testing.T, name string, first int, c cell) {
	s.sum(name, c)
	if s.file != nil {
		_, err := fmt.Fprintf(s.file, "%s\t%d\t%s\n", name, first, c.counts())
		check(t, err)
	}
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
	if *bare {
		public := p.Public(n, 1, dp.ReplaceOne)
		public.Privacy = nil
		for _, method := range []string{"is", "wis", "dr"} {
			if method != "dr" || p.States > 0 || p.Horizon == 1 {
				ask(method, public, "none", "none")
			}
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
	src := noise.NewSeeded(uint64(n) + uint64(*first)<<32)
	constant := p.Public(n, 1, dp.ReplaceOne).Returns()
	for seed := range *draws {
		d := p.Draw(n, uint64(*first+seed))
		for _, q := range all {
			if r := answer(t, q.plan, d, src); r != nil {
				cells[q.name].add(p, r)
			}
		}
	}
	best := math.Min(math.Abs(p.J-constant.Mid()), math.Min(p.J-constant.Min, constant.Max-p.J))
	name := fmt.Sprintf("%s\t%d\tnone\tnone\tbest constant", p.Name, n)
	if *bare && *first == 0 && !done[name] {
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
	return r.Answers[0].Estimate
}
