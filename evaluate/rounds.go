package evaluate

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/mechanism"
	"github.com/discreet-rl/discreet/internal/rl/value"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// rounds is a method of sums with its noise multipliers. It stands between the author's
// code and the data.
type rounds struct {
	Outline
	method Sums
	public Public
	noise  []float64
}

// sum is the empty sum of round k.
func (r rounds) sum(k int) (*mechanism.VectorSum, error) {
	round := r.Rounds[k]
	return mechanism.NewVectorSum(round.Dim, round.Clip, r.noise[k], r.public.Privacy.noise())
}

// prepare asks for everybody's numbers once before anything is spent, with zeros for
// the noisy sums, to find a method that is not pure, and one that fails for more
// persons than may add zero. Its errors are for the curator.
func (r rounds) prepare(ctx context.Context, all packed) (draw, error) {
	var zeros [][]float64
	persons := all.persons()
	for k, round := range r.Rounds {
		if err := checkCapacity(persons, round.Dim); err != nil {
			return nil, err
		}
		f, err := r.collect(ctx, k, zeros, all.parts, func([]float64) error { return nil })
		if err != nil {
			return nil, err
		}
		if most := r.mayFail(); f.persons > most {
			return nil, fmt.Errorf("%w: %s, round %d: Contribution fails for %d of %d persons, and %d may add zero for that (may_fail %g); for the first of them: %w", ErrMethod, r.Method, k, f.persons, persons, most, r.tolerated(), f.first)
		}
		zeros = append(zeros, make([]float64, round.Dim))
	}
	return func(ctx context.Context, src *noise.Source) (*Release, error) {
		var sums [][]float64
		for k := range r.Rounds {
			sum, err := r.sum(k)
			if err != nil {
				return nil, err
			}
			if _, err := r.collect(ctx, k, sums, all.parts, sum.Add); err != nil {
				return nil, err
			}
			noisy, _, err := sum.Release(src)
			if err != nil {
				return nil, err
			}
			sums = append(sums, noisy)
		}
		return r.release(sums)
	}, nil
}

// collect hands what each person adds in round k to add, part by part and one after another
// in an order of chance. Then it asks for all of it again, in the opposite order: code that
// keeps something from one person to the next betrays itself, unless it hides it. It returns
// for whom the code failed.
func (r rounds) collect(ctx context.Context, k int, earlier [][]float64, parts []*value.Part, add func([]float64) error) (failing, error) {
	var f failing
	var orders [][]int
	var first [][][sha256.Size]byte
	for d := range value.Datasets(parts) {
		digests, order := make([][sha256.Size]byte, d.Persons()), anyOrder(d.Persons())
		orders, first = append(orders, order), append(first, digests)
		for some := range slices.Chunk(order, r.atOnce(k)) {
			vectors, failed := r.contributions(k, earlier, d, some)
			if err := ctx.Err(); err != nil {
				return f, err
			}
			for j, i := range some {
				f.add(failed[j])
				digests[i] = digest(vectors[j])
				if err := add(vectors[j]); err != nil {
					return f, err
				}
			}
		}
	}
	parts = slices.Clone(parts)
	slices.Reverse(parts)
	for d := range value.Datasets(parts) {
		last := len(orders) - 1
		order, digests := orders[last], first[last]
		orders, first = orders[:last], first[:last]
		slices.Reverse(order)
		for some := range slices.Chunk(order, r.atOnce(k)) {
			vectors, _ := r.contributions(k, earlier, d, some)
			if err := ctx.Err(); err != nil { // what the code had at hand may be gone
				return f, err
			}
			for j, i := range some {
				if digest(vectors[j]) != digests[i] {
					return f, fmt.Errorf("%w: %s, round %d: a second call, in another order, made other numbers; nothing is released", ErrImpure, r.Method, k)
				}
			}
		}
	}
	return f, nil
}

// anyOrder is an order of n persons by chance.
func anyOrder(n int) []int {
	order, chance := make([]int, n), make([]byte, 8*n)
	_, _ = rand.Read(chance) // it never fails
	for i := range order {
		j := int(binary.LittleEndian.Uint64(chance[8*i:]) % uint64(i+1))
		order[i], order[j] = order[j], i
	}
	return order
}

// distant is a method whose code is far away: it is handed several persons in one message, and
// asks its code for one after another, in this order. An error is of one person.
type distant interface {
	Contributions(dst [][]float64, round int, earlier [][]float64, persons []*trajectory.Dataset) []error
}

// Bounds of a message: persons, and numbers that come back.
const (
	mostAtOnce = 256
	mostBack   = 1 << 16
)

// atOnce is how many persons the author's code is handed at once in round k.
func (r rounds) atOnce(k int) int {
	if _, far := r.method.(distant); far {
		return max(1, min(mostAtOnce, mostBack/r.Rounds[k].Dim))
	}
	return 1
}

// contributions is [rounds.contribution] of some persons.
func (r rounds) contributions(k int, earlier [][]float64, d *trajectory.Dataset, some []int) ([][]float64, []error) {
	vectors, failed := make([][]float64, len(some)), make([]error, len(some))
	far, ok := r.method.(distant)
	if !ok {
		for j, i := range some {
			vectors[j], failed[j] = r.contribution(k, earlier, d, i)
		}
		return vectors, failed
	}
	people := make([]*trajectory.Dataset, len(some))
	for j, i := range some {
		vectors[j], people[j] = make([]float64, r.Rounds[k].Dim), onePerson(d, i)
	}
	for j, err := range far.Contributions(vectors, k, copies(earlier), people) {
		vectors[j], failed[j] = settled(vectors[j], err)
	}
	return vectors, failed
}

// settled is what a person adds: zero where the code failed.
func settled(x []float64, failed error) ([]float64, error) {
	if failed == nil && !finite(x) {
		failed = errNotFinite
	}
	if failed != nil {
		clear(x)
	}
	return x, failed
}

// contribution is what one person adds, as the author's code has it; zero where that
// fails, and why. The code gets copies, and what it keeps of them changes nothing.
func (r rounds) contribution(k int, earlier [][]float64, d *trajectory.Dataset, person int) ([]float64, error) {
	x := make([]float64, r.Rounds[k].Dim)
	failed := completes(func() { r.method.Contribution(x, k, copies(earlier), onePerson(d, person)) })
	return settled(slices.Clone(x), failed)
}

// completes calls f; a panic of it is an error.
func completes(f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = panicked(p)
		}
	}()
	f()
	return nil
}

func copies(x [][]float64) [][]float64 {
	out := make([][]float64, len(x))
	for i := range x {
		out[i] = slices.Clone(x[i])
	}
	return out
}

func digest(x []float64) [sha256.Size]byte {
	bytes := make([]byte, 0, 8*len(x))
	for _, v := range x {
		bytes = binary.LittleEndian.AppendUint64(bytes, math.Float64bits(v))
	}
	return sha256.Sum256(bytes)
}

// release is post-processing.
func (r rounds) release(sums [][]float64) (*Release, error) {
	noisy := make([]NoisySum, len(sums))
	for k, s := range copies(sums) {
		noisy[k] = NoisySum{Sum: s, SD: r.noise[k] * r.Rounds[k].Clip}
	}
	a, err := r.answer(noisy)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: its answer: %w", ErrMethod, r.Method, err)
	}
	out := &Release{Answer: &a, Diagnostics: map[string]any{"sums": sums}}
	if a.Interval != nil {
		out.Notes = append(out.Notes, fmt.Sprintf("The interval and its confidence of %g%% are claims of the author of %s: %s.", 100*a.Confidence, r.Method, a.Claim))
	}
	return out, nil
}

// answer is what the author's code says of the noisy sums. A panic is an error as any:
// the program around may be a server, and what was spent has to be told.
func (r rounds) answer(noisy []NoisySum) (a Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("the author's code panics: %v", p)
		}
	}()
	if a, err = r.method.Answer(r.public.clone(), noisy); err != nil {
		return a, err
	}
	return a, a.validate()
}

// again makes the answer from the noisy sums of a release.
func (r rounds) again(release *Release) (*Release, error) {
	var d struct {
		Sums [][]float64 `json:"sums"`
	}
	if err := fill(&d, release.Diagnostics); err != nil {
		return nil, fmt.Errorf("diagnostics: %w", err)
	}
	fits := len(d.Sums) == len(r.Rounds)
	for k := 0; fits && k < len(d.Sums); k++ {
		fits = len(d.Sums[k]) == r.Rounds[k].Dim
	}
	if !fits {
		return nil, fmt.Errorf("diagnostics.sums are not those of the rounds")
	}
	return r.release(d.Sums)
}

// onePerson is a copy of a person's records, as a dataset of its own: without names, and
// without where they come from.
func onePerson(d *trajectory.Dataset, person int) *trajectory.Dataset {
	e, f := d.PersonStart[person], d.PersonStart[person+1]
	lo, hi, width := d.EpisodeStart[e], d.EpisodeStart[f], len(d.Columns)
	out := &trajectory.Dataset{
		Columns: slices.Clone(d.Columns), PersonStart: []int{0, f - e}, EpisodeStart: slices.Clone(d.EpisodeStart[e : f+1]), LeftOut: part(d.LeftOut, person, person+1), Lost: part(d.Lost, person*width, (person+1)*width),
		Obs: part(d.Obs, lo*width, hi*width), Action: part(d.Action, lo, hi), Reward: part(d.Reward, lo, hi),
		BehaviorProb: part(d.BehaviorProb, lo, hi), TargetProb: part(d.TargetProb, lo, hi), Discount: part(d.Discount, lo, hi),
		ActionProbs: part(d.ActionProbs, lo*d.Actions, hi*d.Actions), Actions: d.Actions,
		Terminated: part(d.Terminated, e, f), HasFinal: part(d.HasFinal, e, f), Final: part(d.Final, e*width, f*width),
	}
	for i := range out.EpisodeStart {
		out.EpisodeStart[i] -= lo
	}
	return out
}

// part is a copy of a part of a column, nil where there is no such column.
func part[T any](column []T, from, to int) []T {
	if column == nil {
		return nil
	}
	return slices.Clone(column[from:to])
}

// defaultMayFail is the share of persons for whom an author's code may fail where the outline says nothing.
const defaultMayFail = 0.01

// mayFail is the number of persons for whom an author's code may fail. It follows from public facts, and is never below
// one, so that one person alone never makes a check fail.
func (r rounds) mayFail() int {
	return max(1, int(r.tolerated()*float64(r.public.Persons)))
}

func (o Outline) tolerated() float64 { return cmp.Or(o.MayFail, defaultMayFail) }

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
				obs, ones := slices.Repeat([]float64{end.obs}, len(r.Columns)), slices.Repeat([]float64{1}, n)
				b.Add(&trajectory.Episode{Person: person, Number: -1, Columns: r.Columns, Obs: slices.Repeat(obs, n), Final: obs,
					Action: make([]int32, n), Reward: slices.Repeat([]float64{end.reward}, n), BehaviorProb: ones, TargetProb: ones, Discount: ones,
					Actions: 1, ActionProbs: ones, Terminated: true})
			}
			person++
		}
	}
	return b.Dataset()
}

func finite(x []float64) bool {
	return !slices.ContainsFunc(x, func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) })
}
