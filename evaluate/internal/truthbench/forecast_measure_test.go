//go:build slow && measure

package truthbench_test

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/dp/receipt"
	"github.com/discreet-rl/discreet/evaluate"
	"github.com/discreet-rl/discreet/evaluate/internal/truthbench"
	"github.com/discreet-rl/discreet/rl/policy"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// TestForecastTable prints, over the benchmark problems, the half width that a plan forecasts with
// parameters at their defaults, without and with a right guess of weights, and the mean one
// of the releases. The guess is taken from another log of 20,000 persons. It judges nothing.
func TestForecastTable(t *testing.T) {
	fmt.Println("| problem | method | persons | epsilon | effective | missing | without a guess | with it | released | with it / released |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	bare, guessed := map[string][]float64{}, map[string][]float64{}
	for _, p := range truthbench.Problems() {
		if !asked(t, p.Name) {
			continue
		}
		right := rightGuesses(t, p)
		for _, text := range strings.Split(*persons, ",") {
			for _, epsilon := range strings.Split(*epsilons, ",") {
				forecastRow(t, p, right, int(number(t, text)), number(t, epsilon), bare, guessed)
			}
		}
	}
	for _, method := range strings.Split(*methods, ",") {
		tellRatios(method+" without a guess", bare[method])
		tellRatios(method+" with it", guessed[method])
	}
}

var fresh = flag.String("truth-fresh", "", "seeds of random problems to forecast, in place of the benchmark's")

// forecastProblems are those of the benchmark, or random ones.
func forecastProblems(t *testing.T) (out []truthbench.Problem) {
	if *fresh == "" {
		return truthbench.Problems()
	}
	for _, seed := range strings.Split(*fresh, ",") {
		for _, p := range truthbench.Fresh(uint64(number(t, seed))) {
			p.Name += " of " + seed
			out = append(out, p)
		}
	}
	return out
}

// TestForecastsOfSeveral prints, for problems whose design is known, the half widths that plans forecast of groups and of contrasts,
// and the mean ones of the releases: of contrasts the one that is told of rare outcomes, where there is one and both values are within .05 of
// an end of the range. It judges nothing.
func TestForecastsOfSeveral(t *testing.T) {
	fmt.Println("problem\tpersons\tepsilon\tasked\ttier\tforecast\treleased\tratio")
	ratios := map[string][]float64{}
	for _, p := range forecastProblems(t) {
		if p.Behavior == nil || !asked(t, p.Name) {
			continue
		}
		for _, text := range strings.Split(*persons, ",") {
			n := int(number(t, text))
			logs, grouped := make([]*trajectory.Dataset, *draws), make([]*trajectory.Dataset, *draws)
			for seed := range *draws {
				logs[seed], grouped[seed] = p.Draw(n, uint64(seed)), inGroups(p, n, uint64(seed))
			}
			for _, epsilon := range strings.Split(*epsilons, ",") {
				for _, method := range strings.Split(*methods, ",") {
					tell := func(kind, asked string, public evaluate.Public, logs []*trajectory.Dataset, values ...float64) {
						plan := planned(t, method, nil, public)
						expected := plan.Facts["answers"].([]evaluate.ExpectedAnswer)
						half, src := make([]float64, len(expected)), noise.NewSeeded(uint64(n))
						for _, d := range logs {
							for i, a := range released(t, plan, d, src).Answers {
								half[i] += (a.Estimate.Interval[1] - a.Estimate.Interval[0]) / 2 / float64(len(logs))
							}
						}
						for i, e := range expected {
							e.HalfWidth = ofRare(t, plan, e, public.Returns(), values)
							if e.HalfWidth > 0 {
								ratios[kind] = append(ratios[kind], e.HalfWidth/half[i])
							}
							fmt.Printf("%s, %s\t%d\t%s\t%s: %s\t%v\t%.3g\t%.3g\t%.2f\n", p.Name, method, n, epsilon, asked, e.Name, plan.Facts["tier"], e.HalfWidth, half[i], e.HalfWidth/half[i])
						}
					}
					for _, c := range promises {
						for _, design := range []bool{false, true} {
							q := groupsPublic(p, n, number(t, epsilon), c.adjacency, c.fixed)
							for g, size := range groupSizes(n) { // a right guess
								q.By.Of[g].Persons = int64(size)
							}
							kind := "groups"
							if design {
								q.Design, q.Complete = evaluate.NewDesign(p.Behavior, true, p.Target), true
								kind += " by design"
							}
							tell(kind, kind+" "+c.name, q, grouped)
							if !design {
								q.Target = policy.Logged{}
								tell("groups logged", "groups logged "+c.name, q, grouped)
							}
						}
					}
					for _, r := range rivalsOf(p) {
						for _, complete := range []bool{false, true} {
							q := p.Public(n, number(t, epsilon), dp.ReplaceOne)
							q.Target, q.Targets = nil, &evaluate.Targets{Contrasts: [][2]string{r.names}, Drawn: p.Behavior}
							for k := range 2 {
								q.Targets.Policies = append(q.Targets.Policies, evaluate.NamedPolicy{Name: r.names[k], Policy: r.policy[k]})
							}
							q.Design, q.Complete = evaluate.NewDesign(p.Behavior, true, r.policy[:]...), complete
							kind := "contrasts"
							if p.Horizon > 1 {
								kind += " of several decisions"
							}
							tell(kind, fmt.Sprintf("complete %v", complete), q, logs, r.worth[:]...)
						}
					}
				}
			}
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(ratios)) {
		tellRatios(kind, ratios[kind])
	}
}

// ofRare is the half width that a plan tells of rare outcomes, where it does and all values are near an end of their range; else that of
// values in the middle.
func ofRare(t *testing.T, plan *evaluate.Plan, e evaluate.ExpectedAnswer, within evaluate.Range, values []float64) float64 {
	found := regexp.MustCompile(regexp.QuoteMeta(e.Name) + ` about ([0-9.e-]+[0-9])`).FindStringSubmatch(strings.Join(plan.Outlook, "\n"))
	off := math.Inf(1)
	for _, v := range values {
		off = min(off, math.Abs(v-within.Mid())/within.Width())
	}
	if found == nil || values == nil || off < 0.45 {
		return e.HalfWidth
	}
	return number(t, found[1])
}

func tellRatios(name string, all []float64) {
	slices.Sort(all)
	within := 0
	for _, r := range all {
		if r <= 1.5 && r >= 1/1.5 {
			within++
		}
	}
	if n := len(all); n > 0 {
		fmt.Printf("%s: %d of %d cells within a factor of 1.5 (%.0f%%); least %.2f, median %.2f, largest %.2f\n", name, within, n, 100*float64(within)/float64(n), all[0], all[n/2], all[n-1])
	}
}

func forecastRow(t *testing.T, p truthbench.Problem, right map[bool]evaluate.WeightGuess, n int, epsilon float64, bare, guessed map[string][]float64) {
	public := p.Public(n, epsilon, dp.ReplaceOne)
	for _, method := range strings.Split(*methods, ",") {
		guess := right[method == "dp-pdis" || method == "dp-dr" && p.Horizon > 1 && p.Return == nil]
		plan := planned(t, method, nil, public)
		with := planned(t, method, map[string]any{"guess": guess}, public)
		src := noise.NewSeeded(uint64(n))
		half := 0.0
		for seed := range *draws {
			ready, err := plan.Check(context.Background(), p.Draw(n, uint64(seed)))
			check(t, err)
			r, err := ready.Run(context.Background(), receipt.None(), src)
			check(t, err)
			half += (r.Answers[0].Estimate.Interval[1] - r.Answers[0].Estimate.Interval[0]) / 2 / float64(*draws)
		}
		a, b := plan.Expected.HalfWidth, with.Expected.HalfWidth
		if a > 0 {
			bare[method] = append(bare[method], a/half)
		}
		guessed[method] = append(guessed[method], b/half)
		fmt.Printf("| %s | %s | %d | %g | %.2g | %.2g | %.3g | %.3g | %.3g | %.2f |\n", p.Name, method, n, epsilon, guess.Effective, math.Abs(guess.Missing), a, b, half, b/half)
	}
}
