package examine

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"github.com/discreet-rl/discreet/dp"
	"github.com/discreet-rl/discreet/dp/audit"
	"github.com/discreet-rl/discreet/dp/noise"
	"github.com/discreet-rl/discreet/internal/dp/hook"
	"github.com/discreet-rl/discreet/internal/evaluate/replay"
	"github.com/discreet-rl/discreet/rl/trajectory"
)

// mistake is a fault that is planted into a subject. plant returns nil where it
// cannot be made in this plan.
type mistake struct {
	name  string
	plant func(j *Job, s subject, width int) (*subject, error)
}

// mistakes are the faults that the self-test plants.
var mistakes = []mistake{
	{"noise at half its scale", onSums(func(t *spoiled) { t.noise = func(_ int, own, _ float64) float64 { return own / 2 } })},
	{"noise scaled to half the sensitivity", onSums(func(t *spoiled) {
		t.noise, t.told = func(_ int, own, _ float64) float64 { return own / 2 }, 0.5
	})},
	{"contributions of twice the clip norm", onSums(func(t *spoiled) { t.stretch = 2 })},
	{"a coordinate without noise", onSums(func(t *spoiled) {
		t.noise = func(left int, own, _ float64) float64 {
			if left == 0 {
				return 0
			}
			return own
		}
	})},
	{"the same noise in every coordinate", func(j *Job, s subject, width int) (*subject, error) {
		if width < 2 {
			return nil, nil
		}
		return onSums(func(t *spoiled) { t.noise = func(_ int, _, first float64) float64 { return first } })(j, s, width)
	}},
	{"noise from a fixed seed", onRuns(func(p pair) replay.Run {
		return func(ctx context.Context, neighbour bool, src *noise.Source) (any, error) {
			return p.run(ctx, neighbour, noise.NewTaped(7, src.Tape()))
		}
	})},
	{"a count released exactly", onRuns(func(p pair) replay.Run {
		return tells(p, func(d *trajectory.Dataset) string {
			late := 0
			for _, r := range d.Reward {
				if r > d.Reward[0] {
					late++
				}
			}
			return fmt.Sprint(d.Persons(), d.Rows(), late)
		})
	})},
	{"a note that depends on the data", onRuns(func(p pair) replay.Run {
		return tells(p, func(d *trajectory.Dataset) string {
			switch {
			case len(d.Reward) == 0:
				return ""
			case slices.Min(d.Reward) <= 0:
				return "a reward was 0 or below"
			case slices.Max(d.Reward) > 0:
				return "a reward was above 0"
			}
			return ""
		})
	})},
	{"two runs for one charge", onRuns(func(p pair) replay.Run {
		return func(ctx context.Context, neighbour bool, src *noise.Source) (any, error) {
			a, err := p.run(ctx, neighbour, src)
			if err != nil {
				return nil, err
			}
			b, err := p.run(ctx, neighbour, src)
			return []any{a, b}, err
		}
	})},
	{"the largest stage not charged", uncharged},
	{"adjacency confused", confused},
	{"rewards scaled by those of other persons", scaled},
	{"rewards scaled by those of the same part", scaledByPart},
	{"a choice at three times its stated rate", misrated},
}

// tells adds to a release what it should not tell.
func tells(p pair, what func(d *trajectory.Dataset) string) replay.Run {
	return func(ctx context.Context, neighbour bool, src *noise.Source) (any, error) {
		release, err := p.run(ctx, neighbour, src)
		d := p.Data
		if neighbour {
			d = p.Neighbour
		}
		return []any{release, what(d)}, err
	}
}

// onRuns plants a mistake into every run.
func onRuns(change func(p pair) replay.Run) func(*Job, subject, int) (*subject, error) {
	return func(_ *Job, s subject, _ int) (*subject, error) {
		s.pairs = slices.Clone(s.pairs)
		for i, p := range s.pairs {
			s.pairs[i].run = change(p)
			if p.whole != nil {
				p.run = p.whole
				s.pairs[i].whole = change(p)
			}
		}
		return &s, nil
	}
}

// onSums plants a mistake where sums become noisy.
func onSums(set func(t *spoiled)) func(*Job, subject, int) (*subject, error) {
	return func(j *Job, s subject, width int) (*subject, error) {
		if !s.sums {
			return nil, nil
		}
		return onRuns(func(p pair) replay.Run {
			return func(ctx context.Context, neighbour bool, src *noise.Source) (any, error) {
				t := &spoiled{next: src.Tape(), told: 1, stretch: 1}
				set(t)
				return p.run(ctx, neighbour, noise.NewTaped(src.Uint64(), t))
			}
		})(j, s, width)
	}
}

// spoiled changes noisy sums before they leave.
type spoiled struct {
	next    hook.Tape
	told    float64 // factor on the standard deviation that is told
	stretch int64   // factor on contributions
	// noise is that of a coordinate, in steps, of its own and of the first one's,
	// scaled; left is how many coordinates of the sum are left after it.
	noise func(left int, own, first float64) float64

	first float64 // noise of the run's first coordinate, in standard deviations
	begun bool
}

// Drawn is told of draws, see package noise: what is asked of the sampler is not what is
// planted, and is told as the sum is.
func (t *spoiled) Drawn(sigma float64) {
	if next, ok := t.next.(interface{ Drawn(sigma float64) }); ok {
		next.Drawn(t.told * sigma)
	}
}

// Release implements hook.Tape.
func (t *spoiled) Release(step, sigma float64, sum, noisy []int64) {
	if !t.begun && len(sum) > 0 {
		t.first, t.begun = float64(noisy[0]-sum[0])/sigma, true
	}
	longer := make([]int64, len(sum))
	for i := range sum {
		own := noisy[i] - sum[i]
		if t.noise != nil {
			own = int64(t.noise(len(sum)-1-i, float64(own), t.first*sigma))
		}
		longer[i] = t.stretch * sum[i]
		noisy[i] = longer[i] + own
	}
	t.next.Release(step, t.told*sigma, longer, noisy)
}

// uncharged leaves the dearest part out of the claim.
func uncharged(j *Job, s subject, _ int) (*subject, error) {
	composed, ok := s.event.(dp.Composed)
	if !ok || len(composed.Events) < 2 || !s.sums {
		return nil, nil
	}
	dearest, most := 0, 0.0
	for i, e := range composed.Events {
		if mu, ok := audit.MuSquared(e, j.Public.Privacy.Adjacency); ok && mu > most {
			dearest, most = i, mu
		}
	}
	rest := dp.Composed{Events: slices.Delete(slices.Clone(composed.Events), dearest, dearest+1)}
	var err error
	s.claim, err = audit.NewClaim(rest, j.Public.Privacy.Adjacency, s.claim.Delta)
	return &s, err
}

// confused claims what an added person shows and replaces one.
func confused(j *Job, s subject, _ int) (*subject, error) {
	if !s.sums {
		return nil, nil
	}
	var err error
	if j.Public.Privacy.Adjacency == dp.ReplaceOne {
		s.claim, err = audit.NewClaim(s.event, dp.AddRemoveOne, s.claim.Delta)
		return &s, err
	}
	s.pairs, err = j.pairs(s.plan, replacing(j.small()), len(s.pairs))
	return &s, err
}

// scaled divides rewards by the largest that any person has.
func scaled(j *Job, s subject, _ int) (*subject, error) {
	top := j.Public.Reward.Max
	if !(top > 0) {
		return nil, nil
	}
	s.pairs = slices.Clone(s.pairs)
	for i, p := range s.pairs {
		p.Data, p.Neighbour = byLargest(p.Data, top), byLargest(p.Neighbour, top)
		s.pairs[i] = j.bound(s.plan, j.small(), p.Pair, i)
	}
	return &s, nil
}

// scaledByPart divides them by the largest in a part.
func scaledByPart(j *Job, s subject, _ int) (*subject, error) {
	top := j.Public.Reward.Max
	if !(top > 0) || s.pairs[0].whole == nil {
		return nil, nil
	}
	scale := func(d *trajectory.Dataset) *trajectory.Dataset { return byLargest(d, top) }
	s.pairs = slices.Clone(s.pairs)
	for i, p := range s.pairs {
		s.pairs[i].run = inParts(s.plan, replay.Targets(j.Public), p.Pair, i, scale)
	}
	return &s, nil
}

// misrated tells a rate that coins do not have.
func misrated(j *Job, s subject, width int) (*subject, error) {
	if s.chooses == 0 {
		return nil, nil
	}
	return onRuns(func(p pair) replay.Run {
		return func(ctx context.Context, neighbour bool, src *noise.Source) (any, error) {
			if next, ok := src.Tape().(hook.ChoiceTape); ok {
				src = noise.NewTaped(src.Uint64(), third{next})
			}
			return p.run(ctx, neighbour, src)
		}
	})(j, s, width)
}

// third tells a third of the rate of a choice.
type third struct{ hook.ChoiceTape }

// Choose implements hook.ChoiceTape.
func (t third) Choose(scores []int64, rate *big.Rat, drawn int) int {
	return t.ChoiceTape.Choose(scores, new(big.Rat).Mul(rate, big.NewRat(1, 3)), drawn)
}

// Tossed is told of coins, see package noise: they fall as they do.
func (t third) Tossed(x *big.Rat) {
	if next, ok := t.ChoiceTape.(interface{ Tossed(*big.Rat) }); ok {
		next.Tossed(x)
	}
}

func byLargest(d *trajectory.Dataset, top float64) *trajectory.Dataset {
	out := *d
	out.Reward = slices.Clone(d.Reward)
	if len(out.Reward) == 0 {
		return &out
	}
	largest := slices.Max(out.Reward)
	for i := range out.Reward {
		if largest > 0 {
			out.Reward[i] *= top / largest
		}
	}
	return &out
}
