package value

import (
	"cmp"
	"iter"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/discreet-rl/discreet/rl/trajectory"
)

// Part is some persons, whole, with the importance ratios of their rows under each of several
// policies: as it is, or packed in few bytes a row, without names and places in files.
type Part struct {
	persons int
	whole   *trajectory.Dataset // nil of a packed part
	ratios  [][]float64         // of a part as it is: by policy, nil on-policy
	packed  packed
}

// Persons is how many there are.
func (p *Part) Persons() int { return p.persons }

// Rows is how many a packed part has.
func (p *Part) Rows() int {
	if n := len(p.packed.episodes); n > 0 {
		return int(p.packed.episodes[n-1])
	}
	return 0
}

// Bytes are about those of a packed part in memory.
func (p *Part) Bytes() int64 {
	x := p.packed
	n := 4*len(x.persons) + 4*len(x.episodes) + 8*len(x.rest.LeftOut) + 8*len(x.rest.Lost) + len(x.rest.Terminated) + 8*len(x.rest.Final) + len(x.rest.HasFinal) + len(x.rest.Lacks)
	for _, columns := range slices.Concat(x.ratios, [][]column{x.obs, x.reward, x.prob, x.probs, x.target, x.discount, x.action}) {
		for _, c := range columns {
			n += 8*len(c.values) + len(c.codes)
		}
	}
	return int64(n)
}

// Keep makes a part of a dataset and keeps both slices, which are not to be changed.
func Keep(d *trajectory.Dataset, ratios [][]float64) *Part {
	return &Part{persons: d.Persons(), whole: d, ratios: ratios}
}

// packed is a dataset in narrow columns.
type packed struct {
	rest                     trajectory.Dataset // what is not by row, but for starts
	persons, episodes        []int32            // starts
	obs, reward, prob, probs []column
	target, discount         []column
	ratios                   [][]column
	action                   []column
}

// Pack makes a part that keeps nothing of its arguments.
func Pack(d *trajectory.Dataset, ratios [][]float64) *Part {
	var k coder
	p := packed{
		persons: starts(d.PersonStart), episodes: starts(d.EpisodeStart),
		obs: k.narrowed(d.Obs, len(d.Columns)), reward: k.narrowed(d.Reward, 1), prob: k.narrowed(d.BehaviorProb, 1), probs: k.narrowed(d.ActionProbs, d.Actions),
		target: k.narrowed(d.TargetProb, 1), discount: k.narrowed(d.Discount, 1),
	}
	if d.Action != nil {
		numbers := make([]float64, len(d.Action))
		for i, a := range d.Action {
			numbers[i] = float64(a)
		}
		p.action = k.narrowed(numbers, 1)
	}
	for _, rho := range ratios {
		p.ratios = append(p.ratios, k.narrowed(rho, 1))
	}
	p.rest = trajectory.Dataset{
		Columns: d.Columns, Actions: d.Actions, LeftOut: slices.Clone(d.LeftOut), Lost: slices.Clone(d.Lost),
		Terminated: slices.Clone(d.Terminated), Final: slices.Clone(d.Final), HasFinal: slices.Clone(d.HasFinal), Lacks: slices.Clone(d.Lacks),
	}
	return &Part{persons: d.Persons(), packed: p}
}

// starts are the same in fewer bytes: a part has fewer than 2^31 rows.
func starts(x []int) []int32 {
	out := make([]int32, len(x))
	for i, v := range x {
		out[i] = int32(v)
	}
	return out
}

// unpack writes the part to d, and its ratios to rho, in place of what they held.
func (p *Part) unpack(d *trajectory.Dataset, rho [][]float64) {
	q, old := &p.packed, *d
	*d = q.rest
	d.PersonStart, d.EpisodeStart = began(old.PersonStart, q.persons), began(old.EpisodeStart, q.episodes)
	rows := d.EpisodeStart[len(d.EpisodeStart)-1]
	d.Obs, d.BehaviorProb = widened(old.Obs, q.obs, rows), widened(old.BehaviorProb, q.prob, rows)
	d.ActionProbs, d.TargetProb, d.Discount = widened(old.ActionProbs, q.probs, rows), widened(old.TargetProb, q.target, rows), widened(old.Discount, q.discount, rows)
	d.Action = nil
	if q.action != nil {
		d.Action = room(old.Action, rows)
		for i, a := range widened(old.Reward, q.action, rows) {
			d.Action[i] = int32(a)
		}
	}
	d.Reward = widened(old.Reward, q.reward, rows)
	for i, c := range q.ratios {
		rho[i] = widened(rho[i], c, rows)
	}
}

// Joined is one dataset of parts.
func Joined(parts []*Part) *trajectory.Dataset {
	if len(parts) == 1 && parts[0].whole != nil {
		return parts[0].whole
	}
	out := &trajectory.Dataset{PersonStart: []int{0}, EpisodeStart: []int{0}}
	for d := range Datasets(parts) {
		persons, rows, episodes := out.Persons(), out.Rows(), out.Episodes()
		if d.LeftOut != nil || out.LeftOut != nil {
			out.LeftOut = append(filled(out.LeftOut, persons, 0), filled(d.LeftOut, d.Persons(), 0)...)
			w := len(d.Columns)
			out.Lost = append(filled(out.Lost, persons*w, math.NaN()), filled(d.Lost, d.Persons()*w, math.NaN())...)
		}
		for _, start := range d.PersonStart[1:] {
			out.PersonStart = append(out.PersonStart, episodes+start)
		}
		for _, start := range d.EpisodeStart[1:] {
			out.EpisodeStart = append(out.EpisodeStart, rows+start)
		}
		out.Columns = d.Columns
		out.Obs, out.Action, out.Reward = append(out.Obs, d.Obs...), append(out.Action, d.Action...), append(out.Reward, d.Reward...)
		out.Terminated = append(out.Terminated, d.Terminated...)
	}
	return out
}

// filled is a column that is not nil, of n values.
func filled[T any](column []T, n int, with T) []T {
	if column == nil {
		return slices.Repeat([]T{with}, n)
	}
	return column
}

// Datasets are those of parts, in order. What a loop is given is valid until the next.
func Datasets(parts []*Part) iter.Seq[*trajectory.Dataset] {
	return func(yield func(*trajectory.Dataset) bool) {
		scratch := new(trajectory.Dataset)
		for _, p := range parts {
			if !yield(p.dataset(scratch)) {
				return
			}
		}
	}
}

// Each calls f for the dataset of every part, several at once, and returns the error of the first part that has one. What f
// is given is valid until it returns.
func Each(parts []*Part, f func(i int, d *trajectory.Dataset) error) error {
	errs := make([]error, len(parts))
	workers := min(runtime.GOMAXPROCS(0), len(parts))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			scratch := new(trajectory.Dataset)
			for i := w; i < len(parts); i += workers {
				errs[i] = f(i, parts[i].dataset(scratch))
			}
		})
	}
	wg.Wait()
	return cmp.Or(errs...)
}

// dataset is that of a part, in scratch if it is packed.
func (p *Part) dataset(scratch *trajectory.Dataset) *trajectory.Dataset {
	if p.whole != nil {
		return p.whole
	}
	p.unpack(scratch, make([][]float64, len(p.packed.ratios)))
	return scratch
}

func began(dst []int, x []int32) []int {
	dst = room(dst, len(x))
	for i, v := range x {
		dst[i] = int(v)
	}
	return dst
}
