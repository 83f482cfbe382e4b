package evaluate

import (
	"errors"
	"fmt"
	"math"
	"runtime"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// defaultMayFail is the share of persons for whom an author's code may fail where the outline says nothing.
const defaultMayFail = 0.01

// mayFail is the number of persons for whom an author's code may fail. It follows from public facts, and is never below
// one, so that one person alone never makes a check fail.
func (r rounds) mayFail() int {
	return max(1, int(r.share()*float64(r.public.Persons)))
}

func (o Outline) share() float64 {
	if o.MayFail == 0 {
		return defaultMayFail
	}
	return o.MayFail
}

// failing counts the persons of one round for whom an author's code failed, and keeps why it did for the first.
type failing struct {
	persons int
	first   error
}

func (f *failing) add(err error) {
	if err == nil {
		return
	}
	if f.persons++; f.first == nil {
		f.first = err
	}
}

// panicked is what an author's code panicked with. A value that is no message may be of the data, and is not repeated.
func panicked(p any) error {
	switch p := p.(type) {
	case runtime.Error:
		return fmt.Errorf("it panics: %w", p)
	case error:
		return fmt.Errorf("it panics: %w", p)
	case string:
		return fmt.Errorf("it panics: %s", p)
	}
	return fmt.Errorf("it panics with a value of type %T", p)
}

var errNotFinite = errors.New("it returns a number that is not finite")

// rehearse calls the author's code for made-up persons, in the plan: code that fails for all of them, in some round,
// fails for everybody. It ends with the first who has an answer, of the lowest reward, so that code which keeps the
// largest number it saw is still found by the data.
func (r rounds) rehearse() error {
	made := r.madeUp()
	for _, later := range []float64{0, 1} { // noisy sums of zero, as in the check, and of the size of one person's
		var earlier [][]float64
		for k, round := range r.Rounds {
			var f failing
			for p := 0; p < made.Persons() && f.persons == p; p++ {
				_, err := r.contribution(k, earlier, made, p)
				f.add(err)
			}
			if f.persons == made.Persons() {
				return fmt.Errorf("%w: %s, round %d: Contribution fails for each of %d made-up persons, who have the observations %q and every other part of a record: %w; name the observations that it reads in Outline.Columns, and have an answer for every record", ErrMethod, r.Method, k, f.persons, r.Columns, f.first)
			}
			sum := make([]float64, round.Dim)
			sum[0] = later * round.Clip
			earlier = append(earlier, sum)
		}
	}
	return nil
}

// madeUp are persons of one decision, of two episodes, and of as many decisions as may count, with rewards at the lower
// end of their range and observations of 0, and with the upper end and 1.
func (r rounds) madeUp() *trajectory.Dataset {
	var b trajectory.Builder
	person := 0
	for _, end := range []struct{ obs, reward float64 }{{0, r.public.Reward.Min}, {1, r.public.Reward.Max}} {
		for _, episodes := range [][]int{{1}, {1, 1}, {int(min(r.public.Horizon, 64))}} {
			for _, n := range episodes {
				obs := filled(len(r.Columns), end.obs)
				b.Add(&trajectory.Episode{Person: person, Number: -1, Columns: r.Columns, Obs: filled(n*len(r.Columns), end.obs), Final: obs,
					Action: make([]int32, n), Reward: filled(n, end.reward), BehaviorProb: filled(n, 1), TargetProb: filled(n, 1), Discount: filled(n, 1),
					Actions: 1, ActionProbs: filled(n, 1), Terminated: true})
			}
			person++
		}
	}
	return b.Dataset()
}

func filled(n int, x float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = x
	}
	return out
}

func finite(x []float64) bool {
	for _, v := range x {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return false
		}
	}
	return true
}
