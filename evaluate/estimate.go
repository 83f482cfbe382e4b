package evaluate

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/discreet-rl/discreet/evaluate/internal/facts"
	"github.com/discreet-rl/discreet/evaluate/internal/scalar"
)

// Overlap tells how well the logged decisions cover the target policy. It is
// released when a share of the budget was set aside for it, as the diagnostic
// "overlap".
type Overlap struct {
	// EffectiveSampleSize is (sum d)^2 / sum d^2 over the persons' weights d,
	// clipped: the number of persons whose plain mean would vary as much (Kish
	// 1965). 0 where noise hides it.
	EffectiveSampleSize float64 `json:"effective_sample_size"`
	// EffectiveSD is the standard deviation, to first order, of its noise.
	EffectiveSD float64 `json:"effective_sample_size_std"`
	// MeanWeight is the mean of the clipped weights. It is 1 where the logged
	// probabilities are right and nothing is clipped; what is missing to 1 was
	// clipped or never logged, or is allowed for as confounding.
	MeanWeight   float64 `json:"mean_weight"`
	MeanWeightSD float64 `json:"mean_weight_std"`
	// ClippedShare is the share of persons whose contribution the clip cuts.
	ClippedShare   float64 `json:"clipped_share"`
	ClippedShareSD float64 `json:"clipped_share_std"`
}

// numbers are the facts that the numerics of a private method rest on.
func (p Public) numbers() facts.Public {
	return facts.Public{
		Persons: p.Persons, Adjacency: p.Privacy.Adjacency, Noise: p.Privacy.noise(),
		Gamma: p.Gamma, Reward: facts.Range(p.Reward), Returns: facts.Range(p.Returns()), Horizon: p.Horizon,
		Features: p.Features, Target: p.Target, Guessed: p.share.guessed,
	}
}

// paidFor is the release of a number, if its run found one.
func paidFor(e *scalar.Estimate, err error) (*Release, error) {
	if err != nil {
		return nil, err
	}
	return estimated(e), nil
}

// estimated is the release of a number that was paid for.
func estimated(e *scalar.Estimate) *Release {
	r := &Release{
		estimate: &Estimate{
			Value:       e.Value,
			Interval:    e.Interval,
			Clipping:    e.Clipping,
			Confidence:  0.95,
			StdSampling: e.StdSampling,
			Sampling:    Paid,
			StdPrivacy:  e.StdPrivacy,
		},
		Diagnostics: map[string]any{},
		beyond:      e.Beyond,
	}
	if e.Missing != nil {
		r.Diagnostics["missing_mass"] = map[string]float64{"share": e.Missing.Share, "share_std": e.Missing.SD}
		if e.Sums != nil {
			r.Diagnostics["sums"] = e.Sums
		}
		r.Notes = missingNotes(e)
		if m := e.Missing; m.Refuted {
			r.Diagnostics["weights_refuted"] = map[string]float64{"mean_weight": m.MeanWeight, "mean_weight_std": m.SD}
			r.first = fmt.Sprintf(refutedNote, m.MeanWeight, m.SD)
		}
	}
	if e.Clip != nil {
		r.Diagnostics["clip"] = Range(*e.Clip)
	}
	if e.MaxWeight != nil {
		r.Diagnostics["max_weight"] = *e.MaxWeight
	}
	if e.Anchor != nil {
		r.Diagnostics["anchor"] = *e.Anchor
	}
	if e.Overlap != nil {
		r.Diagnostics["overlap"] = (*Overlap)(e.Overlap)
	}
	if e.Baseline != nil {
		r.Diagnostics["baseline"] = baselineFacts(e.Baseline)
	}
	return r
}

// refutedNote says what a mean weight above 1 shows.
const refutedNote = "The probabilities of the logged actions are wrong: the mean weight of a person is %.3g (standard error %.2g), but with correct probabilities it is at most 1. A common cause is an arm that was drawn once but is recorded as drawn again at each decision. The interval is the whole public range, and the value is meaningless."

// missingNotes say what the missing mass means.
func missingNotes(e *scalar.Estimate) []string {
	var notes []string
	hidden := ""
	if e.Missing.Confounded {
		hidden = ", or is left open by hidden confounding within the stated factor"
	}
	switch m := e.Missing; {
	case m.Share < 0.005:
	case m.Unguarded:
		notes = append(notes, fmt.Sprintf("Mean weight: %.0f%% below 1, with a standard error of %.0f%% from privacy noise and sampling. By the design weight is missing only if records are lost, and the curator states that none is; the interval does not allow for missing weight.", 100*m.Share, 100*m.SD))
	case !m.Sure(): // as it may well be where nothing is missing
		notes = append(notes, fmt.Sprintf("Missing mass: %.0f%%, with a standard error of %.0f%%. Privacy noise and sampling can produce this even if nothing is missing. The interval allows for it.", 100*m.Share, 100*m.SD))
	case m.Scarce:
		notes = append(notes, fmt.Sprintf("Missing mass: %.0f%% (standard error %.0f%%) of what the policy would do is in cells where the action was taken by too few to tell them from noise, or by persons in no cell. For this share the interval allows any value in the public range.", 100*m.Share, 100*m.SD))
	case m.Usable:
		notes = append(notes, fmt.Sprintf("Missing mass: the data say nothing about %.0f%% (standard error %.0f%%) of what happened. It was in episodes that cannot be used and were left out, or came after a record was cut off. For this share the interval allows any value in the public range; the value is that of the rest.", 100*m.Share, 100*m.SD))
	default:
		notes = append(notes, fmt.Sprintf("Missing mass: the data say nothing about %.0f%% (standard error %.0f%%) of what the target policy would do. It was never logged, was logged only with weights above the cap, comes after a record was cut off, or was in an episode that cannot be used and was left out%s. For this share the interval allows any value in the public range.", 100*m.Share, 100*m.SD, hidden))
	}
	if e.Missing.Doubted {
		notes = append(notes, "The plan left the guard out, but more weight is missing than chance explains: the design, or the statement that no record is lost, does not hold. The likeliest cause is probabilities that are wrong or belong to other actions (arms swapped, perhaps); actions that departed from the design and lost records are others. The interval is guarded after all, and wider than expected. If the probabilities are wrong, the guard does not correct that.")
	}
	if e.Undetermined {
		notes = append(notes, "The noisy sum of weights is too small to divide by, so the value is pulled towards the middle of the range; the interval is not affected. A larger epsilon, more persons, a shorter horizon, or data logged by a policy closer to the target would help.")
	}
	return notes
}

// baselineFacts is the form in which a baseline is told.
func baselineFacts(g *scalar.Guess) map[string]any {
	out := map[string]any{"value": g.Overall}
	if g.Action != nil {
		out["action_values"] = g.Action
	}
	if g.State != nil {
		out["state_values"] = g.State
	}
	return out
}

// expected are the errors of a scalar that are known beforehand.
func (p Public) expected(private, sampling float64) Expected {
	return Expected{StdPrivacy: private, StdSampling: sampling, HalfWidth: scalar.Z95 * math.Hypot(private, sampling), Constant: p.Returns().Width() / 2}
}

// meanOf fixes the budget of every stage of a mean. shares.Main is filled in.
func meanOf(method string, p Public, n scalar.ClipRanges, cap float64, shares scalar.Stages) (scalar.Mean, error) {
	if !(n.Below+n.Above > 0) {
		return scalar.Mean{}, fmt.Errorf("%w: %s: the public range of a return is a single point; give problem.reward or problem.return a width", ErrPublic, method)
	}
	noise, err := splitStages(method, *p.Privacy, shares)
	if err != nil {
		return scalar.Mean{}, err
	}
	return scalar.Mean{Public: p.numbers(), Ranges: n, Cap: cap, Noise: noise, Tail: scalar.HeavyTail()}, nil
}

// narrowerByLaplace is the half width that is expected with Laplace noise, where it is below that of
// a mean with Gaussian noise; 0 elsewhere.
func (p Public) narrowerByLaplace(w scalar.Mean) (float64, error) {
	other := p.laplaceMean(w.Ranges, w.Cap)
	private, sampling, err := other.Expected()
	if err != nil {
		return 0, err
	}
	mine, _, err := w.Expected()
	if half := other.ExpectedHalf(private, sampling); err == nil && half < w.ExpectedHalf(mine, sampling) {
		return half, nil
	}
	return 0, err
}

// laplaceMean is a mean with Laplace noise and nothing beside it.
func (p Public) laplaceMean(n scalar.ClipRanges, cap float64) scalar.Mean {
	w := scalar.Mean{Public: p.numbers(), Ranges: n, Cap: cap, Tail: scalar.HeavyTail(), Laplace: true}
	w.Noise.Main = p.laplaceScale()
	return w
}

// laplaceScale is that of the whole budget, in units of a norm.
func (p Public) laplaceScale() float64 {
	return p.Privacy.Adjacency.SumSensitivity(1) / p.Privacy.Budget.Epsilon * (1 + 0x1p-44)
}

// chargesLaplace says what Laplace noise costs.
const chargesLaplace = "The noise is Laplace, and the charge is pure epsilon. In a ledger that adds up squares of mu it costs many times what Gaussian noise for the same epsilon does."

// byLaplace tells that the noise is Laplace.
func (s *summary) byLaplace() {
	s.facts["noise_family"] = LaplaceNoise
	s.notes = append(s.notes, chargesLaplace)
}

// aboutMean is what is known of a mean beforehand, at the widest clip.
func (p Public) aboutMean(w scalar.Mean) (summary, error) {
	private, sampling, err := w.Expected()
	if err != nil {
		return summary{}, err
	}
	clip := Range(w.Ranges.At(0))
	s := summary{facts: map[string]any{"clip": clip}, expected: p.expected(private, sampling)}
	s.expected.HalfWidth = w.ExpectedHalf(private, sampling)
	if w.Laplace {
		s.byLaplace()
	} else if p.onPolicy() && len(w.Noise.Taken()) == 1 {
		if half, err := p.narrowerByLaplace(w); err == nil && half > 0 {
			s.notes = append(s.notes, fmt.Sprintf("With privacy.noise_family: laplace the expected half width would be %.3g in place of %.3g, where the budget is one epsilon and delta, or a sum of epsilons. In a ledger that adds up squares of mu it costs many times as much.", half, s.expected.HalfWidth))
		}
	}
	if w.Noise.Clip == 0 {
		s.notes = append(s.notes, p.words(fmt.Sprintf("The contribution of each person is clipped to [%g, %g], and the interval is one for the mean of the clipped contributions. If contributions lie outside that range, clipping biases the estimate by an amount that the interval does not include.", clip.Min, clip.Max)))
	} else {
		s.facts["clip_choices"] = w.Ranges.Steps + 1
		s.notes = append(s.notes, fmt.Sprintf("The clip is chosen from a private histogram, inside [%g, %g]; the expected errors are those of the widest clip. The interval is lengthened by what the histogram shows to be clipped within that range; it does not allow for contributions beyond the range, nor for tails too thin to be distinguished from noise.", clip.Min, clip.Max))
	}
	s.notes = append(s.notes, p.episodesNote()...)
	return s, nil
}

// atCap is what is known beforehand of estimates from below and above without what they rest
// on, at the cap that suits a budget where the cap is yet to be chosen.
func (p Public) atCap(b scalar.Bounds) (s summary, cap float64, err error) {
	s.facts = map[string]any{"clip": Range(b.Range)}
	cap = b.Caps.At(0).Max
	if b.Noise.Clip != 0 {
		affordable, err := affordableWeight(p)
		if err != nil {
			return s, 0, err
		}
		cap = min(cap, affordable)
		s.facts["clip_choices"] = b.Caps.Steps + 1
	}
	private, sampling, err := b.Expected(cap)
	s.expected = p.expected(private, sampling)
	return s, cap, err
}

// aboutBounds is what is known beforehand of estimates from below and above. No weight is
// above largest.
func (p Public) aboutBounds(b scalar.Bounds, largest, confounding float64, guess *WeightGuess) (summary, error) {
	if b.Bare() {
		s, err := p.aboutUncut(b)
		if guess != nil {
			s.notes = slices.Insert(s.notes, 0, "The guess of weights is not used, because the public design determines them.")
		}
		return s, err
	}
	widest := b.Caps.At(0).Max
	s, cap, err := p.atCap(b)
	if err != nil {
		return s, err
	}
	if b.Usable {
		half, err := b.ExpectedMean()
		s.expected.HalfWidth = half
		s.notes = append([]string{"The interval extends from a lower estimate of the mean return to an upper one, each with its error. An episode that is left out because it cannot be used may be worth anything in the public range of a return, and one that was cut off may have gone on in any way that the public ranges allow: both are missing mass, for whatever reason they are missing."}, p.episodesNote()...)
		return s, err
	}
	if b.Confounded {
		s.facts["confounding"] = confounding
	}
	rests := p.restsOn(confounding)
	cuts := fmt.Sprintf("whatever weights are clipped (here those above %.4g)", widest)
	if b.Noise.Clip == 0 && widest >= largest {
		cuts = fmt.Sprintf("with no weight clipped, since by the design none exceeds %.4g,", largest)
	}
	words := fmt.Sprintf("The interval extends from a lower estimate of the value to an upper one, each with its error. It covers the value of the policy %s and whatever was never logged, assuming %s.", cuts, rests)
	if b.Noise.Clip != 0 {
		words += fmt.Sprintf(" The cap on weights is chosen from a private histogram; the expected errors are those at a cap of %.3g without missing mass.", cap)
	}
	if guess != nil {
		half, at, err := b.Forecast(scalar.Weighing(*guess))
		if err != nil {
			return s, err
		}
		s.expected.HalfWidth = half
		words += fmt.Sprintf(" The expected half width follows from the guess of weights: an effective sample size of %.3g times the number of persons and a missing mass of %.3g, with weights capped at %.3g.", guess.Effective, guess.Missing, at)
	}
	s.notes = append([]string{words}, p.episodesNote()...)
	s.estimated(p)
	return s, nil
}

// absentNotes say of a method without missing mass what it does not allow for. One that
// bootstraps goes on from the observation at which an episode was cut off.
func (p Public) absentNotes(bootstraps bool) (notes []string) {
	if p.Complete {
		return nil
	}
	switch {
	case p.decisions() == 1 || p.Labels["end"] == "terminated":
	case bootstraps:
		notes = append(notes, "An episode that was cut off is continued by the estimated value of the observation at which it was cut, which is right only if nothing but that observation matters for what would have followed.")
	default:
		notes = append(notes, "An episode that was cut off counts as ended there: nothing here allows for what would have followed, and the curator alone sees how many there are.")
	}
	return append(notes, p.words("An episode that is left out because it cannot be used does not count, nor does a person without any: nothing here allows for what is missing, and the curator alone sees how much it is."))
}

// episodesNote says what the mean over a person's episodes supposes, where a person
// may have several: docs/proofs/overlap.md.
func (p Public) episodesNote() []string {
	if !p.private() || p.unit() != Person || p.Episodes == 1 || p.Horizon <= 1 {
		return nil
	}
	return []string{"A person may have several episodes and counts with their mean. This equals the value per episode only if how many episodes a person has is unrelated to their outcomes. If people stop after a success, come back after a failure, or have a later episode that the horizon cuts short, it is a different number, and the interval does not allow for the difference. With problem.episodes: 1 only first episodes count."}
}

// leftAlike is the public fact of limits that suppose it of decisions that are lost.
const leftAlike = "alike"

// estimated adds how the probabilities of logged actions are estimated, where they are, and first what their
// limits suppose of decisions that are lost.
func (s *summary) estimated(p Public) {
	if !p.estimates() {
		return
	}
	s.notes = append(s.notes, p.behaviorNotes()...)
	if p.Complete || p.unsaid {
		return
	}
	s.facts["left_out"] = leftAlike
	s.heading = append(s.heading, "Supposes that decisions that are missing or cannot be used were made as the others of their cell. If most were of one action, the interval is wrong, and nothing in this release shows it; problem.records: complete states that there are none.")
}

// behaviorNotes say how the probabilities of logged actions are estimated.
func (p Public) behaviorNotes() (notes []string) {
	b, drawn := p.Behavior, "every decision was made"
	if b.Once {
		drawn = "the first decision of every episode was made"
	}
	if b.By == byFeatures {
		notes = append(notes, p.words(fmt.Sprintf("The probabilities of the logged actions were not known. They are estimated from the same persons, by a logistic regression of %d actions on %d public features in %d rounds of noisy gradients and information matrices; their privacy cost is included. Weights are computed from upper limits of the probabilities, and what these leave over is missing mass. It is assumed that %s with probabilities that are a logistic function of these features and of nothing else, and that the errors of the regression are normal; nothing in this release can show whether that is so.", b.Actions, p.Features.Dim(), scalar.LogisticRounds, drawn)))
	} else {
		notes = append(notes, p.words(fmt.Sprintf("The probabilities of the logged actions were not known. They are estimated from the same persons, by noisy counts of first decisions in %d public cells of %d actions; their privacy cost is included. Weights are computed from upper limits of the probabilities, and what these leave over is missing mass. It is assumed that within a cell %s with the same probabilities, whatever else was known about the person.", max(b.States, 1), b.Actions, drawn)))
	}
	if b.Once {
		notes = append(notes, "Actions were drawn once per episode: later decisions have probability 1, which is also an upper limit, so the interval holds even where the drawn action was not kept to.")
	}
	return notes
}

// within says how near recorded probabilities are to the true ones, in front of what else is
// taken for granted; "" where they are exact.
func (p Public) within() string {
	if p.BehaviorPrecision == 0 {
		return ""
	}
	return fmt.Sprintf("logged probabilities within %g of the recorded ones (what this leaves open adds to the missing mass) and ", p.BehaviorPrecision)
}

// restsOn says what the intervals of a plan take for granted off-policy.
func (p Public) restsOn(confounding float64) string {
	words := "correct logged probabilities"
	if p.BehaviorPrecision > 0 {
		words = strings.TrimSuffix(p.within(), " and ")
	}
	if confounding > 1 {
		words = fmt.Sprintf("%slogged odds that are correct within a factor of %g: given hidden circumstances, the odds of each logged action may be that many times larger or smaller than recorded, which adds to the missing mass. No data can show whether the factor is large enough", p.within(), confounding)
	}
	if p.estimates() {
		words = strings.Replace(words, "logged", "estimated", 1)
	}
	return words
}
